import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface InstalledPackage {
  readonly folder: string;
  readonly version: string;
  /** The address of its source, as npm writes it. */
  readonly repository: string;
}

let known: InstalledPackage | undefined;

export function ownPackage(): InstalledPackage {
  return (known ??= packageAbove(__dirname));
}

export function packageAbove(folder: string): InstalledPackage {
  let manifest: { name?: unknown; version?: unknown; repository?: { url?: string } } = {};
  try {
    manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as typeof manifest;
  } catch {
    // There is none in this folder.
  }
  if (manifest.name === "pulumi-uptime" && typeof manifest.version === "string")
    return { folder, version: manifest.version, repository: manifest.repository?.url ?? "" };
  if (dirname(folder) === folder) throw new Error("pulumi-uptime does not find its own package.json.");
  return packageAbove(dirname(folder));
}
