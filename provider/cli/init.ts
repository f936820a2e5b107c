import { execFileSync } from "node:child_process";
import { join, relative, resolve } from "node:path";

import type { Command } from "commander";

import { UptimeError } from "../api/errors";
import { ownPackage } from "../definitions/package";
import { dependency } from "./shared/dependency";
import { assertFree, assertPrintable, explained, writeNewFiles } from "./shared/files";
import { startCommands } from "./export/next-steps";
import { readProject } from "./shared/project";
import { shellWord, visible } from "./shared/quoting";
import { sampleProgram, scaffold } from "./shared/scaffold";
import type { CommandContext } from "./shared/terminal";

export function configure(command: Command, context: CommandContext): void {
  command
    .argument("<dir>", "the project's folder; it may exist, but must not hold a Pulumi project")
    .addHelpText(
      "after",
      `
Writes a project with one monitor. Installs nothing, sends nothing, and overwrites nothing.

Example:
  pulumi-uptime init monitoring
`,
    )
    .action((directory: string) => {
      context.stdout.write(initialise(directory, context.cwd));
    });
}

/** Writes a new project, and returns what a person does next. */
function initialise(folder: string, cwd: string): string {
  assertPrintable(folder, "The folder");
  const directory = resolve(cwd, folder);
  const project = readProject(directory);
  if (project.exists) throw new UptimeError(`${directory} holds a Pulumi project already.`);
  const { folder: own, version } = ownPackage();
  const uptime = dependency();
  // Colleagues and CI do not have the folder that this package is in, so the project gets a copy.
  const tarball = uptime.startsWith("file:") ? `pulumi-uptime-${version}.tgz` : undefined;
  const files = scaffold(project, sampleProgram, {
    uptime: tarball === undefined ? uptime : `file:${tarball}`,
  });
  if (tarball !== undefined) assertFree(join(directory, tarball));
  writeNewFiles(directory, files);
  if (tarball !== undefined) pack(own, directory);
  const place = relative(cwd, directory);
  const enter = place === "" ? [] : [`cd ${shellWord(place)}`];
  return [
    `Wrote a project to ${visible(place || ".")}:`,
    ...[...files.keys(), ...(tarball === undefined ? [] : [`${tarball}, the package itself`])].map(
      (name) => `  ${name}`,
    ),
    "",
    "Next, with your server's address and API key (the last `config` command asks for the key):",
    ...[...enter, ...startCommands(), "pulumi preview", "pulumi up"].map((line) => `  ${line}`),
    "",
  ].join("\n");
}

/** Packs a package into a folder, as npm would publish it. */
function pack(own: string, directory: string): void {
  const args = ["pack", own, "--pack-destination", directory, "--ignore-scripts", "--loglevel=error"];
  explained(`${own} cannot be packed`, () => execFileSync("npm", args, { stdio: "pipe" }));
}
