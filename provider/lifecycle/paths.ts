/** Whether a list of property paths includes a whole property. */
export function pathsInclude(paths: readonly string[] | undefined, key: string): boolean {
  return paths?.some((path) => path === key || path === "*" || path === `["${key}"]`) ?? false;
}

/** Whether a list of property paths includes a property or a part of it. */
export function pathsTouch(paths: readonly string[] | undefined, key: string): boolean {
  const tops = paths?.map((path) => path.replace(/(?<=.)[.[].*$/, ""));
  return pathsInclude(tops, key) || pathsInclude(paths, key);
}

/** The property that a path begins with. */
export function topLevel(path: string): string {
  return path.replace(/[.[].*$/s, "");
}
