import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

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
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
      packages?: Record<string, { resolved?: unknown }>;
    };
    const resolved = lock.packages?.["node_modules/pulumi-uptime"]?.resolved;
    return typeof resolved === "string" ? resolved : undefined;
  } catch {
    // It was not npm, or an old version of it.
    return undefined;
  }
}
