import "./engine/throw-on-old-node";

import { domain as domainDefinition } from "./definitions/domain";
import { monitor as monitorDefinition } from "./definitions/monitor";
import { dynamicProvider } from "./engine/dynamic";
import { endAtSignal, endWithEngine, engineAddressIn } from "./engine/end";
import type * as engines from "./engine/engine-log";
import { FrontSession } from "./engine/front-session";
import { openRunNote } from "./engine/run-note-file";
import { ownerOf } from "./lifecycle/owners";

// Only Pulumi's dynamic host is started with the engine's address; a program or a test that imports this is not.
const [, script = "", ...args] = process.argv;
const address = /[\\/]cmd[\\/]dynamic-provider\b/.test(script) ? engineAddressIn(args) : undefined;
let engine: engines.EngineLog | undefined;
const session = new FrontSession({
  runNote: openRunNote(address),
  showWait: (line, owner) => {
    // Few runs wait, and it loads gRPC.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    engine ??= new (require("./engine/engine-log") as typeof engines).EngineLog(address);
    // The engine tells this host no URNs.
    const urnSuffix = owner === undefined ? undefined : session.owners.urnSuffixOf(ownerOf(owner));
    engine.log("info", line, urnSuffix === undefined ? undefined : engine.urnOf(urnSuffix), {
      isEphemeral: true,
    });
  },
});

if (address !== undefined) {
  endAtSignal(() => session);
  endWithEngine(address);
}
process.once("exit", () => {
  session.printSummary();
});

// The string in every resource's state asks for these by name.
export const domain = dynamicProvider(domainDefinition, session);
export const monitor = dynamicProvider(monitorDefinition, session);
