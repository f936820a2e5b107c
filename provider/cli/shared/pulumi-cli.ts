import { spawn } from "node:child_process";

import { z } from "zod";

import { UptimeError } from "../../api/errors";
import { firstWords } from "./quoting";
import { parseDeployment } from "./state";
import type { Deployment } from "./state";

/** A stack, and where the Pulumi CLI finds it. */
export interface StackLocation {
  /** The project's folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The stack's name; undefined for the one that is selected. */
  readonly stack?: string | undefined;
}

/** A value of a stack's configuration. */
export interface ConfiguredValue {
  readonly text: string;
  readonly isSecret: boolean;
}

/** Runs the Pulumi CLI and returns what it prints. If it fails, throws what it says. */
async function pulumi(args: readonly string[], { cwd, env, stack }: StackLocation): Promise<string> {
  const all = [...args, ...(stack === undefined ? [] : ["--stack", stack]), "--non-interactive"];
  const name = `\`pulumi ${args.slice(0, 2).join(" ")}\``;
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", [...all, "--color", "never"], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed: { out: Buffer[]; err: Buffer[] } = { out: [], err: [] };
    child.stdout.on("data", (chunk: Buffer) => printed.out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => printed.err.push(chunk));
    child.on("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "ENOENT"
          ? `the Pulumi CLI is not on PATH, or ${cwd} does not exist`
          : `it could not be started (${error.message})`;
      reject(new UptimeError(`${name} in ${cwd}: ${reason}.`));
    });
    child.on("close", (code) => {
      if (code === 0) {
        resolve(Buffer.concat(printed.out).toString());
        return;
      }
      // The CLI prints no secret of the stack to its standard error.
      const said = firstWords(Buffer.concat(printed.err).toString()).replace(/^error: /, "");
      reject(new UptimeError(`${name} in ${cwd} failed: ${said || `it ended with code ${String(code)}`}`));
    });
  });
}

/** The version of the Pulumi CLI, such as `3.250.0`. */
export async function pulumiVersion(location: StackLocation): Promise<string> {
  return (await pulumi(["version"], { ...location, stack: undefined })).trim().replace(/^v/, "");
}

/** Copies the provider plugin in a folder into Pulumi's plugin cache, over one of the same version. */
export async function installPlugin(
  folder: string,
  version: string,
  location: Omit<StackLocation, "stack">,
): Promise<void> {
  await pulumi(
    ["plugin", "install", "resource", "uptime", version, "--file", folder, "--reinstall"],
    location,
  );
}

/** A stack's state. With secrets it must be neither stored nor printed. */
export async function exportedState(location: StackLocation, secrets: boolean): Promise<Deployment> {
  const printed = await pulumi(["stack", "export", ...(secrets ? ["--show-secrets"] : [])], location);
  return parseDeployment(printed, "What `pulumi stack export` printed");
}

const configuration = z.record(
  z.string(),
  z.looseObject({
    value: z.string().optional(),
    objectValue: z.unknown().optional(),
    secret: z.boolean().optional(),
  }),
);

/** A stack's configuration by full key, such as `uptime:baseUrl`. */
export async function stackConfig(location: StackLocation): Promise<ReadonlyMap<string, ConfiguredValue>> {
  const printed = await pulumi(["config", "--show-secrets", "--json"], location);
  let parsed;
  try {
    parsed = configuration.parse(JSON.parse(printed));
  } catch {
    throw new UptimeError("What `pulumi config --json` printed is not a configuration.");
  }
  return new Map(
    Object.entries(parsed).flatMap(([key, { value, objectValue, secret }]) => {
      const text = value ?? (objectValue === undefined ? undefined : JSON.stringify(objectValue));
      return text === undefined ? [] : [[key, { text, isSecret: secret === true }] as const];
    }),
  );
}

/** The short name of the selected stack. */
export async function stackName(location: StackLocation): Promise<string> {
  return (await pulumi(["stack", "--show-name"], location)).trim();
}
