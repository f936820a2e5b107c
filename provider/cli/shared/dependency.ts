import { basename, dirname, join, resolve } from "node:path";

import { z } from "zod";

import { packageAbove } from "../../sdk/package";
import { exists, readText } from "./files";
import { parseAs } from "./json";

/** The dependency that gives a project this package: its version, or the file or folder that it did not get from a registry. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  const modules = dirname(folder);
  if (basename(modules) !== "node_modules") return `file:${folder}`;
  const source = npmSource(modules);
  return source?.startsWith("file:") ? `file:${resolve(dirname(modules), source.slice(5))}` : `^${version}`;
}

const lock = z.object({
  packages: z.object({ "node_modules/pulumi-uptime": z.object({ resolved: z.string() }) }),
});

/** Where npm has copied this package from, if npm has written that down. */
function npmSource(modules: string): string | undefined {
  const file = join(modules, ".package-lock.json");
  const found = exists(file) ? parseAs(lock, readText(file)) : undefined;
  return found?.packages["node_modules/pulumi-uptime"].resolved;
}
