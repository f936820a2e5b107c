import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { runCommand } from "../../provider/cli/commands";
import type { Emulator } from "../../provider/emulator";
import { startEmulator } from "./emulator";
import { newFolder } from "./folder";

/** The server of the present test. */
export let emulator: Emulator;
/** The folder of the present test. */
export let folder: string;

/** Gives each test of the file a server and an empty folder. */
export function withCli(): void {
  beforeEach(async () => {
    emulator = await startEmulator();
    folder = newFolder();
  });
}

/** What the tool did. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** An environment without settings. */
export const unset = { url: "", apiKey: "" };

/** What the tool reports when it fails. */
export async function failed(outcome: Promise<Outcome>): Promise<string> {
  const { code, stderr } = await outcome;
  expect(code).toBe(1);
  return stderr;
}

/** Runs the tool in this process, as if from a folder, with an emulator's settings in the environment. */
export async function cli(
  emulator: Pick<Emulator, "url" | "apiKey">,
  cwd: string,
  args: readonly string[],
  more: { env?: NodeJS.ProcessEnv; isTTY?: boolean } = {},
): Promise<Outcome> {
  const outcome = { code: -1, stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    isTTY: more.isTTY,
    write: (text: string) => (outcome[name] += text),
  });
  outcome.code = await runCommand(args, {
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    cwd,
    env: { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey, ...more.env },
  });
  return outcome;
}

/** A stack's state as Pulumi exports it. */
export const stateOf = (resources: readonly unknown[]): string =>
  JSON.stringify({ version: 3, deployment: { resources } });

/** The environment with a CLI on PATH that knows one stack, and nothing but to show it. */
export function withStack(
  folder: string,
  config: Record<string, string | { value: string; secret: boolean }>,
  resources: readonly unknown[] = [],
): NodeJS.ProcessEnv {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const values = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" ? { value, secret: false } : value,
  ]);
  writeFileSync(join(bin, "config.json"), JSON.stringify(Object.fromEntries(values)));
  writeFileSync(join(bin, "state.json"), stateOf(resources));
  const script = `#!/bin/sh
echo "$*" >> "${bin}/calls"
case "$1 $2" in
  "config --show-secrets") cat "${bin}/config.json" ;;
  "version --non-interactive") echo v3.250.0 ;;
  "stack export") cat "${bin}/state.json" ;;
  *) echo "error: not known: $*" >&2; exit 255 ;;
esac
`;
  writeFileSync(join(bin, "pulumi"), script, { mode: 0o755 });
  return { PATH: [bin, process.env.PATH].join(delimiter) };
}
