import * as pulumi from "@pulumi/pulumi";
import type { CustomResourceOptions, Resource } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { milliseconds } from "../definitions/duration";
import { providerCode, typeToken } from "../definitions/identity";

/** What the engine is told of a resource: the declared inputs, with secrets marked, and what the provider needs to know. */
export function propsOf(
  definition: Definition,
  name: string,
  args: object,
  options: CustomResourceOptions = {},
): Record<string, unknown> {
  const { account, ...declared }: Record<string, unknown> = { ...args };
  const isRead = options.id !== undefined;
  // Each key that is registered becomes an output. A resource that is only read needs all of them. Of any other only what
  // is declared is registered, because each key costs the program time and memory.
  const keys = isRead ? Object.keys(definition.fields) : Object.keys(declared);
  const props: Record<string, unknown> = { attributes: undefined };
  for (const key of keys) {
    const value = declared[key];
    if (value === undefined && !isRead) continue;
    props[key] = value !== undefined && definition.fields[key]?.secret ? pulumi.secret(value) : value;
  }
  // The provider fills in these defaults, so they are outputs even if they are not declared.
  for (const [key, field] of Object.entries(definition.fields))
    if (field.default !== undefined && !(key in props)) props[key] = undefined;
  if (account !== undefined) props.account = account;
  if (options.import !== undefined) {
    if (isRead)
      throw new pulumi.RunError(
        `${definition.label} ${name} has both the options id and import: use id to read a ${definition.singular}, ` +
          "or import to manage it.",
      );
    props.importId = options.import;
  }
  const passed = passedOptions(definition, name, options);
  if (Object.keys(passed).length > 0) props.__options = passed;
  props.__provider = providerCode(definition);
  return props;
}

/** The options for Pulumi itself: those of the program, and what must hold whatever the program says. */
export function optionsOf(
  definition: Definition,
  props: object,
  options: CustomResourceOptions = {},
): CustomResourceOptions {
  // State holds this list for each resource, so it names only what the resource has.
  const secrets = Object.keys(definition.fields).filter(
    (key) => definition.fields[key]?.secret && key in props,
  );
  // The engine cannot import a dynamic resource, so the option travels as an input.
  const { import: _, ...rest } = options;
  return {
    ...rest,
    ...(secrets.length > 0 && {
      additionalSecretOutputs: [...(options.additionalSecretOutputs ?? []), ...secrets],
    }),
    // A replacement that is created first would import or adopt the very record that is deleted after it.
    ...(mayClaim(options) && { deleteBeforeReplace: true }),
  };
}

/** Whether the resource may get a record that is in the API already, by import or adoption. */
function mayClaim(options: CustomResourceOptions): boolean {
  if (options.import !== undefined) return true;
  return options.id === undefined && pulumi.runtime.getConfig("uptime:adoptExisting")?.trim() === "true";
}

/** Options that the engine does not forward, though the provider must know them. They travel as one hidden input. */
function passedOptions(
  definition: Definition,
  name: string,
  options: CustomResourceOptions,
): Record<string, unknown> {
  const { ignoreChanges, replaceOnChanges, customTimeouts } = options;
  for (const [operation, time] of Object.entries(customTimeouts ?? {}) as [string, unknown][]) {
    if (time === undefined) continue;
    const parsed = typeof time === "string" ? milliseconds(time) : undefined;
    if (parsed === undefined || parsed < 0)
      throw new pulumi.RunError(
        `customTimeouts.${operation} of ${definition.label} ${name} must be a duration such as "90s", "1h30m" or ` +
          `"0.5h", with the units ns, us, ms, s, m and h, not ${JSON.stringify(time)}.`,
      );
  }
  return {
    ...(ignoreChanges?.length && { ignoreChanges }),
    ...(replaceOnChanges?.length && { replaceOnChanges }),
    ...(customTimeouts && { customTimeouts }),
    ...(mayClaim(options) && { resource: pathOf(typeToken(definition), name, options.parent) }),
  };
}

/**
 * What tells a resource from all others of its stack: the part of its URN after stack and project, such as
 * `my:site:Front$pulumi-nodejs:dynamic/uptime:Monitor::web`. The URN itself is known only after registration.
 */
export function pathOf(type: string, name: string, parent: Resource | undefined): string {
  const types = [type];
  for (let one = parent as Parent | undefined; one; one = one.__parentResource)
    // The engine leaves the stack out of URNs.
    if (one.__pulumiType && one.__pulumiType !== "pulumi:pulumi:Stack") types.unshift(one.__pulumiType);
  return `${types.join("$")}::${name}`;
}

/** The SDK sets both on every resource, and does not declare them. */
interface Parent {
  readonly __pulumiType?: string;
  readonly __parentResource?: Parent;
}
