import { runtime } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import { readSettings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { cleanRecord, told } from "../engine/clean";
import { Session } from "../lifecycle/connection";
import type { Connect } from "../lifecycle/connection";
import { lookUpAll, lookUpOne } from "../lifecycle/lookup";

// HTTP and the validation of settings come with this file, so a program loads it with its first lookup.

/** The lookups of a program share their connections. */
const session = new Session();

const config = { get: (key: string): string | undefined => runtime.getConfig(key) };

const connect = (definition: Definition): Connect =>
  session.connector(definition, (account) => readSettings(config, process.env, account));

export const queryOne = (definition: Definition, args: object) =>
  cleanly(async () => {
    const found = await lookUpOne(definition, connect(definition), args);
    return cleanRecord(definition, found, session.keys);
  });

export const queryAll = (definition: Definition, args: object) =>
  cleanly(async () => {
    const found = await lookUpAll(definition, connect(definition), args);
    return found.map((record) => cleanRecord(definition, record, session.keys));
  });

/** Runs a lookup; what it throws holds no key. */
async function cleanly<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof UptimeError ? new UptimeError(told(error, session.keys)) : error;
  }
}
