import { groupBy } from "../../common/values";

/** The groups of items that people cannot tell apart. An item without an identity is like no other. */
export function twinsAmong<T>(
  items: readonly T[],
  identityOf: (item: T) => string | undefined,
): [T, ...T[]][] {
  const identified = items.flatMap((item) => {
    const identity = identityOf(item);
    return identity === undefined ? [] : [{ item, identity }];
  });
  const groups = groupBy(identified, ({ identity }) => identity).values();
  return [...groups].flatMap((group) => {
    const [first, ...others] = group.map(({ item }) => item);
    return first !== undefined && others.length > 0 ? [[first, ...others]] : [];
  });
}
