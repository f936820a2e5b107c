import { runtime } from "@pulumi/pulumi";

import { readSettings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { lookUp } from "../engine/lookup";
import type { Connect } from "../lifecycle/account";
import { Session } from "../lifecycle/session";

// HTTP and the validation of settings come with this file, so a program loads it with its first lookup.

/** The lookups of a program share their connections. */
const session = new Session();

const config = { get: (key: string): string | undefined => runtime.getConfig(key) };

const connect = (definition: Definition): Connect =>
  session.connector(definition, (account) => readSettings(config, process.env, account));

export const queryOne = (definition: Definition, args: object) =>
  lookUp.one(session, definition, connect(definition), args);

export const queryAll = (definition: Definition, args: object) =>
  lookUp.all(session, definition, connect(definition), args);
