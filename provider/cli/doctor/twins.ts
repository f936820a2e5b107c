import { groupBy } from "../../common/values";

/** The groups of items that people cannot tell apart. An item without an identity is like no other. */
export function twinsAmong<T>(
  items: readonly T[],
  identityOf: (item: T) => string | undefined,
): [T, ...T[]][] {
  const identified = items.filter((item) => identityOf(item) !== undefined);
  const groups = [...groupBy(identified, (item) => identityOf(item) ?? "").values()];
  return groups.flatMap(([first, ...others]) => (first && others.length > 0 ? [[first, ...others]] : []));
}
