import { domain as domainDefinition } from "./domain";
import { dynamicProvider } from "./dynamic-provider";
import { endWithEngine, saveMemory } from "./host";
import { monitor as monitorDefinition } from "./monitor";

saveMemory();
endWithEngine();

// The text in every resource's state asks for these by name.
export const domain = dynamicProvider(domainDefinition);
export const monitor = dynamicProvider(monitorDefinition);
