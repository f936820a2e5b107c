import { relative, resolve } from "node:path";

import type { Command } from "commander";

import { UptimeError } from "../api/errors";
import { readProject } from "./shared/project";
import { shellWord, printable } from "./shared/quoting";
import {
  packageFiles,
  packageWord,
  sampleProgram,
  scaffold,
  startCommands,
  writeProject,
} from "./shared/scaffold";
import type { CommandContext } from "./shared/terminal";

export function configure(command: Command, context: CommandContext): void {
  command
    .argument("<dir>", "the project's folder; it may exist, but must not hold a Pulumi project")
    .addHelpText(
      "after",
      `
Writes a project with one monitor. Installs nothing, sends nothing, and
overwrites nothing.

Example:
  pulumi-uptime init monitoring
`,
    )
    .action((directory: string) => {
      context.stdout.write(initialize(directory, context.cwd));
    });
}

/** Writes a new project, and returns the steps that follow. */
function initialize(folder: string, cwd: string): string {
  const directory = resolve(cwd, folder);
  const project = readProject(directory);
  if (project.exists) {
    const advice = ` To use this package in it, run \`npm install ${packageWord()}\` there.`;
    throw new UptimeError(
      `${directory} already contains a Pulumi project.${project.runtime === "nodejs" ? advice : ""}`,
    );
  }
  const files = scaffold(project, sampleProgram);
  writeProject(directory, files);
  const place = relative(cwd, directory);
  const lines = [
    place === "" ? "Wrote a project here:" : `Wrote a project to ${place}:`,
    ...[...files.keys()].map((name) => `  ${name}`),
    ...packageFiles(files).map((name) => `  ${name}, the package itself`),
    "",
    "Next, with your server's address and API key (the last `config` command asks",
    "for the key). Without a Pulumi account, first run `pulumi login --local`, and",
    "set PULUMI_CONFIG_PASSPHRASE:",
    ...(place === "" ? [] : [`  cd ${shellWord(place)}`]),
    ...[...startCommands(), "pulumi preview", "pulumi up"].map((line) => `  ${line}`),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}
