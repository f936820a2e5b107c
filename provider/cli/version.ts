import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { z } from "zod";

const manifest = z.object({ name: z.literal("pulumi-uptime"), version: z.string() });

/** This package, where it is installed. */
interface Package {
  readonly folder: string;
  readonly version: string;
}

function packageAt(folder: string): Package {
  try {
    return { folder, ...manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))) };
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return packageAt(dirname(folder));
  }
}

/** The version of this package. */
export function version(): string {
  return packageAt(__dirname).version;
}

/** What a project depends on to have this package: its version, or the checkout that it is run from. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAt(from);
  return basename(dirname(folder)) === "node_modules" ? `^${version}` : `file:${folder}`;
}
