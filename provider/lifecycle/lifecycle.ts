import type { ApiRecord } from "../api/answer";
import { deadlineAfter } from "../api/deadline";
import type { Deadline } from "../api/deadline";
import { AnotherRecord, Gone, UptimeError } from "../api/errors";
import type { Definition, Field, Problem } from "../definitions/field";
import { equal, isEmpty } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { isUnknown, unknown } from "../definitions/unknown";
import { attributesOf, cleaned, outputCleaner } from "./attributes";
import { compare, differs, shows, valueIn } from "./compare";
import type { Connect, Connection } from "./connection";
import { compareImport } from "./import";
import { adoptionClaim, unnamed } from "./ledger";
import { names, touches } from "./paths";
import type { Inputs, Options, Outputs, State } from "./resource";
import { problemsOf, topLevel } from "./validate";
import { NotStored } from "./writer";

/** What a program declares of a resource, before anything of it is checked. */
export interface Declaration {
  /** Fields by property, and whatever else the program has written there. */
  readonly declared: Readonly<Record<string, unknown>>;
  readonly account?: unknown;
  readonly importId?: unknown;
  /** The checked inputs in state; undefined if the resource is not in state or is about to be replaced. */
  readonly old?: Inputs | undefined;
  readonly options: Options;
}

/** A checked declaration: what is kept of it, what is wrong with it, and what a person should know. */
export interface CheckedDeclaration {
  readonly inputs: Inputs;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
}

/** The record exists, but what followed failed: state must keep its id. */
export class PartialFailure extends UptimeError {
  constructor(
    readonly id: string,
    readonly outputs: Outputs,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The settings of an account cannot be known yet, in a preview. */
export class SettingsUnknown extends UptimeError {}

/**
 * The life of one kind of resource: declared inputs, old state and a connection in, a result out. It knows no engine.
 *
 * The keys of the outputs' values say what is managed: a field that was never declared is not among them, one that was
 * declared and then removed is there as null ("managed as empty").
 */
export class Lifecycle {
  private readonly fields: ReadonlyMap<string, Field>;

  constructor(
    readonly definition: Definition,
    private readonly connect: Connect,
  ) {
    this.fields = new Map(Object.entries(definition.fields));
  }

  /** The inputs with defaults filled in and removed fields made explicit, and all that is wrong with them. */
  async check(declaration: Declaration): Promise<CheckedDeclaration> {
    const { declared, old, options } = declaration;
    const values: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(declared))
      if (value !== undefined && value !== null) values[key] = value;
    for (const [key, field] of this.fields) {
      if (key in values || field.required) continue;
      if (field.default !== undefined) values[key] = field.default;
      else if (old && key in old.values) values[key] = null;
    }
    const problems = problemsOf(this.definition, values);
    const account = this.checkAccount(declaration.account, problems);
    const importId = this.checkImportId(declaration, account, problems);
    const inputs = { values, account, importId };
    const isRefused = problems.some(({ property }) => property === "import" || property === "account");
    if (importId === undefined || old || isRefused) return { inputs, problems, notes: [] };
    const { problems: differences, notes } = await this.checkImport(inputs, importId, declared, options);
    const malformed = new Set(problems.map(({ property }) => topLevel(property)));
    const others = differences.filter(({ property }) => !malformed.has(property));
    return { inputs, problems: [...problems, ...others], notes };
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
    const changed = this.managed(inputs.values).filter(
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
    return this.managed(inputs.values).filter((key) => !this.isUnchanged(key, outputs, inputs));
  }

  async create(inputs: Inputs, options: Options): Promise<State> {
    const connection = this.connect(inputs.account);
    const { creator, writer, records, adoptExisting } = connection;
    const deadline = this.deadline(connection, options);
    const { resource } = options;
    if (inputs.importId !== undefined && !records.isSpent(inputs.importId, resource))
      return this.import(inputs.importId, inputs, options, deadline);
    const wanted = this.wanted(inputs.values);
    const late = [...wanted.keys()].filter((key) => this.field(key).updateOnly);
    const sent = new Map([...wanted].filter(([key]) => !late.includes(key)));
    // State must tell an adopted record from the same one in the state of the resource that had it before.
    const claimant = adoptionClaim(resource);
    const adopted = adoptExisting ? await creator.adopt(sent, claimant, deadline) : undefined;
    const { id, record, status } = adopted ?? (await creator.create(sent, resource, deadline));
    const claim = adopted ? claimant : undefined;
    try {
      // What is not shown cannot be known of a record that was there before, so it is sent.
      const isUnseen = adopted && [...wanted.keys()].some((key) => this.field(key).writeOnly);
      const isDone = (key: string): boolean =>
        record !== undefined && compare(this.field(key), wanted.get(key) ?? null, record).outcome === "same";
      const settled =
        !isUnseen && late.every(isDone)
          ? await writer.settle(id, sent, { record, ...(status !== undefined && { status }) }, deadline)
          : await writer.update(id, wanted, deadline);
      return { id, outputs: this.outputs(inputs, settled, { claim }) };
    } catch (error) {
      const seen = error instanceof NotStored ? error.record : (record ?? { id, shown: {} });
      const outputs = this.outputs(inputs, seen, { claim, isPartial: true });
      for (const key of late) if (!shows(this.field(key), seen)) outputs.values[key] = null;
      throw new PartialFailure(
        id,
        outputs,
        `The ${this.definition.label} was created with the id ${id}, but ${messageOf(error)}`,
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
    const wanted = this.wanted(outputs.values);
    const deadline = this.deadline(connection, options);
    const record = await ifNotGone(reader.read(id, takesAttributes ? undefined : wanted, deadline));
    if (!record) {
      records.end(id, outputs.importId);
      return undefined;
    }
    this.assertSameRecord(connection, outputs, record);
    const { importId, claim } = outputs;
    const read = this.outputs({ ...outputs, importId }, record, { claim, isStrict: true });
    return {
      id,
      outputs: takesAttributes
        ? read
        : {
            ...read,
            attributes: cleaned(outputs.attributes, outputCleaner(this.definition, outputs.values)),
          },
    };
  }

  /** A record that is only read, with every field as an output. Throws {@link Gone} if there is none. */
  async get(id: string, account: string | undefined, options: Options): Promise<State> {
    const connection = this.connect(account);
    const record = await connection.reader.show(id, this.deadline(connection, options));
    const values: Record<string, Value> = {};
    for (const [key, field] of this.fields) values[key] = valueIn(field, record) ?? null;
    const attributes = attributesOf(
      this.definition,
      record,
      [...this.fields.keys()],
      outputCleaner(this.definition, values),
    );
    const { address, key } = connection;
    return { id, outputs: { values, attributes, account, server: address.hash, key, isReadOnly: true } };
  }

  async update(id: string, outputs: Outputs, inputs: Inputs, options: Options): Promise<State> {
    const connection = this.connect(inputs.account);
    const { reader, writer, records } = connection;
    const deadline = this.deadline(connection, options);
    this.assertSameServer(connection, outputs);
    records.expect(id, outputs.key);
    const ignored = this.managed(inputs.values).filter((key) => names(options.ignoreChanges, key));
    // What the resource was imported as is known by its state from then on.
    const { claim, importId = inputs.importId } = outputs;
    const after = { ...inputs, importId };
    try {
      const isIdentified = [...this.fields.values()].some((field) => field.replace);
      const current = isIdentified || ignored.length > 0 ? await reader.show(id, deadline) : undefined;
      if (current) this.assertSameRecord(connection, outputs, current);
      const wanted = this.wanted(
        inputs.values,
        (key) => !ignored.includes(key) && this.field(key).replace !== true,
      );
      for (const key of ignored) {
        const field = this.field(key);
        const value = field.resetByUpdate && current ? valueIn(field, current) : undefined;
        if (value !== undefined) wanted.set(key, value);
      }
      const settled = await writer.update(id, wanted, deadline);
      return { id, outputs: this.outputs(after, settled, { claim }) };
    } catch (error) {
      if (error instanceof Gone)
        throw new UptimeError(
          `${error.message} Run \`pulumi up --refresh --run-program\`: it removes the ${this.definition.label} from state and ` +
            "creates it again.",
          { cause: error },
        );
      if (error instanceof NotStored)
        throw new PartialFailure(
          id,
          this.outputs(after, error.record, { claim, isPartial: true }),
          `The ${this.definition.label} ${id} was updated, but ${error.message}`,
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
    const deadline = this.deadline(connection, options);
    this.assertSameServer(connection, outputs);
    records.expect(id, outputs.key);
    const remove = async (): Promise<void> => {
      if ([...this.fields.values()].some((field) => field.replace))
        this.assertSameRecord(connection, outputs, await reader.show(id, deadline));
      records.write(id);
      await reader.proving(id, deadline, () => collection.remove(id, deadline));
    };
    await ifNotGone(remove());
    records.end(id, outputs.importId);
  }

  /** Imports a record. Nothing is written, so whatever fails here has had no effect. */
  private async import(id: string, inputs: Inputs, options: Options, deadline: Deadline): Promise<State> {
    const { records } = this.connect(inputs.account);
    const record = records.takeForImport(id) ?? (await this.importable(id, inputs, options, deadline));
    const { problems } = compareImport(this.definition, inputs, record, options.ignoreChanges);
    if (problems.length > 0)
      throw new UptimeError(
        `The ${this.definition.singular} ${id} was not imported, and nothing was written: ` +
          `${problems.map(({ property, reason }) => `${property} ${reason}`).join("; ")}.`,
      );
    // A create of this run may have made the record since it was checked.
    const holder = records.holderOf(id, options.resource);
    if (holder !== undefined)
      throw new UptimeError(
        `The ${this.definition.singular} ${id} was not imported, because ${holder === unnamed ? "another resource" : holder} of ` +
          "this stack has it: remove the option import.",
      );
    records.take(id, options.resource);
    return { id, outputs: this.outputs(inputs, record, { claim: options.resource }) };
  }

  /** The record that is to be imported. Throws if there is none. */
  private async importable(
    id: string,
    inputs: Inputs,
    { resource }: Options,
    deadline: Deadline,
  ): Promise<ApiRecord> {
    const { reader, records } = this.connect(inputs.account);
    try {
      const isKnown = (key: string): boolean => !isUnknown(inputs.values[key]);
      return await reader.read(id, this.wanted(inputs.values, isKnown), deadline, true);
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      records.giveUpImport(id, resource);
      throw new UptimeError(
        `${error.message} If it was imported before, and has been replaced or deleted since, remove the option import.`,
        { cause: error },
      );
    }
  }

  /** What the import of a record that is not in state would change, which is refused, and what is known of it. */
  private async checkImport(
    inputs: Inputs,
    id: string,
    declared: Readonly<Record<string, unknown>>,
    options: Options,
  ): Promise<{ problems: readonly Problem[]; notes: readonly string[] }> {
    const { label, singular } = this.definition;
    const { resource, ignoreChanges } = options;
    const refuse = (reason: string): { problems: Problem[]; notes: string[] } => ({
      problems: [{ property: "import", reason }],
      notes: [],
    });
    try {
      const connection = this.connect(inputs.account);
      const { records } = connection;
      if (records.isSpent(id, resource)) return { problems: [], notes: [] };
      const holder = records.holderOf(id, resource);
      if (holder !== undefined)
        return refuse(
          `names the ${singular} ${id}, which ${holder === unnamed ? `another ${label}` : holder} of this stack has already; ` +
            "if that is this one under its former name in Pulumi, give it the option aliases instead",
        );
      const record = await this.importable(id, inputs, options, this.deadline(connection, options));
      records.keepForImport(record);
      const isDeclared = (key: string): boolean => !isEmpty(declared[key]);
      const { problems, unseen } = compareImport(this.definition, inputs, record, ignoreChanges, isDeclared);
      const name = nameOf(resource);
      return {
        problems,
        notes: [
          ...(problems.length === 0
            ? [
                `${label} ${name} imports the ${singular} ${this.describe(record)}. Nothing is created or changed.`,
              ]
            : []),
          ...(unseen.length > 0
            ? [
                `${label} ${name}: the API does not show ${unseen.join(", ")} of the ${singular} ${id}, so the import cannot ` +
                  "compare it; what the program declares is sent with the first update.",
              ]
            : []),
        ],
      };
    } catch (error) {
      if (error instanceof SettingsUnknown) return { problems: [], notes: [] };
      if (!(error instanceof UptimeError)) throw error;
      return refuse(`of the ${singular} ${id} is not possible: ${error.message}`);
    }
  }

  /** A record as a person recognises it. */
  private describe(record: ApiRecord): string {
    const shown = ["name", "url"].flatMap((key) => {
      const field = this.fields.get(key);
      if (!field || field.secret || !shows(field, record)) return [];
      const { outcome, ...rest } = compare(field, null, record);
      return outcome === "differs" && "value" in rest && rest.value !== undefined
        ? [JSON.stringify(rest.value)]
        : [];
    });
    return `${record.id}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}`;
  }

  /** The account by its name; adds to the problems why it cannot be used. */
  private checkAccount(account: unknown, problems: Problem[]): string | undefined {
    const refuse = (reason: string): undefined => {
      problems.push({ property: "account", reason });
    };
    if (account === undefined || account === null) {
      this.assertSettings(undefined);
      return undefined;
    }
    if (isUnknown(account)) {
      refuse("must be known in the preview");
      return;
    }
    if (typeof account !== "string" || account === "") {
      refuse("must be the name of an account in uptime:accounts; leave it out for the one without a name");
      return;
    }
    try {
      this.assertSettings(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      refuse(`cannot be ${JSON.stringify(account)}: ${error.message}`);
    }
    return account;
  }

  /** So that a preview refuses settings that are missing or malformed. */
  private assertSettings(account: string | undefined): void {
    try {
      this.connect(account);
    } catch (error) {
      if (!(error instanceof SettingsUnknown)) throw error;
    }
  }

  /** The id in the option `import`; adds to the problems why it cannot be used. */
  private checkImportId(
    { importId: given, old, options: { resource } }: Declaration,
    account: string | undefined,
    problems: Problem[],
  ): string | undefined {
    const { label, singular } = this.definition;
    const refuse = (reason: string): undefined => {
      problems.push({ property: "import", reason });
    };
    if (given === undefined || given === null) return undefined;
    if (resource === undefined) {
      refuse(`is an option of ${label}, and importId is not a property of it`);
      return;
    }
    if (given === unknown) {
      refuse(
        `must be known in the preview: it is the id of a ${singular} that exists, which is looked up then`,
      );
      return;
    }
    // In the API ids are numbers, and a program in JavaScript may give one.
    const id = typeof given === "number" ? String(given) : given;
    if (typeof id !== "string" || id.trim() !== id || /^\.{0,2}$/.test(id)) {
      refuse(
        `must be the id of a ${singular}, as a string without spaces, not ${JSON.stringify(id)}; leave it out to create one`,
      );
      return;
    }
    // What was imported in an earlier run is in state, and claims nothing anew.
    if (id === old?.importId || problems.some(({ property }) => property === "account")) return id;
    try {
      const first = this.connect(account).records.nameImport(id, resource);
      if (first !== resource)
        refuse(
          `names the ${singular} ${id}, and so does the option import of ${first}: only one resource can have it`,
        );
    } catch (error) {
      if (!(error instanceof SettingsUnknown)) throw error;
    }
    return id;
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
    const { singular } = this.definition;
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
        `The ${singular} ${id} belongs to ${nameOf(resource) || "this resource"}, and ` +
          `${other === unnamed ? "another resource" : other} has it too: one of them has adopted or imported what the other ` +
          "one manages. Remove one of the two from the program.",
      );
  }

  private isUnchanged(key: string, { values: old }: Outputs, { values }: Inputs): boolean {
    if (!(key in old) || isUnknown(values[key])) return false;
    return equal(this.field(key), valueOf(values, key), valueOf(old, key));
  }

  private deadline({ clock }: Connection, { timeout, cancel }: Options): Deadline {
    return deadlineAfter(timeout, { clock, cancel });
  }

  private field(key: string): Field {
    const field = this.definition.fields[key];
    if (!field) throw new UptimeError(`${this.definition.label} has no property ${key}.`);
    return field;
  }

  /** The properties that are managed: those that the values name. */
  private managed(values: Readonly<Record<string, unknown>>): string[] {
    return [...this.fields.keys()].filter((key) => values[key] !== undefined);
  }

  private wanted(
    values: Readonly<Record<string, unknown>>,
    only: (key: string) => boolean = () => true,
  ): Map<string, Value> {
    return new Map(
      this.managed(values)
        .filter(only)
        .map((key) => [key, valueOf(values, key)]),
    );
  }

  /** Outputs for managed properties: as declared if the record shows the same or nothing, else as it shows them. */
  private outputs(
    declared: Inputs | Outputs,
    record: ApiRecord,
    { claim, isPartial, isStrict }: OutputOptions,
  ): Outputs & { readonly values: Record<string, Value> } {
    const values: Record<string, Value> = {};
    for (const key of this.managed(declared.values)) {
      const field = this.field(key);
      const wanted = valueOf(declared.values, key);
      const shown = compare(field, wanted, record);
      if (shown.outcome === "differs" && shown.value === undefined && isStrict)
        throw new UptimeError(shown.problem ?? `The API shows ${field.wire} in a form that cannot be read.`);
      values[key] = shown.outcome === "hidden" ? wanted : (shown.value ?? wanted);
      if (shown.outcome === "differs" && shown.value === null) values[key] = null;
    }
    const { address, key } = this.connect(declared.account);
    const clean = outputCleaner(this.definition, declared.values, values);
    return {
      values,
      attributes: attributesOf(this.definition, record, Object.keys(values), clean),
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
      `State was made with another address than ${address.url}, which ${address.source} names now, so its ids may mean other ` +
        `records. If the server has moved, run \`pulumi config set uptime:movedFrom OLD-ADDRESS\`; otherwise set ${address.source} ` +
        "back. If you have just set it right: `pulumi refresh`, `pulumi destroy` and `--refresh` use the settings of the last " +
        "`up` unless you add --run-program.",
    );
  }

  /** A record whose identifying field differs from state's is not the one that state means. */
  private assertSameRecord({ address }: Connection, outputs: Outputs, record: ApiRecord): void {
    for (const key of this.managed(outputs.values)) {
      const field = this.field(key);
      if (!field.replace || !differs(field, valueOf(outputs.values, key), record)) continue;
      throw new AnotherRecord(
        `The ${this.definition.singular} ${record.id} has the ${key} ${JSON.stringify(valueIn(field, record))} in the API and ` +
          `${JSON.stringify(outputs.values[key])} in state: it is another record, so nothing is done to it. Check that ` +
          `${address.source} and the key belong to this stack; if the record was really renamed, remove it from state with ` +
          "`pulumi state delete URN`.",
      );
    }
  }
}

interface OutputOptions {
  readonly claim: string | undefined;
  readonly isPartial?: boolean;
  /** Whether a value that cannot be read is an error; otherwise the wanted one is kept. */
  readonly isStrict?: boolean;
}

/** Checked inputs and outputs hold nothing but values. */
function valueOf(values: Readonly<Record<string, unknown>>, key: string): Value {
  return (values[key] ?? null) as Value;
}

/** Which of the resources that may have a record this one is, as its state says. */
function claimantOf({ claim = unnamed }: Outputs): string {
  return claim;
}

/** A resource's name in a message: the last part of its URN, or of the chain of types that it is known by. */
function nameOf(resource: string | undefined): string {
  return resource?.split("::").at(-1) ?? "";
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
