import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { isObject } from "../../definitions/kinds";
import { packageAbove } from "../../sdk/package";

/** The dependency that gives a project this package: its version, or the file or folder that it did not get from a registry. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  const modules = dirname(folder);
  if (basename(modules) !== "node_modules") return `file:${folder}`;
  const source = npmSource(modules);
  return source?.startsWith("file:") ? `file:${resolve(dirname(modules), source.slice(5))}` : `^${version}`;
}

/** Where npm has copied this package from, if npm has written that down. */
function npmSource(modules: string): string | undefined {
  try {
    const lock: unknown = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {};
    const own = packages["node_modules/pulumi-uptime"];
    return isObject(own) && typeof own.resolved === "string" ? own.resolved : undefined;
  } catch {
    // It was not npm, or an old version of it.
    return undefined;
  }
}
