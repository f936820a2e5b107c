import { domain as domainDefinition } from "./definitions/domain";
import { dynamicProvider } from "./engine/dynamic";
import { endWithEngine, saveMemory } from "./engine/host";
import { monitor as monitorDefinition } from "./definitions/monitor";

saveMemory();
endWithEngine();

// The text in every resource's state asks for these by name.
export const domain = dynamicProvider(domainDefinition);
export const monitor = dynamicProvider(monitorDefinition);
