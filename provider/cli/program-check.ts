import { UptimeError } from "../api/errors";
import { definitions } from "../definitions";
import type { Definition } from "../definitions/field";
import { isObject } from "../definitions/kinds";
import { markKey } from "../engine/marks";
import { declarationIn } from "../engine/request";
import { Session } from "../lifecycle/connection";
import { Lifecycle } from "../lifecycle/lifecycle";
import { readProject } from "./project";
import { definitionOf } from "./resource-types";
import { runProgram } from "./run-program";
import type { RegisteredResource } from "./run-program";
import type { CommandSettings } from "./setting-options";
import type { StateResource } from "./state";

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

/** Runs a program without the engine, and lets the provider check all that it declares. Creates nothing. */
export async function checkProgram(
  directory: string,
  settings: CommandSettings,
  state: readonly StateResource[],
  env: NodeJS.ProcessEnv,
): Promise<ProgramReport> {
  const project = readProject(directory);
  if (!project.exists) throw new UptimeError(`${directory} is not a Pulumi project: it has no Pulumi.yaml.`);
  const stack = { name: stackIn(state) ?? "stack", config: settings.config, secretKeys: settings.secretKeys };
  const registered = await runProgram(project, stack, env);
  const session = new Session();
  const reports = await Promise.all(
    definitions.map((definition) => {
      const ours = registered.filter(({ type }) => definitionOf(type) === definition);
      return new ProgramCheck(definition, session, settings, state).report(ours);
    }),
  );
  return {
    resources: sum(reports.map(({ resources }) => resources)),
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
    session: Session,
    { forAccount }: CommandSettings,
    private readonly state: readonly StateResource[],
  ) {
    this.lifecycle = new Lifecycle(definition, session.connector(definition, forAccount));
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
      Object.entries(resource.inputs).map(([key, value]) => [key, plain(value)]),
    );
    // The engine keeps the option of a resource of the plugin to itself.
    const inputs: Record<string, unknown> =
      resource.importId === undefined
        ? declared
        : { ...declared, importId: resource.importId, __options: { resource: urn } };
    const importId = typeof inputs.importId === "string" ? inputs.importId : undefined;
    const { problems, notes } = await this.lifecycle.check(declarationIn(old?.inputs ?? {}, inputs));
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

/** An input without the mark of a secret. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  if (markKey in value && "value" in value) return plain(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
}
