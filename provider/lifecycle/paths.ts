import { isDeepStrictEqual } from "node:util";

import { isObject } from "../common/values";

/** Whether a list of property paths includes a whole property. */
export function pathsInclude(paths: readonly string[] | undefined, key: string): boolean {
  return (paths ?? []).some((path) => {
    const [top = "", ...parts] = stepsOf(path);
    return parts.length === 0 && [key, "*"].includes(top);
  });
}

/** Whether two values of a property differ at one of these paths. */
export function pathsTouch(
  paths: readonly string[] | undefined,
  key: string,
  before: unknown,
  after: unknown,
): boolean {
  return (paths ?? []).some((path) => {
    const [top = "", ...parts] = stepsOf(path);
    return [key, "*"].includes(top) && differsAt(before, after, parts);
  });
}

/** The property that a path begins with. */
export function topLevel(path: string): string {
  return stepsOf(path)[0] ?? "";
}

/** The value of a property, with the parts at these paths taken from another value: the engine takes ignored parts from state. */
export function withPartsOf(
  paths: readonly string[] | undefined,
  key: string,
  value: unknown,
  other: unknown,
): unknown {
  return (paths ?? [])
    .map(stepsOf)
    .filter(([top, ...parts]) => top === key && parts.length > 0)
    .reduce((result, [, ...parts]) => withPart(result, other, parts), value);
}

/** `requestHeaders`, `0` and `value` of `requestHeaders[0].value`, for example. */
function stepsOf(path: string): string[] {
  return path.split(/[.[\]"]+/).filter((part) => part !== "");
}

function differsAt(before: unknown, after: unknown, [part, ...rest]: readonly string[]): boolean {
  if (part === undefined) return !isDeepStrictEqual(before, after);
  const [one, other] = [entriesOf(before), entriesOf(after)];
  const parts = part === "*" ? [...one.keys(), ...other.keys()] : [part];
  return parts.some((name) => differsAt(one.get(name), other.get(name), rest));
}

const entriesOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);

function withPart(value: unknown, other: unknown, [part, ...rest]: readonly string[]): unknown {
  if (part === undefined) return other ?? value;
  if (Array.isArray(value) && Array.isArray(other))
    return value.map((entry: unknown, index) =>
      part === "*" || part === String(index) ? withPart(entry, other[index], rest) : entry,
    );
  if (!isObject(value) || !isObject(other)) return value;
  return { ...value, [part]: withPart(value[part], other[part], rest) };
}
