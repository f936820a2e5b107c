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
      const { folder, version } = ownPackage();
      const plugin = join(folder, "plugin");
      if (!existsSync(join(plugin, "pulumi-resource-uptime")))
        throw new UptimeError(
          `There is no plugin in ${plugin}: in a checkout of pulumi-uptime, run \`npm run build\` first.`,
        );
      await installPlugin(plugin, version, context);
      context.stdout.write(`Installed the plugin uptime ${version}. \`pulumi plugin ls\` lists it.\n`);
    });
}
