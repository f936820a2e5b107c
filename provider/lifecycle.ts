import type { ApiRecord } from "./answer";
import { attributesOf, secretsIn, shownOf } from "./attributes";
import { equal, isObject, isShown, parse, reconcile } from "./codec";
import type { Value } from "./codec";
import type { Connection } from "./connection";
import { Gone, PartialFailure, UptimeError } from "./errors";
import type { Definition, Field, Problem } from "./fields";
import { deadlineOf, names, passedOptionsIn, touches } from "./passed-options";
import { isUnknown, problemsOf } from "./validate";
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
  /** Ids of resources that state is known to hold, so that none of them is adopted by another. */
  private readonly managedIds = new Set<string>();

  constructor(
    private readonly definition: Definition,
    private readonly connect: () => Connection,
  ) {
    this.fields = new Map(Object.entries(definition.fields));
  }

  /** The inputs with defaults filled in and removed fields made explicit, and all that is wrong with them. */
  check(
    oldInputs: Properties,
    declared: Properties,
  ): { inputs: Record<string, unknown>; problems: Problem[] } {
    const inputs: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(declared))
      if (value !== undefined && value !== null) inputs[key] = value;
    for (const [key, field] of this.fields) {
      if (key in inputs || field.required) continue;
      if (field.default !== undefined) inputs[key] = field.default;
      else if (key in oldInputs) inputs[key] = null;
    }
    return { inputs, problems: problemsOf(this.definition, inputs) };
  }

  /** Which properties an update would change, and which of them can only change by replacement. */
  diff(id: string, outputs: Properties, inputs: Properties): { changed: string[]; replaces: string[] } {
    this.managedIds.add(id);
    const { ignoreChanges, replaceOnChanges } = passedOptionsIn(inputs);
    // The engine puts the old inputs in an ignored field's place; the outputs may hold what was set by hand since.
    const changed = this.managed(inputs).filter(
      (key) =>
        !names(ignoreChanges, key) &&
        (!(key in outputs) ||
          isUnknown(inputs[key]) ||
          !equal(this.field(key), valueOf(inputs, key), valueOf(outputs, key))),
    );
    return {
      changed,
      replaces: changed.filter((key) => this.field(key).replace === true || touches(replaceOnChanges, key)),
    };
  }

  async create(inputs: Properties): Promise<State> {
    const { writer, adoptExisting } = this.connect();
    const deadline = deadlineOf(inputs, "create");
    const wanted = this.wanted(inputs, this.managed(inputs));
    const late = [...wanted.keys()].filter((key) => this.field(key).updateOnly);
    const sent = new Map([...wanted].filter(([key]) => !late.includes(key)));
    const adopted = adoptExisting
      ? await writer.adopt(sent, (other) => this.managedIds.has(other), deadline)
      : undefined;
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

  /** The present outputs of a resource, or undefined when it is gone. Without old outputs every field is read. */
  async read(id: string, outputs: Properties): Promise<State | undefined> {
    const { reader } = this.connect();
    this.assertSameServer(outputs);
    const { attributes } = outputs;
    const expected = isObject(attributes)
      ? { values: this.wanted(outputs, this.managed(outputs)), names: Object.keys(attributes) }
      : undefined;
    const record = await ifNotGone(reader.read(id, deadlineOf(outputs, "read"), expected));
    if (!record) return undefined;
    if (expected) {
      this.assertSameRecord(outputs, record);
      return { id, outputs: this.outputs(outputs, record) };
    }
    return {
      id,
      outputs: this.outputs(Object.fromEntries([...this.fields.keys()].map((key) => [key, null])), record),
    };
  }

  async update(id: string, outputs: Properties, inputs: Properties): Promise<State> {
    const { collection, writer } = this.connect();
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
    const { collection } = this.connect();
    const deadline = deadlineOf(outputs, "delete");
    this.assertSameServer(outputs);
    await ifNotGone(
      (async () => {
        if ([...this.fields.values()].some((field) => field.replace))
          this.assertSameRecord(outputs, await collection.show(id, deadline));
        await collection.remove(id, deadline);
      })(),
    );
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
  private outputs(declared: Properties, record: ApiRecord): Record<string, unknown> {
    const managed = this.managed(declared);
    const outputs: Record<string, unknown> = {};
    for (const key of managed) {
      const field = this.field(key);
      const shown = field.writeOnly ? undefined : shownOf(field, record);
      outputs[key] = shown ? reconcile(field, valueOf(declared, key), shown.value) : valueOf(declared, key);
    }
    outputs.attributes = attributesOf(
      this.definition,
      record,
      managed,
      secretsIn(this.definition, declared, outputs),
    );
    if (declared.__options !== undefined) outputs.__options = declared.__options;
    outputs.__server = this.connect().collection.client.address.hash;
    return outputs;
  }

  /** Another install's ids mean other records. */
  private assertSameServer(outputs: Properties): void {
    const { collection, movedFrom } = this.connect();
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
      throw new UptimeError(
        `The ${this.definition.singular} ${record.id} has the ${key} ${JSON.stringify(parse(field, shown.value))} at the API and ` +
          `${JSON.stringify(outputs[key])} in state: it is another record, so it is left alone. Check that ` +
          `${this.connect().collection.client.address.source} and the key belong to this stack; if the record was really ` +
          "renamed, take it out of state with `pulumi state delete`.",
      );
    }
  }
}

/** Checked inputs and outputs of ours hold nothing but values of ours. */
function valueOf(properties: Properties, key: string): Value {
  return (properties[key] ?? null) as Value;
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
