import { createRequire } from "node:module";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";

let looked = false;

/**
 * Pulumi loads the provider from the program's folder, in another process. Where only a library of the program depends
 * on this package, and the package manager keeps packages apart, nothing is found there, and what Pulumi prints then
 * does not say what to do.
 */
export function warnOfMissingDependency(): void {
  // Only a program that Pulumi's language host runs has the working directory from which the provider is loaded.
  if (looked || process.env.PULUMI_NODEJS_MONITOR === undefined) return;
  looked = true;
  const folder = process.cwd();
  try {
    createRequire(join(folder, "program.js")).resolve("pulumi-uptime/provider");
  } catch {
    void pulumi.log.warn(
      `pulumi-uptime is not found from ${folder}, and Pulumi loads the provider from there. Add it to the dependencies ` +
        "in the program's own package.json, also when only a library uses it: `npm install pulumi-uptime`, " +
        "`pnpm add pulumi-uptime` or `yarn add pulumi-uptime`.",
    );
  }
}
