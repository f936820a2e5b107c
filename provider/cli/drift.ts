import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { connect } from "../lifecycle/connection";
import type { Connection } from "../lifecycle/connection";
import { domain } from "../definitions/domain";
import { AnotherRecord, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { Lifecycle } from "../lifecycle/lifecycle";
import { monitor } from "../definitions/monitor";
import { typeToken } from "../engine/identity";
import { codeCell } from "./markdown";
import { deploymentIn, exportedState, labelIn, nameIn, revealed } from "./pulumi";
import type { Deployment, StateResource } from "./pulumi";
import { settingsOf } from "./settings";
import type { SettingFlags, SettingsOf } from "./settings";
import { Progress, visible } from "./terminal";
import type { Surroundings } from "./terminal";

/** The options of `pulumi-uptime drift`. */
export interface DriftOptions extends SettingFlags {
  /** The project's folder. */
  readonly cwd?: string;
  readonly stack?: string;
  /** A file with the stack's state, in place of asking Pulumi for it. */
  readonly state?: string;
}

/** A property that is not at the API as it is in state. */
export interface DriftedProperty {
  readonly property: string;
  /** Both are left out of secrets. */
  readonly declared?: unknown;
  readonly actual?: unknown;
  readonly secret: boolean;
}

/** A resource that is not at the API as it is in state. */
export interface DriftedResource {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly kind: "changed" | "gone" | "another record";
  readonly properties: readonly DriftedProperty[];
  /** What there is to say of a resource of another kind than `changed`. */
  readonly message?: string;
}

/** What was found, and what could not be looked at. */
export interface DriftReport {
  /** How many resources were compared. */
  readonly checked: number;
  readonly drifted: readonly DriftedResource[];
  readonly errors: readonly { readonly urn: string; readonly message: string }[];
  readonly notes: readonly string[];
}

const definitions = [domain, monitor];

/** Compares a stack's state with the API. Reads both, writes neither. */
export async function findDrift(options: DriftOptions, surroundings: Surroundings): Promise<DriftReport> {
  const { env } = surroundings;
  const place = { cwd: resolve(surroundings.cwd, options.cwd ?? "."), env, stack: options.stack };
  const usesStack = options.state === undefined || options.stack !== undefined;
  const { settings: settingsIn } = await settingsOf(options, surroundings, usesStack ? place : undefined);
  const state =
    options.state === undefined
      ? await exportedState(place, true)
      : read(resolve(surroundings.cwd, options.state));

  const managed = (state.deployment.resources ?? []).filter(
    ({ id, external, delete: isLeaving }) => id !== undefined && external !== true && isLeaving !== true,
  );
  const progress = new Progress(surroundings.stderr);
  const drifted: DriftedResource[] = [];
  const errors: { urn: string; message: string }[] = [];
  const encrypted = new Set<string>();
  let checked = 0;
  const compare = async (resource: StateResource, comparison: Comparison): Promise<void> => {
    try {
      const found = await comparison.of(resource);
      checked++;
      if (found) drifted.push(found);
      progress.show(`Compared ${checked} …`);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      errors.push({ urn: resource.urn, message: error.message });
    }
  };
  try {
    await Promise.all(
      definitions.flatMap((definition) => {
        const comparison = new Comparison(definition, settingsIn, encrypted);
        return managed
          .filter(({ type }) => type === typeToken(definition))
          .map((resource) => compare(resource, comparison));
      }),
    );
  } finally {
    progress.end();
  }
  const order = managed.map(({ urn }) => urn);
  const inOrder = (a: { urn: string }, b: { urn: string }): number =>
    order.indexOf(a.urn) - order.indexOf(b.urn);
  return {
    checked,
    drifted: drifted.sort(inOrder),
    errors: errors.sort(inOrder),
    notes:
      encrypted.size === 0
        ? []
        : [
            `Encrypted in the state, and so not compared: ${[...encrypted].sort().join(", ")}. ` +
              "`pulumi stack export --show-secrets` writes them in the clear.",
          ],
  };
}

/** Compares resources of one kind with their records, by the provider's own reading and its own idea of equal. */
class Comparison {
  private readonly lifecycle: Lifecycle;

  constructor(
    private readonly definition: Definition,
    settingsIn: SettingsOf,
    /** Is told which properties are encrypted. */
    private readonly encrypted: Set<string>,
  ) {
    const connections = new Map<string | undefined, Connection>();
    this.lifecycle = new Lifecycle(definition, (account) => {
      const connection = connections.get(account) ?? connect(definition, settingsIn(account));
      connections.set(account, connection);
      return connection;
    });
  }

  async of(resource: StateResource): Promise<DriftedResource | undefined> {
    const { urn, type, id = "" } = resource;
    const inputs = this.inTheClear(resource.inputs);
    const outputs = this.inTheClear(resource.outputs);
    const found = { urn, type, name: nameIn(urn), id, properties: [] };
    let actual: Readonly<Record<string, unknown>>;
    try {
      const state = await this.lifecycle.read(id, outputs);
      if (!state) return { ...found, kind: "gone", message: "is not at the API any more" };
      actual = state.outputs;
    } catch (error) {
      if (!(error instanceof AnotherRecord)) throw error;
      return { ...found, kind: "another record", message: error.message };
    }
    const properties = this.lifecycle.diff(id, actual, inputs).changed.flatMap((property) => {
      const field = this.definition.fields[property];
      if (!field) return [];
      if (field.secret) return [{ property, secret: true }];
      return [{ property, declared: inputs[property], actual: actual[property], secret: false }];
    });
    return properties.length === 0 ? undefined : { ...found, kind: "changed", properties };
  }

  /** Properties without those that are still encrypted. */
  private inTheClear(properties: StateResource["inputs"] = {}): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(properties).flatMap(([key, value]) => {
        const plain = revealed(value);
        if (plain === undefined) this.encrypted.add(`${this.definition.label}.${key}`);
        return plain === undefined ? [] : [[key, plain] as const];
      }),
    );
  }
}

function read(path: string): Deployment {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UptimeError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return deploymentIn(text, path);
}

const columns = ["Resource", "Property", "Declared", "Actual"] as const;

/** One line for each property, or for the whole resource. */
function rowsOf({ drifted }: DriftReport): string[][] {
  return drifted.flatMap(({ type, name, kind, properties, message = "" }) => {
    const resource = `${labelIn(type)} ${name}`;
    if (kind !== "changed") return [[resource, `(${kind})`, "", message]];
    return properties.map(({ property, declared, actual, secret }) =>
      secret
        ? [resource, property, "[secret]", "differs"]
        : [resource, property, JSON.stringify(declared ?? null), JSON.stringify(actual ?? null)],
    );
  });
}

const summaryOf = ({ checked, drifted, errors }: DriftReport): string => {
  const looked = `${checked} ${checked === 1 ? "resource" : "resources"} compared`;
  const failed = errors.length > 0 ? `, ${errors.length} could not be` : "";
  const result = drifted.length === 0 ? "no drift" : `${drifted.length} drifted`;
  return `${looked}${failed}: ${result}.`;
};

/** For a person: a table, if there is drift. */
export function driftTable(report: DriftReport): string {
  const rows = rowsOf(report).map((row) => row.map((cell) => shortened(visible(cell))));
  const table = [[...columns], ...rows];
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const shown = rows.length > 0 ? [...lines, ""] : [];
  return `${[...shown, summaryOf(report), ...report.notes].join("\n")}\n`;
}

function shortened(cell: string): string {
  return cell.length > 60 ? `${cell.slice(0, 59)}…` : cell;
}

/** For a comment on a pull request, or a page of CI. */
export function driftMarkdown(report: DriftReport): string {
  const cell = (text: string): string => (text === "" ? "" : codeCell(text.slice(0, 500)));
  const rows = rowsOf(report).map((row) => `| ${row.map(cell).join(" | ")} |`);
  const table =
    rows.length > 0 ? [`| ${columns.join(" | ")} |`, "| --- | --- | --- | --- |", ...rows, ""] : [];
  const errors = report.errors.map(({ urn, message }) => `- ${codeCell(`${nameIn(urn)}: ${message}`)}`);
  const failed = errors.length > 0 ? ["", "These could not be compared:", "", ...errors] : [];
  return `${[...table, summaryOf(report), ...report.notes, ...failed].join("\n")}\n`;
}
