import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** This package as it is installed. */
interface InstalledPackage {
  readonly folder: string;
  readonly version: string;
}

function packageAbove(folder: string): InstalledPackage {
  let manifest: { name?: unknown; version?: unknown } = {};
  try {
    manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as typeof manifest;
  } catch {
    // There is none in this folder.
  }
  if (manifest.name === "pulumi-uptime" && typeof manifest.version === "string")
    return { folder, version: manifest.version };
  if (dirname(folder) === folder) throw new Error("pulumi-uptime does not find its own package.json.");
  return packageAbove(dirname(folder));
}

/** The version of this package. */
export function version(): string {
  return packageAbove(__dirname).version;
}

/** The folder of this package. */
export function packageFolder(): string {
  return packageAbove(__dirname).folder;
}

/** The dependency that gives a project this package: its version, or the checkout that it runs from. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  return basename(dirname(folder)) === "node_modules" ? `^${version}` : `file:${folder}`;
}
