import { join, sep } from "node:path";

import * as pulumi from "@pulumi/pulumi";
import type { CustomResourceOptions } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { warnOfMissingDependency } from "./missing-dependency";
import type { PassedOptions } from "./options";

/** The type under which Pulumi knows a resource, for ever. */
export function typeToken(definition: Definition): string {
  return `pulumi-nodejs:dynamic/uptime:${definition.label}`;
}

/**
 * What the engine is told of a resource: the declared inputs, secrets marked, and the text by which the engine's dynamic
 * host finds the code. That text is in every resource's state, so it is short, and it never changes, so old state runs
 * the installed code.
 */
export function propsOf(
  definition: Definition,
  name: string,
  args: object,
  options: CustomResourceOptions = {},
): Record<string, unknown> {
  const { account, ...declared }: Record<string, unknown> = { ...args };
  // A key that is registered becomes an output. Of a resource that is only read, every field is one; otherwise
  // only what is declared, because each key costs the program time and memory.
  const keys = options.id === undefined ? Object.keys(declared) : Object.keys(definition.fields);
  const props: Record<string, unknown> = { attributes: undefined };
  for (const key of keys) {
    const value = declared[key];
    if (value === undefined && options.id === undefined) continue;
    props[key] = value !== undefined && definition.fields[key]?.secret ? pulumi.secret(value) : value;
  }
  // Without a declared value a default is filled in by the provider, and is an output all the same.
  for (const [key, field] of Object.entries(definition.fields))
    if (field.default !== undefined && !(key in props)) props[key] = undefined;
  if (account !== undefined) props.account = account;
  if (options.import !== undefined) {
    if (options.id !== undefined)
      throw new pulumi.RunError(
        `${name} cannot be read by its id and be imported at once: leave out import, or id.`,
      );
    props.importId = options.import;
  }
  const passed = passedOptions(name, options);
  if (passed) props.__options = passed;
  props.__provider = `exports.handler=()=>require("pulumi-uptime/provider").${definition.singular}`;
  warnOfPlainKey();
  warnOfMissingDependency();
  return props;
}

/** The options for Pulumi itself: the person's own, and what must hold whatever the program says. */
export function optionsOf(
  definition: Definition,
  props: object,
  { import: importId, ...options }: CustomResourceOptions = {},
): CustomResourceOptions {
  // In each resource's state, so only what the resource has.
  const secrets = Object.keys(definition.fields).filter(
    (key) => definition.fields[key]?.secret && key in props,
  );
  return {
    ...options,
    ...(secrets.length > 0 && {
      additionalSecretOutputs: [...(options.additionalSecretOutputs ?? []), ...secrets],
    }),
    // A replacement that is created first would take over the record that is about to be deleted.
    ...((importId !== undefined || new pulumi.Config("uptime").get("adoptExisting") === "true") && {
      deleteBeforeReplace: true,
    }),
  };
}

/**
 * Stops the capture of stack traces until they are given back. Pulumi's SDK captures several for every property of a
 * resource, to say where an output that nobody awaits was made; they take half of a large program's time. The one that it
 * captures all the same goes into state, where every byte counts: it ends at the line that makes the resource.
 */
export class SpareTraces {
  private readonly limit = v8.stackTraceLimit;
  private readonly format = v8.prepareStackTrace;

  constructor() {
    const format = this.format ?? (process.sourceMapsEnabled ? undefined : asText);
    v8.stackTraceLimit = 0;
    // Without one, Node.js itself maps positions to sources, which nobody else can ask it to do.
    if (format)
      v8.prepareStackTrace = (error, frames) => {
        const line = frames.findIndex((frame) => !isBelow(frame.getFileName() ?? ""));
        return format(error, line < 0 ? frames : frames.slice(0, line + 1));
      };
  }

  giveBack(): void {
    v8.stackTraceLimit = this.limit;
    v8.prepareStackTrace = this.format;
  }

  /** The error with the trace that it would have had: of the line that made the resource. */
  traced(resource: new (...args: never[]) => unknown, error: unknown): unknown {
    this.giveBack();
    if (error instanceof Error) Error.captureStackTrace(error, resource);
    return error;
  }
}

/** Whether a file is this package's or the SDK's, between V8 and the program. */
const isBelow = (file: string): boolean =>
  file.startsWith(join(__dirname, "..") + sep) || /[\\/]node_modules[\\/]@pulumi[\\/]pulumi[\\/]/.test(file);

type Format = (error: Error, frames: NodeJS.CallSite[]) => unknown;

/** V8's settings for all traces. */
const v8: { stackTraceLimit: number; prepareStackTrace?: Format | undefined } = Error;

/** As V8 does it where nothing else is set. */
const asText: Format = (error, frames) => [error, ...frames].map(String).join("\n    at ");

/** Gives the class an Output of undefined for each field, for resources that do not declare it. */
export function declareOutputs(resource: { readonly prototype: object }, definition: Definition): void {
  for (const key of [...Object.keys(definition.fields), "account"]) {
    Object.defineProperty(resource.prototype, key, {
      configurable: true,
      get: () => pulumi.output(undefined),
      set(this: object, value: unknown) {
        Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}

/** The engine keeps these options to itself; the provider must know them, so they travel as one hidden input. */
function passedOptions(name: string, options: CustomResourceOptions): PassedOptions | undefined {
  const { ignoreChanges, replaceOnChanges, customTimeouts } = options;
  const passed = {
    ...(ignoreChanges?.length && { ignoreChanges }),
    ...(replaceOnChanges?.length && { replaceOnChanges }),
    ...(customTimeouts && { customTimeouts }),
    ...(options.import !== undefined && { importer: name }),
  };
  return Object.keys(passed).length > 0 ? passed : undefined;
}

let warned = false;

/** Stack configuration is kept in state, readable unless it was set as a secret. */
function warnOfPlainKey(): void {
  if (warned) return;
  warned = true;
  const config = new pulumi.Config("uptime");
  const isPlain = (name: string): boolean =>
    config.get(name) !== undefined &&
    !(process.env.PULUMI_CONFIG_SECRET_KEYS ?? "[]").includes(`"uptime:${name}"`);
  if (isPlain("apiKey"))
    void pulumi.log.warn(
      "uptime:apiKey is set as plain text, and Pulumi keeps it readable in the stack's file and state. " +
        "Set it again with `pulumi config set --secret uptime:apiKey`, or use the environment variable UPTIME_API_KEY.",
    );
  if (isPlain("accounts") && config.get("accounts")?.includes('"apiKey"'))
    void pulumi.log.warn(
      "uptime:accounts holds API keys as plain text, and Pulumi keeps them readable in the stack's file and state. " +
        "Set it again with `pulumi config set --secret uptime:accounts`, or use environment variables such as " +
        "UPTIME_API_KEY_NAME for the account NAME.",
    );
}
