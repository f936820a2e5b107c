import { RunError, runtime } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import { readSettings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { LookupCount } from "../definitions/pulumi";
import { runLookup } from "../engine/lookup";
import type { RecordScope } from "../lifecycle/record-scope";
import { Session } from "../lifecycle/session";

/** The lookups of a program share their connections. */
const session = new Session();
process.once("exit", () => {
  session.endLogs();
});

const config = { get: (key: string): string | undefined => runtime.getConfig(key) };

/** Looks records up in the API, from within the program. */
export async function sendLookup(definition: Definition, count: LookupCount, args: object): Promise<unknown> {
  const connect = (account?: string): RecordScope =>
    session.connect(definition, readSettings(config, process.env, account));
  try {
    return await runLookup(session, definition, connect, count, args);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    // Pulumi prints only the message of a RunError; once the program has ended, the stack too, which is of no use here.
    throw Object.assign(new RunError(error.message), { stack: "" });
  }
}
