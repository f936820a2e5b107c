import { domain as domainDefinition } from "./definitions/domain";
import { monitor as monitorDefinition } from "./definitions/monitor";
import { dynamicProvider } from "./engine/dynamic";
import { endAtSignal, endWithEngine } from "./engine/end";
import { Session } from "./lifecycle/session";

const session = new Session();

// Only if this is the SDK's host of dynamic providers, which is started with the engine's address, and not a program or a test.
const [, script = "", address] = process.argv;
if (/[\\/]cmd[\\/]dynamic-provider\b/.test(script)) {
  endAtSignal(() => session);
  endWithEngine(address);
}
process.once("exit", () => {
  session.endLogs();
});

// The string in every resource's state asks for these by name.
export const domain = dynamicProvider(domainDefinition, session);
export const monitor = dynamicProvider(monitorDefinition, session);
