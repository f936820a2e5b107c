import { parseArgs } from "node:util";
import {
  completeDialect,
  defaultApiKey,
  dialectChoices,
  Emulator,
  type EmulatorOptions,
  strangeChoices,
} from "./index";

const usage = `Usage: pulumi-uptime emulator [options]

An emulator of the domain and uptime monitor API, on 127.0.0.1 only.

Options:
  --port <number>       the port to listen on (default: any free one)
  --api-key <key>       the key that requests must carry, for tests: the list of
                        processes shows it (default: ${defaultApiKey})
  --file <path>         a JSON file that keeps the records over a restart
                        (default: memory only)
  --path-prefix <path>  a path before /api/v1 (default: none)
  --settled             records do not change by themselves (default: each
                        answer shows new results of checks)
  --dialect <json>      how to answer where the API is not specified, such as
                        '{"record":"bare"}'
  -h, --help            display help for command

Options of the dialect, the default first:
${Object.entries({ ...dialectChoices, ...strangeChoices })
  .map(([option, choices]) => choicesText(option, choices))
  .join("\n")}
  hidden: fields that records do not show, such as ["url"]
  notStored: fields that are accepted and not stored, such as ["url"]
  extraFields: fields added to every record, such as {"team": null}
`;

/** An option with what it may be, in lines of at most 80 characters. */
function choicesText(option: string, choices: readonly unknown[]): string {
  const lines = [`  ${option}:`];
  for (const [index, choice] of choices.entries()) {
    const text = ` ${JSON.stringify(choice)}${index < choices.length - 1 ? " |" : ""}`;
    if (`${lines.at(-1) ?? ""}${text}`.length > 80) lines.push("   ");
    lines.push(`${lines.pop() ?? ""}${text}`);
  }
  return lines.join("\n");
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new Error(`--port must be a number up to 65535, not "${text}".`);
  return port;
}

function readDialect(text: string) {
  let options: unknown;
  try {
    options = JSON.parse(text);
  } catch {
    throw new Error(`--dialect must be JSON, not "${text}".`);
  }
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new Error(`--dialect must be a JSON object, not ${text}.`);
  return completeDialect(options);
}

/** The options that the arguments ask for, or "help". */
function readArguments(args: readonly string[]): EmulatorOptions | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string" },
      "api-key": { type: "string" },
      file: { type: "string" },
      "path-prefix": { type: "string" },
      settled: { type: "boolean" },
      dialect: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return "help";
  if (values["api-key"] === "") throw new Error("--api-key must not be empty.");
  return {
    ...(values.port !== undefined && { port: readPort(values.port) }),
    ...(values["api-key"] !== undefined && { apiKey: values["api-key"] }),
    ...(values.file !== undefined && { file: values.file }),
    ...(values["path-prefix"] !== undefined && { pathPrefix: values["path-prefix"] }),
    ...(values.settled === true && { settled: true }),
    ...(values.dialect !== undefined && { dialect: readDialect(values.dialect) }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs the emulator until SIGINT or SIGTERM.
 * @returns the exit code: 0 when it was stopped, 1 when it could not start or the arguments are wrong.
 */
export async function runEmulator(args: readonly string[]): Promise<number> {
  let options: EmulatorOptions | "help";
  try {
    options = readArguments(args);
  } catch (error) {
    process.stderr.write(`${messageOf(error)} See --help.\n`);
    return 1;
  }
  if (options === "help") {
    process.stdout.write(usage);
    return 0;
  }
  const stopped = new Promise((resolve) => {
    process.once("SIGINT", resolve).once("SIGTERM", resolve);
  });
  try {
    const emulator = await Emulator.start(options);
    process.stdout.write(`Emulator at ${emulator.url} with API key ${emulator.apiKey}\n`);
    await stopped;
    await emulator.stop();
    return 0;
  } catch (error) {
    process.stderr.write(`The emulator could not go on: ${messageOf(error)}\n`);
    return 1;
  }
}

if (require.main === module)
  void runEmulator(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
