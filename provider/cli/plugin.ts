import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Command } from "commander";

import { UptimeError } from "../api/errors";
import { ownPackage } from "../common/package";
import { installPlugin } from "./shared/pulumi-cli";
import type { CommandContext } from "./shared/terminal";

export function configure(command: Command, context: CommandContext): void {
  command.addHelpText(
    "after",
    `
Programs in TypeScript and JavaScript need no plugin, unless they import
"pulumi-uptime/native". Programs in YAML, Python, Go, C# and Java do.
`,
  );
  command
    .command("install")
    .description("Copy the plugin into Pulumi's plugin cache, from where Pulumi loads it.")
    .action(async () => {
      const { version } = ownPackage();
      await installPlugin(pluginFolder(), version, context);
      context.stdout.write(`Installed the plugin uptime ${version}. \`pulumi plugin ls\` lists it.\n`);
    });
}

/** The folder with the plugin. Throws if it was not built. */
function pluginFolder(): string {
  const folder = join(ownPackage().folder, "plugin");
  if (existsSync(join(folder, "pulumi-resource-uptime"))) return folder;
  throw new UptimeError(
    `There is no plugin in ${folder}: in a checkout of pulumi-uptime, run \`npm run build\` first.`,
  );
}
