import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

let known: string | undefined;

/** The version of this package. */
export function version(): string {
  return (known ??= versionAbove(__dirname));
}

/** The package's own file is two or three folders up: in the sources, or in what is built of them. */
function versionAbove(folder: string): string {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name?: unknown;
      version?: unknown;
    };
    if (manifest.name === "pulumi-uptime" && typeof manifest.version === "string") return manifest.version;
  } catch {
    // There is none in this folder.
  }
  if (dirname(folder) === folder) throw new Error("pulumi-uptime does not find its own package.json.");
  return versionAbove(dirname(folder));
}
