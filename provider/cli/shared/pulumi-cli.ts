import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import { readText } from "./files";
import { parseAs } from "./json";
import { errorsIn, previewReport, printedIn, type Preview } from "./preview";
import { isProject } from "./project";
import { oneLine } from "./quoting";
import { parseDeployment, type StackState } from "./state";

/** Pulumi itself does not say what to do. */
const emptyFileAdvice =
  "A killed run has left an empty file next to the state: delete it with `find ~/.pulumi -name '*.attrs' -size 0 -delete`.";

/** A stack, and where the Pulumi CLI finds it. */
export interface StackLocation {
  /** The project's folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The stack's name; undefined for the one that is selected. */
  readonly stack?: string | undefined;
}

/**
 * Runs the Pulumi CLI. A failure is a result, not an error.
 *
 * @returns `failure` is an error's message; `cliMessage` is what the CLI itself printed about it, without secrets of the stack
 */
async function runPulumi(args: readonly string[], { cwd, env }: StackLocation) {
  const name = `\`pulumi ${args.slice(0, 2).join(" ")}\` in ${cwd}`;
  const child = spawn("pulumi", [...args, "--non-interactive", "--color", "never"], {
    cwd,
    // The variable turns the one object of `preview --json` into lines of events.
    env: { ...env, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    const { exitCode: code, signalCode } = child;
    const printed = oneLine(err) || `it ended with ${signalCode ?? `code ${String(code)}`}`;
    const cliMessage = printed.includes("failed to load checkpoint: EOF")
      ? `${printed}. ${emptyFileAdvice}`
      : printed;
    return { code, out, cliMessage, failure: `${name} failed: ${cliMessage.replace(/^error: /, "")}` };
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT"
        ? `the Pulumi CLI is not on PATH, or ${cwd} does not exist`
        : `it could not be started (${(error as Error).message})`;
    throw new UptimeError(`${name}: ${reason}.`);
  }
}

/** What the Pulumi CLI prints. If it fails, throws what it says. */
async function output(args: readonly string[], location: StackLocation): Promise<string> {
  const { code, out, failure } = await runPulumi(args, location);
  if (code === 0) return out;
  throw new UptimeError(failure);
}

/** The arguments of a command about a stack. */
function onStack(args: readonly string[], { cwd, stack }: StackLocation): string[] {
  // Pulumi would also search the folders above, and find a project that has nothing to do with this folder.
  if (!isProject(cwd))
    throw new UptimeError(
      `${cwd} has no Pulumi.yaml, so there is no stack. Run this command in the project's folder.`,
    );
  if (stack === "") throw new UptimeError("The option --stack is empty: name a stack, or leave it out.");
  return stack === undefined ? [...args] : [...args, "--stack", stack];
}

/** The lowest version of the Pulumi CLI and of its SDK for Node.js that this package is tested with. */
export const minimumPulumi = "3.200.0";

export function isSupported(version: string): boolean {
  return version.localeCompare(minimumPulumi, "en", { numeric: true }) >= 0;
}

export async function pulumiVersion(location: StackLocation): Promise<string> {
  return (await output(["version"], location)).trim().replace(/^v/, "");
}

/** Copies the provider plugin in a folder into Pulumi's plugin cache, over one of the same version. */
export async function installPlugin(folder: string, version: string, location: StackLocation): Promise<void> {
  const args = ["plugin", "install", "resource", "uptime", version, "--file", folder, "--reinstall"];
  await output(args, location);
}

/** Runs a preview, which also lists what stays as it is. One that fails has errors in its result. Throws if there is no result. */
export async function runPreview(location: StackLocation): Promise<Preview> {
  const args = onStack(["preview", "--json", "--show-sames"], location);
  const { code, out, failure, cliMessage } = await runPulumi(args, location);
  const preview = parseAs(previewReport, out);
  if (!preview) throw new UptimeError(failure);
  if (code === 0 || errorsIn(preview).length > 0) return preview;
  const [message = cliMessage] = printedIn(preview);
  return { ...preview, diagnostics: [{ severity: "error", message }] };
}

/** A stack's state. With secrets it must be neither stored nor printed. */
export async function exportState(
  location: StackLocation,
  ...flags: "--show-secrets"[]
): Promise<StackState> {
  const printed = await output(onStack(["stack", "export", ...flags], location), location);
  return parseDeployment(printed, "What `pulumi stack export` printed");
}

/** A state with secrets, which must be neither stored nor printed: that of the stack, or one in a file. */
export async function readState(location: StackLocation, file: string | undefined): Promise<StackState> {
  return file === undefined ? exportState(location, "--show-secrets") : parseDeployment(readText(file), file);
}

const configuration = z.record(
  z.string(),
  z.looseObject({ value: z.optional(z.string()), secret: z.optional(z.boolean()) }),
);

/** A stack's configuration by full key, such as `uptime:baseUrl`. A list or a map has JSON as its value. */
export async function stackConfig(location: StackLocation): Promise<z.infer<typeof configuration>> {
  const printed = await output(onStack(["config", "--show-secrets", "--json"], location), location);
  const parsed = parseAs(configuration, printed);
  if (!parsed) throw new UptimeError("What `pulumi config --json` printed is not a configuration.");
  return parsed;
}
