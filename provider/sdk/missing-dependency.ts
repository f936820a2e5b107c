import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Pulumi loads the provider from the program's folder, in another process. If only a library of the program depends on this
 * package, a package manager such as pnpm does not link it there, and Pulumi's own error does not say what to do.
 */
export function missingDependency(): string[] {
  // Only if Pulumi's language host runs the program is the provider loaded from this working directory.
  if (process.env.PULUMI_NODEJS_MONITOR === undefined) return [];
  const folder = process.cwd();
  try {
    createRequire(join(folder, "program.js")).resolve("pulumi-uptime/provider");
    return [];
  } catch {
    return [
      `pulumi-uptime is not found from ${folder}, and Pulumi loads the provider from there. Add it to the dependencies ` +
        "in the program's own package.json, even if only a library uses it: `npm install pulumi-uptime`, " +
        "`pnpm add pulumi-uptime` or `yarn add pulumi-uptime`.",
    ];
  }
}
