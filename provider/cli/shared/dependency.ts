import { basename, dirname, join, resolve } from "node:path";

import { z } from "zod";

import { packageAbove } from "../../definitions/package";
import { exists, readText } from "./files";
import { parseAs } from "./json";

const manifest = z.object({ dependencies: z.object({ "pulumi-uptime": z.string() }) });

/** The dependency that gives a project this package: its version, or the file or folder that it did not get from a registry. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  const modules = dirname(folder);
  if (basename(modules) !== "node_modules") return `file:${folder}`;
  const project = dirname(modules);
  const file = join(project, "package.json");
  const source = exists(file) && parseAs(manifest, readText(file))?.dependencies["pulumi-uptime"];
  return source && source.startsWith("file:") ? `file:${resolve(project, source.slice(5))}` : `^${version}`;
}
