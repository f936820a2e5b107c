import { existsSync, mkdirSync } from "node:fs";
import { execSync } from "node:child_process";
import { basename, dirname, join } from "node:path";

import * as z from "zod/mini";

import { ownPackage, packageAbove } from "../../common/package";
import { assertFree, explainFailure, readText, writeNewFile } from "./files";
import { parseAs } from "./json";
import { shellWord } from "./quoting";

const manifest = z.object({ dependencies: z.object({ "pulumi-uptime": z.string() }) });

/** How a project depends on this package: by its version or, if it did not come from a registry, by a file of the project. */
export function dependencySpec(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  const modules = dirname(folder);
  const file = join(dirname(modules), "package.json");
  const source = existsSync(file) && parseAs(manifest, readText(file))?.dependencies["pulumi-uptime"];
  const isInstalled = basename(modules) === "node_modules";
  return isInstalled && !(source && source.startsWith("file:"))
    ? `^${version}`
    : `file:pulumi-uptime-${version}.tgz`;
}

/** The file with this package that the package.json of a new project names; none if it names a version. */
export function packageFiles(files: ReadonlyMap<string, string>): string[] {
  const source = dependencySpec();
  return files.has("package.json") && source.startsWith("file:") ? [source.slice("file:".length)] : [];
}

/** This package as a word of a command that installs it: its name or, if it did not come from a registry, a file that npm packs. */
export function packageWord(): string {
  if (!dependencySpec().startsWith("file:")) return "pulumi-uptime";
  return `$(npm pack --silent --ignore-scripts ${shellWord(ownPackage().folder)})`;
}

/** Writes files by name, none of which may exist, and the file of this package if the project needs it. */
export function writeProject(directory: string, files: ReadonlyMap<string, string>): void {
  const packed = packageFiles(files);
  for (const name of [...files.keys(), ...packed]) assertFree(join(directory, name));
  // Packing may fail, and then there must not be half a project.
  if (packed.length > 0) {
    explainFailure(`${directory} cannot be written`, () => mkdirSync(directory, { recursive: true }));
    const { folder } = ownPackage();
    // On Windows, npm is a script that only a shell starts. No path is on its command line, so none needs quotes.
    const env = { ...process.env, npm_config_pack_destination: directory };
    explainFailure(`${folder} cannot be packed`, () =>
      execSync("npm pack --ignore-scripts --loglevel=error", { cwd: folder, env, stdio: "pipe" }),
    );
  }
  for (const [name, content] of files) writeNewFile(join(directory, name), content);
}
