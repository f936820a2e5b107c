import type { ApiRecord } from "../api/answer";
import {
  AnotherRecordError,
  GoneError,
  message,
  NotStoredError,
  PartialFailureError,
  quote,
  toError,
  UptimeError,
} from "../api/errors";
import type { Definition, Field } from "../definitions/field";
import { equal } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { isUnknown } from "../definitions/unknown";
import { attributesOf } from "./attributes";
import { Checker } from "./check";
import type { CheckedDeclaration, Declaration } from "./check";
import { compare, differs, shows, valueIn } from "./compare";
import { operationOf } from "./connection";
import type { Connect, Connection } from "./connection";
import { Importer } from "./import";
import { adoptionClaim, unnamed } from "./ledger";
import { names, touches } from "./paths";
import { managedIn, nameOf, valueOf, wantedIn } from "./resource";
import type { Inputs, Options, Outputs, State } from "./resource";

/**
 * The life of one kind of resource: declared inputs, old state and a connection in, a result out. It knows no engine.
 *
 * The keys of the outputs' values say what is managed: a field that was never declared is not among them, one that was
 * declared and then removed is there as null ("managed as empty").
 */
export class Lifecycle {
  private readonly fields: ReadonlyMap<string, Field>;
  private readonly checker: Checker;
  private readonly importer: Importer;

  constructor(
    readonly definition: Definition,
    private readonly connect: Connect,
  ) {
    this.fields = new Map(Object.entries(definition.fields));
    this.importer = new Importer(definition, connect);
    this.checker = new Checker(definition, connect, this.importer);
  }

  /** The inputs with defaults filled in and removed fields made explicit, and all that is wrong with them. */
  check(declaration: Declaration): Promise<CheckedDeclaration> {
    return this.checker.check(declaration);
  }

  /**
   * Which properties an update would change, and which of them only a replacement can change; "account" and "importId" may
   * be among them. Claims the record for the resource in the ledger.
   */
  diff(
    id: string,
    outputs: Outputs,
    inputs: Inputs,
    options: Options,
  ): { changed: string[]; replaces: string[] } {
    const { ignoreChanges, replaceOnChanges } = options;
    // In place of an ignored field the engine puts the old input; the outputs may hold what was set by hand since.
    const changed = managedIn(this.definition, inputs.values).filter(
      (key) => !names(ignoreChanges, key) && !this.isUnchanged(key, outputs, inputs),
    );
    const moved = [
      ...(inputs.account === outputs.account ? [] : ["account"]),
      ...(this.isImportDone(id, outputs, inputs) ? [] : ["importId"]),
    ];
    const replaces = [
      ...changed.filter((key) => this.field(key).replace === true || touches(replaceOnChanges, key)),
      ...moved,
    ];
    this.claim(id, outputs, inputs, options, replaces.length > 0);
    return { changed: [...changed, ...moved], replaces };
  }

  /** Which managed properties of outputs differ from inputs; changes nothing and claims nothing. */
  differences(outputs: Outputs, inputs: Inputs): string[] {
    return managedIn(this.definition, inputs.values).filter((key) => !this.isUnchanged(key, outputs, inputs));
  }

  async create(inputs: Inputs, options: Options): Promise<State> {
    const connection = this.connect(inputs.account);
    const { creator, writer, records, adoptExisting } = connection;
    const operation = operationOf(connection, options);
    const { resource } = options;
    const { importId } = inputs;
    if (importId !== undefined && !records.isSpent(importId, resource)) {
      const record = await this.importer.import(importId, inputs, options, operation);
      return { id: importId, outputs: this.outputs(inputs, record, { claim: resource }) };
    }
    const wanted = wantedIn(this.definition, inputs.values);
    const late = [...wanted.keys()].filter((key) => this.field(key).updateOnly);
    const sent = new Map([...wanted].filter(([key]) => !late.includes(key)));
    // State must tell an adopted record from the same one in the state of the resource that had it before.
    const claimant = adoptionClaim(resource);
    const adopted = adoptExisting ? await creator.adopt(sent, claimant, operation) : undefined;
    const { id, record, status } = adopted ?? (await creator.create(sent, resource, operation));
    const claim = adopted ? claimant : undefined;
    try {
      // What is not shown cannot be known of a record that was there before, so it is sent.
      const isUnseen = adopted && [...wanted.keys()].some((key) => this.field(key).writeOnly);
      const isDone = (key: string): boolean =>
        record !== undefined && compare(this.field(key), wanted.get(key) ?? null, record).outcome === "same";
      const settled =
        !isUnseen && late.every(isDone)
          ? await writer.settle(id, sent, { record, ...(status !== undefined && { status }) }, operation)
          : await writer.update(id, wanted, operation);
      return { id, outputs: this.outputs(inputs, settled, { claim }) };
    } catch (error) {
      const seen = error instanceof NotStoredError ? error.record : (record ?? { id, shown: {} });
      const outputs = this.outputs(inputs, seen, { claim, isPartial: true });
      for (const key of late) if (!shows(this.field(key), seen)) outputs.values[key] = null;
      throw new PartialFailureError(
        id,
        outputs,
        message`The ${this.definition.label} was created with the id ${id}, but ${toError(error)}`,
        { cause: error },
      );
    }
  }

  /** The present outputs of a resource in state, or undefined if it is gone. */
  async read(id: string, outputs: Outputs, options: Options): Promise<State | undefined> {
    const connection = this.connect(outputs.account);
    this.assertSameServer(connection, outputs);
    const { reader, records, refreshAttributes } = connection;
    records.expect(id, outputs.key);
    records.noteRead(id, claimantOf(outputs));
    // An operation that failed half-way has left attributes that nobody has seen.
    const takesAttributes = refreshAttributes || outputs.isPartial === true;
    const wanted = wantedIn(this.definition, outputs.values);
    const operation = operationOf(connection, options);
    const record = await ifNotGone(reader.read(id, takesAttributes ? undefined : wanted, operation));
    if (!record) {
      records.end(id, outputs.importId);
      return undefined;
    }
    this.assertSameRecord(connection, outputs, record);
    const { importId, claim } = outputs;
    const attributes = takesAttributes ? undefined : outputs.attributes;
    return {
      id,
      outputs: this.outputs({ ...outputs, importId }, record, { claim, attributes, isStrict: true }),
    };
  }

  /** A record that is only read, with every field as an output. Throws {@link GoneError} if there is none. */
  async get(id: string, account: string | undefined, options: Options): Promise<State> {
    const connection = this.connect(account);
    const record = await connection.reader.show(id, operationOf(connection, options));
    const values: Record<string, Value> = {};
    for (const [key, field] of this.fields) values[key] = valueIn(field, record) ?? null;
    const attributes = attributesOf(this.definition, record, [...this.fields.keys()]);
    const { address, key } = connection;
    return { id, outputs: { values, attributes, account, server: address.hash, key, isReadOnly: true } };
  }

  async update(id: string, outputs: Outputs, inputs: Inputs, options: Options): Promise<State> {
    const connection = this.connect(inputs.account);
    const { reader, writer, records } = connection;
    const operation = operationOf(connection, options);
    this.assertSameServer(connection, outputs);
    records.expect(id, outputs.key);
    const ignored = managedIn(this.definition, inputs.values).filter((key) =>
      names(options.ignoreChanges, key),
    );
    // What the resource was imported as is known by its state from then on.
    const { claim, importId = inputs.importId } = outputs;
    const after = { ...inputs, importId };
    try {
      const isIdentified = [...this.fields.values()].some((field) => field.replace);
      const current = isIdentified || ignored.length > 0 ? await reader.show(id, operation) : undefined;
      if (current) this.assertSameRecord(connection, outputs, current);
      const wanted = wantedIn(
        this.definition,
        inputs.values,
        (key) => !ignored.includes(key) && this.field(key).replace !== true,
      );
      for (const key of ignored) {
        const field = this.field(key);
        const value = field.resetByUpdate && current ? valueIn(field, current) : undefined;
        if (value !== undefined) wanted.set(key, value);
      }
      const settled = await writer.update(id, wanted, operation);
      return { id, outputs: this.outputs(after, settled, { claim }) };
    } catch (error) {
      if (error instanceof GoneError)
        throw new UptimeError(
          message`${error} Run \`pulumi up --refresh --run-program\`: it removes the ${this.definition.label} from state and
            creates it again.`,
          { cause: error },
        );
      if (error instanceof NotStoredError)
        throw new PartialFailureError(
          id,
          this.outputs(after, error.record, { claim, isPartial: true }),
          message`The ${this.definition.label} ${id} was updated, but ${error}`,
          { cause: error },
        );
      throw error;
    }
  }

  async delete(id: string, outputs: Outputs, options: Options): Promise<void> {
    const connection = this.connect(outputs.account);
    const { collection, reader, records } = connection;
    // The record belongs to another resource now, which has adopted or imported it.
    if (records.release(id, claimantOf(outputs))) return;
    const operation = operationOf(connection, options);
    this.assertSameServer(connection, outputs);
    records.expect(id, outputs.key);
    const remove = async (): Promise<void> => {
      if ([...this.fields.values()].some((field) => field.replace))
        this.assertSameRecord(connection, outputs, await reader.show(id, operation));
      records.write(id);
      await reader.proving(id, operation, () => collection.remove(id, operation));
    };
    records.beginEnd(id);
    try {
      await ifNotGone(remove());
    } catch (error) {
      records.revokeEnd(id);
      throw error;
    }
    records.end(id, outputs.importId);
  }

  /** Whether nothing is left to import for a resource in state. Throws if another resource imports its record. */
  private isImportDone(id: string, outputs: Outputs, inputs: Inputs): boolean {
    const { importId } = inputs;
    if (importId === undefined) return true;
    // In another account the same id is another record.
    if (inputs.account !== outputs.account) return true;
    return importId === id || importId === outputs.importId;
  }

  /** Notes in the ledger which record the resource has. Throws if another resource has it too. */
  private claim(id: string, outputs: Outputs, inputs: Inputs, options: Options, isReplaced: boolean): void {
    const { records } = this.connect(outputs.account);
    const { label } = this.definition;
    const { resource } = options;
    records.expect(id, outputs.key);
    const claimant = claimantOf(outputs);
    if (inputs.importId !== undefined && this.isImportDone(id, outputs, inputs))
      records.finishImport(inputs.importId, resource);
    if (isReplaced) {
      records.noteReplacement(id, claimant, resource);
      return;
    }
    const other = records.noteDiff(id, claimant, resource);
    if (other !== undefined)
      throw new UptimeError(
        `${label} ${id} belongs to ${nameOf(resource) || "this resource"}, and ` +
          `${other === unnamed ? "another resource" : other} has it too: one of them has adopted or imported what the other ` +
          "one manages. Remove one of the two from the program.",
      );
  }

  private isUnchanged(key: string, { values: old }: Outputs, { values }: Inputs): boolean {
    if (!(key in old) || isUnknown(values[key])) return false;
    return equal(this.field(key), valueOf(values, key), valueOf(old, key));
  }

  private field(key: string): Field {
    const field = this.definition.fields[key];
    if (!field) throw new UptimeError(`${this.definition.label} has no property ${key}.`);
    return field;
  }

  /** Outputs for managed properties: as declared if the record shows the same or nothing, else as it shows them. */
  private outputs(
    declared: Inputs | Outputs,
    record: ApiRecord,
    { claim, attributes, isPartial, isStrict }: OutputOptions,
  ): Outputs & { readonly values: Record<string, Value> } {
    const values: Record<string, Value> = {};
    for (const key of managedIn(this.definition, declared.values)) {
      const field = this.field(key);
      const wanted = valueOf(declared.values, key);
      const shown = compare(field, wanted, record);
      if (shown.outcome === "differs" && shown.value === undefined && isStrict)
        throw new UptimeError(shown.problem ?? `The API shows ${field.wire} in a form that cannot be read.`);
      values[key] = shown.outcome === "hidden" ? wanted : (shown.value ?? wanted);
      if (shown.outcome === "differs" && shown.value === null) values[key] = null;
    }
    const { address, key } = this.connect(declared.account);
    return {
      values,
      attributes: attributes ?? attributesOf(this.definition, record, Object.keys(values)),
      account: declared.account,
      importId: declared.importId,
      server: address.hash,
      key,
      claim,
      ...(isPartial && { isPartial }),
    };
  }

  /** The ids of another server mean other records. */
  private assertSameServer({ address, movedFrom }: Connection, { server }: Outputs): void {
    if (server === undefined || server === address.hash || movedFrom.includes(server)) return;
    throw new UptimeError(
      `State was made with another address, not ${address.url} (${address.source}), so its ids may mean other records. If the ` +
        `server has moved, run \`pulumi config set uptime:movedFrom OLD-ADDRESS\`; otherwise change ${address.source} back. If ` +
        "you have already corrected it: `pulumi refresh`, `pulumi destroy` and `--refresh` use the settings of the last `up` " +
        "unless you add --run-program.",
    );
  }

  /** A record whose identifying field differs from state's is not the one that state means. */
  private assertSameRecord({ address }: Connection, outputs: Outputs, record: ApiRecord): void {
    for (const key of managedIn(this.definition, outputs.values)) {
      const field = this.field(key);
      if (!field.replace || !differs(field, valueOf(outputs.values, key), record)) continue;
      throw new AnotherRecordError(
        message`${this.definition.label} ${record.id} has the ${key} ${quote(JSON.stringify(valueIn(field, record)))} in the API
          and ${JSON.stringify(outputs.values[key])} in state: it is another record, so nothing is done to it. Check that
          ${address.source} and the key belong to this stack; if the record was really renamed, remove it from state with
          \`pulumi state delete URN\`.`,
      );
    }
  }
}

interface OutputOptions {
  readonly claim: string | undefined;
  /** Those that state holds, if they are to stay; otherwise the record's. */
  readonly attributes?: Outputs["attributes"] | undefined;
  readonly isPartial?: boolean;
  /** Whether a value that cannot be read is an error; otherwise the wanted one is kept. */
  readonly isStrict?: boolean;
}

/** Which of the resources that may have a record this one is, as its state says. */
function claimantOf({ claim = unnamed }: Outputs): string {
  return claim;
}

async function ifNotGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof GoneError) return undefined;
    throw error;
  }
}
