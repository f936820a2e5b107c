import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

const manifest = z.object({ name: z.literal("pulumi-uptime"), version: z.string() });

/** The version of this package. */
export function version(folder = __dirname): string {
  try {
    return manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).version;
  } catch {
    const parent = dirname(folder);
    return parent === folder ? "0.0.0" : version(parent);
  }
}
