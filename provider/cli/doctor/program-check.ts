import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { isObject } from "../../definitions/kinds";
import { isUnknown } from "../../definitions/unknown";
import { markKey, unmarked } from "../../definitions/marks";
import { decodeDeclaration } from "../../engine/request";
import { importedRecord, wrongAccount } from "../../engine/plugin/imported-record";
import { functionOf } from "../../engine/plugin/tokens";
import { SettingsUnknown } from "../../lifecycle/connection";
import type { Connect } from "../../lifecycle/connection";
import { Lifecycle } from "../../lifecycle/lifecycle";
import { lookUpAll, lookUpOne } from "../../lifecycle/lookup";
import { scopesOf } from "../shared/explicit-provider";
import type { Scope } from "../shared/explicit-provider";
import { readProject } from "../shared/project";
import { definitionOf } from "../shared/resource-types";
import { runProgram } from "./run-program";
import type { CalledFunction, RegisteredResource } from "./run-program";
import type { CommandSettings } from "../shared/setting-options";
import type { StateResource } from "../shared/state";

/** A resource of a program that a preview would refuse. */
export interface RefusedResource {
  readonly type: string;
  readonly name: string;
  /** The id in its option `import`, if it has one. */
  readonly importId: string | undefined;
  readonly reasons: readonly string[];
}

/** What a preview would say of a program's resources. */
export interface ProgramReport {
  /** How many resources of this package the program declares. */
  readonly resources: number;
  /** How many of them import a record, and are not in state yet. */
  readonly imports: number;
  readonly refused: readonly RefusedResource[];
  readonly notes: readonly string[];
}

/** A program that has run, with what it has declared. */
export interface RunProgram {
  readonly resources: readonly RegisteredResource[];
  readonly scopeOf: (resource: Pick<RegisteredResource, "provider">) => Scope;
}

/** Runs a program without the engine. Creates nothing. */
export async function declaredBy(
  directory: string,
  settings: CommandSettings,
  state: readonly StateResource[],
  env: NodeJS.ProcessEnv,
): Promise<RunProgram> {
  const project = readProject(directory);
  if (!project.exists) throw new UptimeError(`${directory} is not a Pulumi project: it has no Pulumi.yaml.`);
  if (project.runtime !== undefined && project.runtime !== "nodejs")
    throw new UptimeError(
      `The program in ${directory} has the runtime ${project.runtime}. \`doctor\` runs programs in TypeScript and JavaScript ` +
        "only: leave --program out, and run `pulumi preview`, which refuses what is wrong.",
    );
  const stack = { name: stackIn(state) ?? "stack", config: settings.config, secretKeys: settings.secretKeys };
  const resources = await runProgram(project, stack, env, (called) =>
    lookUp(called, scopesOf(called.registered, settings)(called)),
  );
  return {
    resources: resources.filter(({ type }) => definitionOf(type)),
    scopeOf: scopesOf(resources, settings),
  };
}

/** Carries out a function of the provider plugin. Functions of others know nothing here, and nor do those of unknown arguments. */
async function lookUp(
  { token, args }: CalledFunction,
  { connectTo }: Scope,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!token.startsWith("uptime:")) return undefined;
  const { definition, finds } = functionOf(definitions, token);
  const given = decodeDeclaration(
    {},
    Object.fromEntries(Object.entries(args).map(([key, value]) => [key, unmarked(value)])),
  );
  if (isUnknown(given.declared)) return undefined;
  const all = { ...given.declared, ...(given.account !== undefined && { account: given.account }) };
  try {
    if (finds === "one") return await lookUpOne(definition, connectTo(definition), all);
    return { [definition.plural]: await lookUpAll(definition, connectTo(definition), all) };
  } catch (error) {
    if (error instanceof SettingsUnknown) return undefined;
    throw error;
  }
}

/** Lets the provider check all that a program declares. */
export async function checkProgram(
  { resources, scopeOf }: RunProgram,
  state: readonly StateResource[],
): Promise<ProgramReport> {
  const groups = new Map<Connect, RegisteredResource[]>();
  const checks = new Map<Connect, ProgramCheck>();
  for (const resource of resources) {
    const definition = definitionOf(resource.type);
    if (!definition) continue;
    const connect = scopeOf(resource).connectTo(definition);
    groups.set(connect, [...(groups.get(connect) ?? []), resource]);
    if (!checks.has(connect)) checks.set(connect, new ProgramCheck(definition, connect, state));
  }
  const reports = await Promise.all(
    [...checks].map(([connect, check]) => check.report(groups.get(connect) ?? [])),
  );
  return {
    resources: resources.length,
    imports: sum(reports.map(({ imports }) => imports)),
    refused: reports.flatMap(({ refused }) => refused),
    notes: reports.flatMap(({ notes }) => notes),
  };
}

function stackIn(state: readonly StateResource[]): string | undefined {
  return /^urn:pulumi:(.+?)::/.exec(state[0]?.urn ?? "")?.[1];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Checks the resources of one kind, in the order in which the program declares them. */
class ProgramCheck {
  private readonly lifecycle: Lifecycle;

  constructor(
    definition: Definition,
    connect: Connect,
    private readonly state: readonly StateResource[],
  ) {
    this.lifecycle = new Lifecycle(definition, connect);
  }

  async report(resources: readonly RegisteredResource[]): Promise<ProgramReport> {
    // A resource that is only read has nothing to check.
    const checks = await Promise.all(
      resources.filter(({ readId }) => readId === undefined).map((resource) => this.check(resource)),
    );
    return {
      resources: resources.length,
      imports: checks.filter(({ isImport }) => isImport).length,
      refused: checks.flatMap(({ refused }) => refused ?? []),
      notes: checks.flatMap(({ notes }) => notes),
    };
  }

  private async check(
    resource: RegisteredResource,
  ): Promise<{ isImport: boolean; refused?: RefusedResource; notes: readonly string[] }> {
    const { type, name, aliases, urn } = resource;
    const old = this.state.find(
      (present) => [urn, ...aliases].includes(present.urn) && present.delete !== true,
    );
    const declared = Object.fromEntries(
      Object.entries(resource.inputs).map(([key, value]) => [key, unmarked(value)]),
    );
    // The engine keeps the option of a resource of the plugin to itself.
    const native = resource.importId === undefined ? undefined : importedRecord(resource.importId);
    const stray = native && !old ? wrongAccount(declared.account, native.account, native.id) : undefined;
    const inputs: Record<string, unknown> =
      native && stray === undefined
        ? { ...declared, importId: native.id, __options: { resource: urn } }
        : declared;
    const importId = resource.importId ?? (typeof inputs.importId === "string" ? inputs.importId : undefined);
    const checked = await this.lifecycle.check(decodeDeclaration(old?.inputs ?? {}, inputs));
    const problems =
      stray === undefined ? checked.problems : [...checked.problems, { property: "account", reason: stray }];
    const { notes } = checked;
    const reasons = problems.map(({ property, reason }) => {
      const key = property.replace(/[.[].*$/, "");
      // A reason may quote the value, and the one in the record.
      return isMarked(resource.inputs[key]) && !reason.includes("secret")
        ? `${property} is refused; it is secret, so the reason is not shown`
        : `${property} ${reason}`;
    });
    return {
      isImport: importId !== undefined && !old,
      notes,
      ...(reasons.length > 0 && { refused: { type, name, importId, reasons } }),
    };
  }
}

function isMarked(value: unknown): boolean {
  if (isObject(value) && markKey in value) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isMarked);
}
