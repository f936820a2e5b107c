import { runtime } from "@pulumi/pulumi";

import { readSettings } from "../api/settings";
import type { Definition } from "../definitions/field";
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
  lookUpOne(definition, connect(definition), args);

export const queryAll = (definition: Definition, args: object) =>
  lookUpAll(definition, connect(definition), args);
