import { domain as domainDefinition } from "./definitions/domain";
import { monitor as monitorDefinition } from "./definitions/monitor";
import { dynamicProvider } from "./engine/dynamic";
import { prepareHost } from "./engine/host";
import { Session } from "./lifecycle/session";

prepareHost();

const session = new Session();
process.once("exit", () => {
  session.endLogs();
});

// The string in every resource's state asks for these by name.
export const domain = dynamicProvider(domainDefinition, session);
export const monitor = dynamicProvider(monitorDefinition, session);
