import type { Emulator, EmulatorOptions } from "../../provider/emulator";
import { startEmulator } from "./emulator";
import { home } from "./monitors";
import { Workspace, type WorkspaceOptions } from "./workspace";

export interface StackOptions extends Partial<WorkspaceOptions> {
  emulator?: EmulatorOptions;
}

/** An API of its own and a Pulumi project that uses it, through the environment unless there is `config`. */
export interface Stack {
  emulator: Emulator;
  workspace: Workspace;
}

/** Starts both; they are ended after the test. */
export async function startStack({ emulator: options, ...rest }: StackOptions): Promise<Stack> {
  const emulator = await startEmulator(options);
  const env = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
  const workspace = await Workspace.create({ program: "", env, ...rest });
  return { emulator, workspace };
}

/** The names of the records in a table of the emulator, in the order of the alphabet. */
export const namesIn = (table: Emulator["monitors"]): string[] =>
  table
    .all()
    .map(({ name }) => String(name))
    .sort();

/** The record of a name. */
export const recordOf = (table: Emulator["monitors"], name: string) =>
  table.all().find((record) => record.name === name);

/** What was written, such as `POST /api/v1/monitors`. */
export const writesTo = (emulator: Emulator): string[] =>
  emulator.writes().map(({ method, path }) => `${method} ${path}`);

type Properties = Record<string, unknown>;

/** One resource of a program. */
export interface Declared {
  kind: "Domain" | "Monitor";
  name: string;
  args: Properties;
  options: Properties;
}

export function monitorOf(name: string, more: Properties = {}, options: Properties = {}): Declared {
  return { kind: "Monitor", name, args: { ...home, ...more }, options };
}

export function domainOf(name: string, args: Properties, options: Properties = {}): Declared {
  return { kind: "Domain", name, args, options };
}

/** What a program that is written out begins with. */
export const imports = `
const pulumi = require("@pulumi/pulumi");
const { Domain, Monitor, ...uptime } = require("pulumi-uptime");
const site = (name, more) => ({ name, url: "https://example.com/", interval: 60, ...more });
`;

/** A program that declares these resources. */
export function programOf(resources: readonly Declared[]): string {
  const lines = resources.map(
    ({ kind, name, args, options }) =>
      `new uptime.${kind}(${JSON.stringify(name)}, ${JSON.stringify(args)}, ${JSON.stringify(options)});`,
  );
  return [`const uptime = require("pulumi-uptime");`, ...lines].join("\n");
}

/** A resource of a YAML program. */
export interface YamlResource {
  type: string;
  properties?: Properties;
  options?: Properties;
  get?: Properties;
}

export function yamlMonitor(more: Properties = {}, options: Properties = {}): YamlResource {
  return { type: "uptime:Monitor", properties: { ...home, ...more }, options };
}

export function yamlDomain(name: string, options: Properties = {}): YamlResource {
  return { type: "uptime:Domain", properties: { name }, options };
}

/** A YAML program that declares these resources. JSON is YAML. */
export function yamlOf(resources: Record<string, YamlResource>, more: Properties = {}): string {
  return Object.entries({ resources, ...more })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");
}

/** What a `--diff` output shows of each resource, by its logical name; a refresh's part comes before the update's. */
export function diffsIn(output: string): Record<string, string> {
  const diffs: Record<string, string> = {};
  for (const part of output.split(/\[urn=urn:pulumi:\S*::/).slice(1)) {
    const [name = "", ...rest] = part.split("]\n");
    diffs[name] = (diffs[name] ?? "") + rest.join("]\n").replace(/^ *[~+-]* *pulumi-?\w*:\S+: \([^]*$/m, "");
  }
  return diffs;
}

/** The properties that such a part marks as changed, without the unmanaged ones. */
export function changedIn(diff = ""): string[] {
  const names = [...diff.matchAll(/^ {6}[~+-] (\w+) *:/gm)].map(([, name]) => name ?? "");
  return [...new Set(names)].filter((name) => name !== "attributes").sort();
}
