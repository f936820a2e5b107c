import { spawn } from "node:child_process";

import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import { parseAs } from "./json";
import { errorsIn, failureTexts, previewReport, type Preview } from "./preview";
import { isProject } from "./project";
import { oneLine } from "./quoting";
import { parseDeployment, type StackState } from "./state";

/** A stack, and where the Pulumi CLI finds it. */
export interface StackLocation {
  /** The project's folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The stack's name; undefined for the one that is selected. */
  readonly stack?: string | undefined;
}

interface ConfiguredValue {
  readonly text: string;
  readonly isSecret: boolean;
}

interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  /** The message of an error: the command, and why it failed. */
  readonly failure: string;
  /** The CLI's own words about the failure. It prints no secret of the stack to its standard error. */
  readonly ownWords: string;
}

/** Runs the Pulumi CLI. A failure is a result, not an error. */
async function runPulumi(args: readonly string[], { cwd, env }: StackLocation): Promise<CommandResult> {
  const all = [...args, "--non-interactive", "--color", "never"];
  const name = `\`pulumi ${args.slice(0, 2).join(" ")}\` in ${cwd}`;
  return new Promise((resolve, reject) => {
    // The variable turns the one object of `preview --json` into lines of events.
    const plain = { ...env, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: undefined };
    const child = spawn("pulumi", all, { cwd, env: plain, stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "ENOENT"
          ? `the Pulumi CLI is not on PATH, or ${cwd} does not exist`
          : `it could not be started (${error.message})`;
      reject(new UptimeError(`${name}: ${reason}.`));
    });
    child.on("close", (code) => {
      const ownWords = oneLine(Buffer.concat(err).toString()) || `it ended with code ${String(code)}`;
      const failure = `${name} failed: ${ownWords.replace(/^error: /, "")}`;
      resolve({ code, out: Buffer.concat(out).toString(), failure, ownWords });
    });
  });
}

/** Runs the Pulumi CLI and returns what it prints. If it fails, throws what it says. */
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

/** The version of the Pulumi CLI, such as `3.250.0`. */
export async function pulumiVersion(location: StackLocation): Promise<string> {
  return (await output(["version"], location)).trim().replace(/^v/, "");
}

/** Copies the provider plugin in a folder into Pulumi's plugin cache, over one of the same version. */
export async function installPlugin(folder: string, version: string, location: StackLocation): Promise<void> {
  const args = ["plugin", "install", "resource", "uptime", version, "--file", folder, "--reinstall"];
  await output(args, location);
}

/** Runs a preview. One that fails has errors in its result. Throws if there is no result. */
export async function runPreview(location: StackLocation): Promise<Preview> {
  const { code, out, failure, ownWords } = await runPulumi(
    onStack(["preview", "--json"], location),
    location,
  );
  const preview = parseAs(previewReport, out);
  if (!preview) throw new UptimeError(failure);
  if (code === 0 || errorsIn(preview).length > 0) return preview;
  const [message = ownWords] = failureTexts(preview);
  return { ...preview, diagnostics: [{ severity: "error", message }] };
}

/** A stack's state. With secrets it must be neither stored nor printed. */
export async function exportState(
  location: StackLocation,
  { showSecrets = false } = {},
): Promise<StackState> {
  const args = onStack(["stack", "export", ...(showSecrets ? ["--show-secrets"] : [])], location);
  return parseDeployment(await output(args, location), "What `pulumi stack export` printed");
}

const configuration = z.record(
  z.string(),
  z.looseObject({
    value: z.optional(z.string()),
    objectValue: z.optional(z.unknown()),
    secret: z.optional(z.boolean()),
  }),
);

/** A stack's configuration by full key, such as `uptime:baseUrl`. */
export async function stackConfig(location: StackLocation): Promise<ReadonlyMap<string, ConfiguredValue>> {
  const printed = await output(onStack(["config", "--show-secrets", "--json"], location), location);
  const parsed = parseAs(configuration, printed);
  if (!parsed) throw new UptimeError("What `pulumi config --json` printed is not a configuration.");
  return new Map(
    Object.entries(parsed).flatMap(([key, { value, objectValue, secret }]) => {
      const text = value ?? (objectValue === undefined ? undefined : JSON.stringify(objectValue));
      return text === undefined ? [] : [[key, { text, isSecret: secret === true }] as const];
    }),
  );
}
