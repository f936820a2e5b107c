/** Whether a list of property paths names a whole property, or all of them. */
export function names(paths: readonly string[] | undefined, key: string): boolean {
  return paths?.some((path) => path === key || path === "*" || path === `["${key}"]`) ?? false;
}

/** Whether a list of property paths names a property or a part of it. */
export function touches(paths: readonly string[] | undefined, key: string): boolean {
  const tops = paths?.map((path) => path.replace(/(?<=.)[.[].*$/, ""));
  return names(tops, key) || names(paths, key);
}
