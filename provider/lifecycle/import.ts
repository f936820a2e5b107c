import type { ApiRecord } from "../api/answer";
import type { Operation } from "../api/operation";
import { GoneError, message, quote, SettingsUnknownError, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { isUnknown } from "../definitions/unknown";
import { compare, shows } from "./compare";
import { operationOf } from "./connection";
import type { Connect } from "./connection";
import { unnamed } from "./ledger";
import { names } from "./paths";
import { nameOf, wantedIn } from "./resource";
import type { Inputs, Options } from "./resource";

/** What is wrong with a property; a record's own words are quoted. */
export interface RefusedProperty {
  readonly property: string;
  readonly reason: string | Message;
}

/** What is wrong with an import, and what a person should know of it. */
export interface CheckedImport {
  readonly problems: readonly RefusedProperty[];
  readonly notes: readonly Message[];
}

/** What a program declares of a resource, before anything of it is checked. */
export interface DeclaredFields {
  /** Fields by property, and whatever else the program has written there. */
  readonly declared: Readonly<Record<string, unknown>>;
  readonly options: Options;
  /** Whether the engine imports the record by itself, so that no other one is created if this run deletes it. */
  readonly isImportedByEngine?: boolean;
}

/** Imports records of one kind: in the preview, and then in the run. Nothing is ever written. */
export class Importer {
  constructor(
    private readonly definition: Definition,
    private readonly connect: Connect,
  ) {}

  /** What the import of a record that is not in state would change, which is refused, and what is known of it. */
  async check(
    inputs: Inputs,
    id: string,
    { declared, options, isImportedByEngine }: DeclaredFields,
  ): Promise<CheckedImport> {
    const { label, singular } = this.definition;
    const { resource, ignoreChanges } = options;
    const refuse = (reason: string | Message): CheckedImport => ({
      problems: [{ property: "import", reason }],
      notes: [],
    });
    try {
      const connection = this.connect(inputs.account);
      const { records } = connection;
      if (records.isSpent(id, resource))
        return isImportedByEngine
          ? refuse(`names ${singular} ${id}, which this run deletes: remove the option import`)
          : { problems: [], notes: [] };
      const holder = records.holderOf(id, resource);
      if (holder !== undefined)
        return refuse(
          `names ${singular} ${id}, which ${holder === unnamed ? `another ${label}` : holder} of this stack has already; ` +
            "if that is this one under its former name in Pulumi, give it the option aliases instead",
        );
      const record = await this.importable(id, inputs, options, operationOf(connection, options));
      records.keepForImport(record);
      const isDeclared = (key: string): boolean => !isEmpty(declared[key]);
      const { problems, unseen } = compareImport(this.definition, inputs, record, ignoreChanges, isDeclared);
      const name = nameOf(resource);
      return {
        problems,
        notes: [
          ...(problems.length === 0
            ? [
                message`${label} ${name} imports ${singular} ${this.describe(record)}. Nothing is created or changed.`,
              ]
            : []),
          ...(unseen.length > 0
            ? [
                message`${label} ${name}: the API does not show ${unseen.join(", ")} of ${singular} ${id}, so the import cannot
                  compare it; what the program declares is sent with the first update.`,
              ]
            : []),
        ],
      };
    } catch (error) {
      if (error instanceof SettingsUnknownError) return { problems: [], notes: [] };
      if (!(error instanceof UptimeError)) throw error;
      return refuse(message`of ${singular} ${id} is not possible: ${error}`);
    }
  }

  /** The record under an id, which belongs to the resource from then on. Whatever fails here has had no effect. */
  async import(id: string, inputs: Inputs, options: Options, operation: Operation): Promise<ApiRecord> {
    const { records } = this.connect(inputs.account);
    const record = records.takeForImport(id) ?? (await this.importable(id, inputs, options, operation));
    const { problems } = compareImport(this.definition, inputs, record, options.ignoreChanges);
    if (problems.length > 0)
      throw new UptimeError(
        message`${this.definition.label} ${id} was not imported, and nothing was written: ${problems.flatMap(
          ({ property, reason }, index) => message`${index > 0 ? "; " : ""}${property} ${reason}`,
        )}.`,
      );
    // A create of this run may have made the record since it was checked.
    const holder = records.holderOf(id, options.resource);
    if (holder !== undefined)
      throw new UptimeError(
        `${this.definition.label} ${id} was not imported, because ${holder === unnamed ? "another resource" : holder} of ` +
          "this stack has it: remove the option import.",
      );
    records.take(id, options.resource);
    return record;
  }

  /** The record that is to be imported. Throws if there is none. */
  private async importable(
    id: string,
    inputs: Inputs,
    { resource }: Options,
    operation: Operation,
  ): Promise<ApiRecord> {
    const { reader, records } = this.connect(inputs.account);
    try {
      const isKnown = (key: string): boolean => !isUnknown(inputs.values[key]);
      return await reader.read(id, wantedIn(this.definition, inputs.values, isKnown), operation, true);
    } catch (error) {
      if (!(error instanceof GoneError)) throw error;
      records.giveUpImport(id, resource);
      throw new UptimeError(
        message`${error} If it was imported before, and has been replaced or deleted since, remove the option import.`,
        { cause: error },
      );
    }
  }

  /** A record as a person recognises it. */
  private describe(record: ApiRecord): Message {
    const shown = ["name", "url"].flatMap((key) => {
      const field = this.definition.fields[key];
      if (!field || field.secret || !shows(field, record)) return [];
      const { outcome, ...rest } = compare(field, null, record);
      return outcome === "differs" && "value" in rest && rest.value !== undefined
        ? [JSON.stringify(rest.value)]
        : [];
    });
    return message`${record.id}${shown.length > 0 ? message` (${quote(shown.join(", "))})` : ""}`;
  }
}

/** How a program differs from a record that it imports. */
interface ImportDifferences {
  readonly problems: RefusedProperty[];
  /** Properties that the record does not show. */
  readonly unseen: string[];
}

/**
 * Compares checked inputs with the record that they import. What is not known yet, and what `ignoreChanges` names, is not
 * compared.
 *
 * @param isDeclared whether the program declares a property; otherwise it has its default
 */
function compareImport(
  definition: Definition,
  { values }: Inputs,
  record: ApiRecord,
  ignoreChanges: readonly string[] | undefined,
  isDeclared: (key: string) => boolean = () => true,
): ImportDifferences {
  const there = `${definition.singular} ${record.id}`;
  const problems: RefusedProperty[] = [];
  const unseen: string[] = [];
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = values[key];
    if (value === undefined || isUnknown(value) || names(ignoreChanges, key)) continue;
    const shown = compare(field, value as Value, record);
    if (shown.outcome === "hidden" && !isEmpty(value)) unseen.push(key);
    if (shown.outcome !== "differs") continue;
    const wanted = JSON.stringify(value);
    const found = quote(JSON.stringify(shown.value ?? null));
    const reason = field.secret
      ? `differs from what ${there} has (both are secret, so neither is shown)`
      : shown.problem !== undefined
        ? message`cannot be compared: ${shown.problem}`
        : isDeclared(key)
          ? message`is ${wanted} in the program and ${found} in ${there}`
          : message`is not declared, so it would be ${wanted}, its default, and is ${found} in ${there}`;
    problems.push({
      property: key,
      reason: message`${reason}. An import changes nothing: declare what is there, or change it there first`,
    });
  }
  return { problems, unseen };
}
