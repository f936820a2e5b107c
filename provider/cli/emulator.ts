import { resolve } from "node:path";

import { InvalidArgumentError, type Command } from "commander";
import * as z from "zod/mini";

import { message, messageOf, UptimeError } from "../api/errors";
import { completeDialect, defaultApiKey, dialectChoices, Emulator, strangeChoices } from "../emulator";
import type { Dialect, EmulatorOptions } from "../emulator";
import { parseAs } from "./shared/json";
import type { CommandContext } from "./shared/terminal";

export function configure(command: Command, context: CommandContext): void {
  command
    .option("--port <number>", "the port to listen on (default: any free one)", readPort)
    .option(
      "--api-key <key>",
      "the API key to accept; for tests only, because process lists show it",
      readKey,
      defaultApiKey,
    )
    .option("--file <path>", "a JSON file that keeps the records over a restart (default: memory only)")
    .option("--path-prefix <path>", "a path before /api/v1 (default: none)")
    .option(
      "--settled",
      "records do not change by themselves (default: each answer shows new results of checks)",
    )
    .option(
      "--dialect <json>",
      `how to answer where the API is not specified, such as '{"record":"bare"}'`,
      readDialect,
    )
    .addHelpText(
      "after",
      `
Answers on 127.0.0.1 only, until it gets SIGINT or SIGTERM.

Options of the dialect, the default first:
${Object.entries({ ...dialectChoices, ...strangeChoices })
  .map(([option, choices]) => `  ${option}: ${choices.map((choice) => JSON.stringify(choice)).join(" | ")}`)
  .map((line) => command.createHelp().boxWrap(line, 76).replaceAll("\n", "\n    "))
  .join("\n")}
  hidden: fields that records do not show, such as ["url"]
  notStored: fields that are accepted and not stored, such as ["url"]
  extraFields: fields added to every record, such as {"team": null}
`,
    )
    .action(async ({ file, ...options }: EmulatorOptions) => {
      const path = file === undefined ? {} : { file: resolve(context.cwd, file) };
      const stopped = new Promise((stop) => process.once("SIGINT", stop).once("SIGTERM", stop));
      try {
        const emulator = await Emulator.start({ ...options, ...path });
        context.stdout.write(`Emulator at ${emulator.url} with API key ${emulator.apiKey}\n`);
        await stopped;
        await emulator.stop();
      } catch (error) {
        throw new UptimeError(message`The emulator failed: ${messageOf(error)}`);
      }
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("It must be a number up to 65535.");
  return port;
}

function readKey(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

function readDialect(text: string): Dialect {
  const options = parseAs(z.record(z.string(), z.unknown()), text);
  if (!options) throw new InvalidArgumentError("It must be a JSON object.");
  try {
    return completeDialect(options);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
