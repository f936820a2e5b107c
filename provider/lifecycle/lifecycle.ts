import type { ApiRecord } from "../api/answer";
import { attributesOf, secretsIn, shownOf } from "./attributes";
import { equal, isEmpty, isObject, isShown, parse, reconcile } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import type { Connection } from "./connection";
import { AnotherRecord, Gone, PartialFailure, UptimeError } from "../api/errors";
import type { Definition, Field, Problem } from "../definitions/field";
import { compare, Holders } from "./import";
import type { Deadline } from "../api/limiter";
import { isUnknown } from "../engine/marks";
import { deadlineOf, names, passedOptionsIn, touches } from "../engine/options";
import { problemsOf } from "./validate";
import { NotStored } from "./writer";

/** Inputs or outputs of a resource, as the engine keeps them. */
export type Properties = Readonly<Record<string, unknown>>;

/** A resource as it is after an operation. */
export interface State {
  readonly id: string;
  readonly outputs: Record<string, unknown>;
}

/**
 * The life of one kind of resource: plain inputs, old state and a connection in, a result out. It knows nothing of the
 * process that hosts it.
 *
 * The keys of the outputs say what is managed: a field that was never declared is not among them, one that was declared
 * and then removed is there as null ("managed as empty").
 */
export class Lifecycle {
  private readonly fields: ReadonlyMap<string, Field>;
  private readonly holders = new Map<string | undefined, Holders>();

  constructor(
    private readonly definition: Definition,
    /** The connection to an account, undefined for the one that has no name. */
    private readonly connect: (account: string | undefined) => Connection,
  ) {
    this.fields = new Map(Object.entries(definition.fields));
  }

  /** The inputs with defaults filled in and removed fields made explicit, and all that is wrong with them. */
  check(
    oldInputs: Properties,
    declared: Properties,
  ): { inputs: Record<string, unknown>; problems: Problem[] } {
    const { account, importId, ...own } = declared;
    const inputs: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(own))
      if (value !== undefined && value !== null) inputs[key] = value;
    for (const [key, field] of this.fields) {
      if (key in inputs || field.required) continue;
      if (field.default !== undefined) inputs[key] = field.default;
      else if (key in oldInputs) inputs[key] = null;
    }
    const problems = problemsOf(this.definition, inputs);
    const refuse = (property: string, reason: string | undefined): void => {
      if (reason !== undefined) problems.push({ property, reason });
    };
    if (account !== undefined && account !== null) {
      inputs.account = account;
      refuse("account", this.accountRefused(account));
    }
    if (importId !== undefined && importId !== null) {
      // Ids are numbers at the API, and a program in JavaScript may give one.
      inputs.importId = typeof importId === "number" ? String(importId) : importId;
      refuse("import", this.importRefused(inputs));
    }
    return { inputs, problems };
  }

  /**
   * For the option `import`, what {@link check} cannot do without the API: compares the checked inputs of a resource that
   * is not in state with the record that it is to take over. Adds what is wrong to the problems; returns what a person
   * should know.
   */
  async checkImport(
    oldInputs: Properties,
    declared: Properties,
    { inputs, problems }: { readonly inputs: Properties; readonly problems: Problem[] },
  ): Promise<string[]> {
    const { importId: id } = inputs;
    const isRefused = problems.some(({ property }) => property === "import" || property === "account");
    // Without old inputs the resource is not in state, or it is about to be replaced.
    if (typeof id !== "string" || isRefused || Object.keys(oldInputs).length > 0) return [];
    const holders = this.holdersOf(inputs);
    const importer = importerIn(inputs);
    if (holders.isSpent(id, importer)) return [];
    const { label, singular } = this.definition;
    if (holders.isManagedByAnother(id, importer)) {
      const reason =
        `names the ${singular} ${id}, which another ${label} of this stack has already; if that is this one under its ` +
        "former name in Pulumi, give it the option aliases instead";
      problems.push({ property: "import", reason });
      return [];
    }
    try {
      const record = await this.importable(id, inputs, deadlineOf(inputs, "create"));
      const differences = compare(this.definition, inputs, record, (key) => !isEmpty(declared[key]));
      const malformed = new Set(problems.map(({ property }) => property.replace(/[.[].*$/, "")));
      problems.push(...differences.problems.filter(({ property }) => !malformed.has(property)));
      holders.verify(record);
      if (differences.unseen.length === 0) return [];
      return [
        `${label} ${importer ?? ""}: the API does not show ${differences.unseen.join(", ")} of the ${singular} ${id}, so the ` +
          "import cannot compare it; what the program declares is sent with the first update.",
      ];
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      problems.push({
        property: "import",
        reason: `of the ${singular} ${id} is not possible: ${error.message}`,
      });
      return [];
    }
  }

  /** Which properties an update would change, and which of them can only change by replacement. */
  diff(id: string, outputs: Properties, inputs: Properties): { changed: string[]; replaces: string[] } {
    const { ignoreChanges, replaceOnChanges } = passedOptionsIn(inputs);
    // The engine puts the old inputs in an ignored field's place; the outputs may hold what was set by hand since.
    const changed = this.managed(inputs).filter(
      (key) =>
        !names(ignoreChanges, key) &&
        (!(key in outputs) ||
          isUnknown(inputs[key]) ||
          !equal(this.field(key), valueOf(inputs, key), valueOf(outputs, key))),
    );
    const moved = [
      ...(accountIn(inputs) === accountIn(outputs) ? [] : ["account"]),
      ...(this.isImported(id, outputs, inputs) ? [] : ["importId"]),
    ];
    return {
      changed: [...changed, ...moved],
      replaces: [
        ...changed.filter((key) => this.field(key).replace === true || touches(replaceOnChanges, key)),
        ...moved,
      ],
    };
  }

  async create(inputs: Properties): Promise<State> {
    const { writer, adoptExisting } = this.connect(accountIn(inputs));
    const holders = this.holdersOf(inputs);
    const deadline = deadlineOf(inputs, "create");
    const { importId } = inputs;
    if (typeof importId === "string" && !holders.isSpent(importId, importerIn(inputs)))
      return this.import(importId, inputs, deadline);
    const wanted = this.wanted(inputs, this.managed(inputs));
    const late = [...wanted.keys()].filter((key) => this.field(key).updateOnly);
    const sent = new Map([...wanted].filter(([key]) => !late.includes(key)));
    const adopted = adoptExisting
      ? await writer.adopt(sent, (other) => holders.isHeld(other), deadline)
      : undefined;
    if (adopted) holders.adopt(adopted.id);
    const { id, record } = adopted ?? (await writer.create(sent, deadline));
    try {
      // What is not shown cannot be known of a record that was there before, so it is sent.
      const isUnseen = adopted && [...wanted.keys()].some((key) => this.field(key).writeOnly);
      const isDone =
        !isUnseen &&
        late.every((key) => {
          const shown = record && shownOf(this.field(key), record);
          return shown && isShown(this.field(key), wanted.get(key) ?? null, shown.value);
        });
      const settled = isDone
        ? await writer.settle(id, sent, record, deadline)
        : await writer.update(id, wanted, deadline);
      return { id, outputs: this.outputs(inputs, settled) };
    } catch (error) {
      const seen = error instanceof NotStored ? error.record : record;
      const outputs = this.outputs(inputs, seen ?? { id, shown: {} });
      for (const key of late) if (!seen || !shownOf(this.field(key), seen)) outputs[key] = null;
      throw new PartialFailure(
        id,
        outputs,
        `The ${this.definition.label} was created with the id ${id}, but ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  /**
   * The present outputs of a resource, or undefined when it is gone. A resource without old outputs is one that is only
   * read: every field of it is an output.
   */
  async read(id: string, outputs: Properties): Promise<State | undefined> {
    const { reader } = this.connect(accountIn(outputs));
    this.assertSameServer(outputs);
    const { attributes } = outputs;
    const expected = isObject(attributes)
      ? { values: this.wanted(outputs, this.managed(outputs)), names: Object.keys(attributes) }
      : undefined;
    const record = await ifNotGone(reader.read(id, deadlineOf(outputs, "read"), expected));
    if (!record) return undefined;
    if (isManaged(outputs)) {
      this.assertSameRecord(outputs, record);
      return { id, outputs: this.outputs(outputs, record) };
    }
    const { account } = outputs;
    const given = account === undefined ? {} : { account };
    return { id, outputs: { ...this.outputs(given, record, [...this.fields.keys()]), __readOnly: true } };
  }

  async update(id: string, outputs: Properties, inputs: Properties): Promise<State> {
    const { collection, writer } = this.connect(accountIn(inputs));
    const deadline = deadlineOf(inputs, "update");
    this.assertSameServer(outputs);
    const { ignoreChanges } = passedOptionsIn(inputs);
    const managed = this.managed(inputs);
    const ignored = managed.filter((key) => names(ignoreChanges, key));
    try {
      const identified = [...this.fields.values()].some((field) => field.replace);
      const current = identified || ignored.length > 0 ? await collection.show(id, deadline) : undefined;
      if (current) this.assertSameRecord(outputs, current);
      const wanted = this.wanted(
        inputs,
        managed.filter((key) => !ignored.includes(key) && !this.field(key).replace),
      );
      for (const key of ignored) {
        const field = this.field(key);
        const shown = current && shownOf(field, current);
        if (field.resetByUpdate && shown) wanted.set(key, reconcile(field, undefined, shown.value));
      }
      const settled = await writer.update(id, wanted, deadline);
      return { id, outputs: this.outputs(inputs, settled) };
    } catch (error) {
      if (error instanceof Gone)
        throw new UptimeError(
          `${error.message} Run \`pulumi up --refresh\`: it takes the ${this.definition.label} out of state and creates it again.`,
          { cause: error },
        );
      if (error instanceof NotStored)
        throw new PartialFailure(
          id,
          this.outputs(inputs, error.record),
          `The ${this.definition.label} ${id} was updated, but ${error.message}`,
          { cause: error },
        );
      throw error;
    }
  }

  async delete(id: string, outputs: Properties): Promise<void> {
    const holders = this.holdersOf(outputs);
    if (holders.isHandedOver(id, importerIn(outputs))) return;
    const { collection } = this.connect(accountIn(outputs));
    const deadline = deadlineOf(outputs, "delete");
    this.assertSameServer(outputs);
    await ifNotGone(
      (async () => {
        if ([...this.fields.values()].some((field) => field.replace))
          this.assertSameRecord(outputs, await collection.show(id, deadline));
        await collection.remove(id, deadline);
      })(),
    );
    holders.delete(id);
  }

  /** Takes a record over as it is. Nothing is written, so whatever fails here has had no effect. */
  private async import(id: string, inputs: Properties, deadline: Deadline): Promise<State> {
    const holders = this.holdersOf(inputs);
    const record = holders.takeVerified(id) ?? (await this.importable(id, inputs, deadline));
    const { problems } = compare(this.definition, inputs, record);
    if (problems.length > 0)
      throw new UptimeError(
        `The ${this.definition.singular} ${id} was not imported, and nothing was written: ` +
          `${problems.map(({ property, reason }) => `${property} ${reason}`).join("; ")}.`,
      );
    holders.adopt(id);
    return { id, outputs: this.outputs(inputs, record) };
  }

  /** The record that is to be imported. Throws when there is none. */
  private async importable(id: string, inputs: Properties, deadline: Deadline): Promise<ApiRecord> {
    const { reader } = this.connect(accountIn(inputs));
    try {
      const values = this.wanted(inputs, this.managed(inputs));
      return await reader.read(id, deadline, { values, names: [] });
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      throw new UptimeError(
        `${error.message} If it was imported before, and has been replaced or deleted since, remove the option import.`,
        { cause: error },
      );
    }
  }

  /** Why the option `import` cannot be used as it stands, whatever the record. */
  private importRefused(inputs: Properties): string | undefined {
    const { label, singular } = this.definition;
    const { importId: id } = inputs;
    const importer = importerIn(inputs);
    if (importer === undefined) return `is an option of ${label}, and importId is not a property of it`;
    if (isUnknown(id))
      return `must be known in the preview: it is the id of a ${singular} that is there already, and is looked up then`;
    if (typeof id !== "string" || id.trim() !== id || /^\.{0,2}$/.test(id))
      return `must be the id of a ${singular}, as a text without blanks, not ${JSON.stringify(id)}; leave it out to create one`;
    const holders = this.holdersOf(inputs);
    const other = holders.namedByAnother(id, importer);
    if (other !== undefined)
      return `names the ${singular} ${id}, and so does the option import of ${other}: only one resource can have it`;
    holders.name(id, importer);
    return undefined;
  }

  /** Whether nothing is left to import for a resource in state; remembers which record it has. */
  private isImported(id: string, outputs: Properties, inputs: Properties): boolean {
    const holders = this.holdersOf(outputs);
    const importer = importerIn(inputs);
    const other = holders.namedByAnother(id, importer);
    if (other !== undefined)
      throw new UptimeError(
        `The ${this.definition.singular} ${id} is this resource's, and the option import of ${other} names it too: remove ` +
          "the option there, or this resource.",
      );
    holders.manage(id, importer);
    if (outputs.importId === id) holders.keepImported(id, importerIn(outputs));
    const { importId } = inputs;
    if (typeof importId !== "string") return true;
    // In another account the same id is another record.
    if (accountIn(inputs) !== accountIn(outputs)) return true;
    if (importId !== id && importId !== outputs.importId) return false;
    holders.finish(importId, importer);
    return true;
  }

  /** Why an account cannot be used. */
  private accountRefused(account: unknown): string | undefined {
    if (isUnknown(account)) return "must be known in the preview";
    if (typeof account !== "string" || account === "")
      return "must be the name of an account in uptime:accounts; leave it out for the one without a name";
    try {
      this.connect(account);
    } catch (error) {
      if (error instanceof UptimeError) return `cannot be ${JSON.stringify(account)}: ${error.message}`;
      throw error;
    }
    return undefined;
  }

  private holdersOf(properties: Properties): Holders {
    const account = accountIn(properties);
    let holders = this.holders.get(account);
    if (!holders) this.holders.set(account, (holders = new Holders()));
    return holders;
  }

  private field(key: string): Field {
    const field = this.definition.fields[key];
    if (!field) throw new UptimeError(`${this.definition.label} has no property ${key}.`);
    return field;
  }

  /** The properties that are managed: those that the inputs or outputs name. */
  private managed(properties: Properties): string[] {
    return Object.keys(this.definition.fields).filter((key) => properties[key] !== undefined);
  }

  private wanted(inputs: Properties, keys: readonly string[]): Map<string, Value> {
    return new Map(keys.map((key) => [key, valueOf(inputs, key)]));
  }

  /** Outputs for managed properties: as declared where the record shows the same or nothing, else as it shows them. */
  private outputs(
    declared: Properties,
    record: ApiRecord,
    managed = this.managed(declared),
  ): Record<string, unknown> {
    const outputs: Record<string, unknown> = {};
    for (const key of managed) {
      const field = this.field(key);
      const shown = field.writeOnly ? undefined : shownOf(field, record);
      const value = key in declared ? valueOf(declared, key) : undefined;
      outputs[key] = shown ? reconcile(field, value, shown.value) : (value ?? null);
    }
    outputs.attributes = attributesOf(
      this.definition,
      record,
      managed,
      secretsIn(this.definition, declared, outputs),
    );
    // A replacement that the option import has led to is known by it from then on.
    for (const key of ["account", "importId", "__options"])
      if (declared[key] !== undefined) outputs[key] = declared[key];
    outputs.__server = this.connect(accountIn(declared)).collection.client.address.hash;
    return outputs;
  }

  /** Another install's ids mean other records. */
  private assertSameServer(outputs: Properties): void {
    const { collection, movedFrom } = this.connect(accountIn(outputs));
    const { hash, source, url } = collection.client.address;
    const known = outputs.__server;
    if (typeof known !== "string" || known === hash || movedFrom.includes(known)) return;
    throw new UptimeError(
      `State was made with another address than ${url}, which ${source} names now, so its ids may mean other records. ` +
        `If the install has moved, run \`pulumi config set uptime:movedFrom OLD-ADDRESS\`; otherwise set ${source} back.`,
    );
  }

  /** A record whose identifying field differs from state's is not the one that state means. */
  private assertSameRecord(outputs: Properties, record: ApiRecord): void {
    for (const key of this.managed(outputs)) {
      const field = this.field(key);
      const shown = field.replace && shownOf(field, record);
      if (!shown || isShown(field, valueOf(outputs, key), shown.value)) continue;
      throw new AnotherRecord(
        `The ${this.definition.singular} ${record.id} has the ${key} ${JSON.stringify(parse(field, shown.value))} at the API and ` +
          `${JSON.stringify(outputs[key])} in state: it is another record, so it is left alone. Check that ` +
          `${this.connect(accountIn(outputs)).collection.client.address.source} and the key belong to this stack; if the record was really ` +
          "renamed, take it out of state with `pulumi state delete`.",
      );
    }
  }
}

/** Checked inputs and outputs of ours hold nothing but values of ours. */
function valueOf(properties: Properties, key: string): Value {
  return (properties[key] ?? null) as Value;
}

/** The name of the account that a resource belongs to, undefined for the one without a name. */
function accountIn(properties: Properties): string | undefined {
  return typeof properties.account === "string" ? properties.account : undefined;
}

/** The resource's name in Pulumi, where it has the option `import`. */
function importerIn(properties: Properties): string | undefined {
  return passedOptionsIn(properties).importer;
}

/** Whether outputs are those of a resource that is managed, and not only read. */
export function isManaged(outputs: Properties): boolean {
  return "attributes" in outputs && outputs.__readOnly !== true;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function ifNotGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Gone) return undefined;
    throw error;
  }
}
