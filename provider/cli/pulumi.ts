import { spawn } from "node:child_process";

import { z } from "zod";

import { excerpt } from "../api/answer";
import { isObject } from "../definitions/kinds";
import { UptimeError } from "../api/errors";
import { markKey, secretMark } from "../engine/marks";

const resource = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().optional(),
  id: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  /** Waits for its deletion; another one has taken its place. */
  delete: z.boolean().optional(),
  /** Only read, not managed. */
  external: z.boolean().optional(),
});

const deployment = z.looseObject({
  version: z.number(),
  deployment: z.looseObject({ resources: z.array(resource).nullish() }),
});

const configuration = z.record(
  z.string(),
  z.looseObject({ value: z.string().optional(), objectValue: z.unknown().optional() }),
);

/** A resource as state holds it. */
export type StateResource = z.infer<typeof resource>;
/** What `pulumi stack export` prints and `pulumi stack import` reads. */
export type Deployment = z.infer<typeof deployment>;

/** Where the CLI is run, and for which stack; undefined is the selected one. */
export interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stack?: string | undefined;
}

/** Runs the Pulumi CLI and returns what it prints. Throws what it says when it fails. */
async function pulumi(args: readonly string[], { cwd, env, stack }: Place): Promise<string> {
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
      // A failure prints no secret of the stack on its standard error.
      const said = excerpt(Buffer.concat(printed.err).toString()).replace(/^error: /, "");
      reject(new UptimeError(`${name} in ${cwd} failed: ${said || `it ended with ${String(code)}`}`));
    });
  });
}

/** A stack's state. With secrets it is for this process's eyes only: not for a disk, not for a terminal. */
export async function exportedState(place: Place, secrets: boolean): Promise<Deployment> {
  const printed = await pulumi(["stack", "export", ...(secrets ? ["--show-secrets"] : [])], place);
  return deploymentIn(printed, "What `pulumi stack export` printed");
}

/** A stack's configuration by full key, such as `uptime:baseUrl`. */
export async function stackConfig(place: Place): Promise<ReadonlyMap<string, string>> {
  const printed = await pulumi(["config", "--show-secrets", "--json"], place);
  const parsed = configuration.safeParse(parsedJson(printed));
  if (!parsed.data) throw new UptimeError("What `pulumi config --json` printed is not configuration.");
  return new Map(
    Object.entries(parsed.data).flatMap(([key, { value, objectValue }]) => {
      const text = value ?? (objectValue === undefined ? undefined : JSON.stringify(objectValue));
      return text === undefined ? [] : [[key, text] as const];
    }),
  );
}

/** The short name of the selected stack. */
export async function stackName(place: Place): Promise<string> {
  return (await pulumi(["stack", "--show-name"], place)).trim();
}

/** The deployment in the text of a file or an output. */
export function deploymentIn(text: string, source: string): Deployment {
  const parsed = deployment.safeParse(parsedJson(text));
  if (parsed.data) return parsed.data;
  throw new UptimeError(`${source} is not a deployment, as \`pulumi stack export\` writes it.`);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value as state holds a secret that is not encrypted yet: the engine does that when the state is imported. */
export function secret(value: unknown): unknown {
  return { [markKey]: secretMark, plaintext: JSON.stringify(value) };
}

/** A property of state with its secrets in the clear; undefined where it is encrypted. */
export function revealed(value: unknown): unknown {
  if (Array.isArray(value)) {
    const entries = value.map(revealed);
    return entries.includes(undefined) ? undefined : entries;
  }
  if (!isObject(value)) return value;
  if (value[markKey] === secretMark)
    return typeof value.plaintext === "string" ? parsedJson(value.plaintext) : undefined;
  const entries = Object.entries(value).map(([key, entry]) => [key, revealed(entry)] as const);
  return entries.some(([, entry]) => entry === undefined) ? undefined : Object.fromEntries(entries);
}

/** The logical name in a URN. */
export function nameIn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** The last part of a type token: `Monitor`, for example. */
export function labelIn(type: string): string {
  return type.split(":").at(-1) ?? type;
}
