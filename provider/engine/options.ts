import { isObject } from "../definitions/kinds";
import { deadlineAfter } from "../api/deadline";
import type { Deadline } from "../api/deadline";

/** Options of a resource that Pulumi does not forward to a dynamic provider; the hidden input `__options` holds them. */
export interface PassedOptions {
  readonly ignoreChanges?: readonly string[];
  readonly replaceOnChanges?: readonly string[];
  readonly customTimeouts?: { readonly create?: string; readonly update?: string; readonly delete?: string };
  /** The resource's name in Pulumi, where it has the option `import`; the id is the input `importId`. */
  readonly importer?: string;
}

export function passedOptionsIn(properties: Readonly<Record<string, unknown>>): PassedOptions {
  const options = properties.__options;
  return isObject(options) ? options : {};
}

/** Whether a list of property paths names a whole property, or all of them. */
export function names(paths: readonly string[] | undefined, key: string): boolean {
  return paths?.some((path) => path === key || path === "*" || path === `["${key}"]`) ?? false;
}

/** Whether a list of property paths names a property or a part of it. */
export function touches(paths: readonly string[] | undefined, key: string): boolean {
  return (
    names(
      paths?.map((path) => path.replace(/(?<=.)[.[].*$/, "")),
      key,
    ) || names(paths, key)
  );
}

/** The end of an operation that begins now; see {@link deadlineAfter}. */
export function deadlineOf(
  properties: Readonly<Record<string, unknown>>,
  operation: "create" | "read" | "update" | "delete",
): Deadline {
  const given = operation === "read" ? undefined : passedOptionsIn(properties).customTimeouts?.[operation];
  return deadlineAfter(milliseconds(given));
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Pulumi's durations: `90s`, `1h30m`, `0.5m`. */
function milliseconds(duration: string | undefined): number | undefined {
  let total = 0;
  for (const [, amount, unit = ""] of duration?.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g) ?? [])
    total += Number(amount) * (units[unit] ?? 0);
  // A timer takes whole numbers, and no larger ones.
  return total > 0 ? Math.min(Math.ceil(total), 2 ** 31 - 1) : undefined;
}
