import { isDeepStrictEqual } from "node:util";

import { Gone } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { equal, isEmpty } from "../../definitions/kinds";
import { parseUrn } from "../../definitions/urn";
import type { Value } from "../../definitions/kinds";
import type { Lifecycle } from "../../lifecycle/lifecycle";
import type { Inputs, Options, Outputs } from "../../lifecycle/resource";
import { secretOf, unknownValue } from "../../definitions/marks";
import {
  declaredIn,
  inputProperties,
  inputsIn,
  outputProperties,
  outputsIn,
  withoutHidden,
  withoutMarks,
} from "../request";
import type { Properties } from "../request";
import { importedRecord, wrongAccount } from "./imported-record";

/** What every request about a resource tells. */
export interface ResourceRequest {
  readonly urn: string;
  /** The time that a person has set for the operation, in milliseconds. */
  readonly timeout?: number | undefined;
  readonly ignoreChanges?: readonly string[] | undefined;
}

export interface CheckRequest extends ResourceRequest {
  readonly oldInputs: Properties;
  readonly inputs: Properties;
}

export interface DiffRequest extends ResourceRequest {
  readonly id: string;
  readonly oldInputs: Properties;
  readonly oldOutputs: Properties;
  readonly inputs: Properties;
}

export interface CreateRequest extends ResourceRequest {
  readonly inputs: Properties;
  readonly isPreview: boolean;
}

export interface ReadRequest extends ResourceRequest {
  readonly id: string;
  /** Both are undefined for an import, because state has nothing of it yet. */
  readonly inputs: Properties | undefined;
  readonly outputs: Properties | undefined;
}

export interface UpdateRequest extends DiffRequest {
  readonly isPreview: boolean;
}

export interface DeleteRequest extends ResourceRequest {
  readonly id: string;
  readonly oldInputs: Properties;
  readonly oldOutputs: Properties;
}

/** How a property differs, as the engine shows it. */
export interface PropertyChange {
  readonly kind: "add" | "update" | "delete";
  readonly replaces: boolean;
  /** Whether the inputs differ from the old ones. If not, they differ from the old outputs. */
  readonly isOfInputs: boolean;
}

/** A resource that was read. Without inputs, those in state are right. */
export interface ReadResult {
  readonly id: string;
  readonly outputs: Properties;
  readonly inputs?: Properties;
}

/** A record that an import has read. */
interface Imported {
  readonly id: string;
  readonly outputs: Outputs;
}

/** What a run of the plugin gives to its resources. */
export interface Host {
  /** Shows a person something about a resource. */
  readonly note: (urn: string, message: string) => void;
  /** A text without keys and without the secrets in some properties. */
  readonly clean: (text: string, definition: Definition, properties: readonly Properties[]) => string;
  /** Whether a create may adopt a record, so that a replacement must delete first. */
  readonly adopts: () => boolean;
  /** Ends all operations early. */
  readonly cancel: AbortSignal;
}

/**
 * Puts a lifecycle into the requests that Pulumi's engine makes of a provider plugin. Everything here is plain values;
 * `server.ts` has the protocol.
 */
export class NativeResources {
  private readonly definition: Definition;
  private readonly imports = new Map<string, Imported>();

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly host: Host,
  ) {
    this.definition = lifecycle.definition;
  }

  async check(request: CheckRequest): Promise<{ inputs: Properties; problems: string[] }> {
    const { urn, oldInputs } = request;
    const { account, ...declared } = declaredIn(request.inputs);
    const imported = this.imports.get(urn);
    // What an import has found, and the program does not declare, was never managed.
    const isInState = !imported && !isImported(oldInputs) && Object.keys(oldInputs).length > 0;
    const stray = imported && wrongAccount(account, imported.outputs.account, imported.id);
    const { inputs, problems, notes } = await this.lifecycle.check({
      declared,
      account,
      importId: stray === undefined ? imported?.id : undefined,
      isImportedByEngine: true,
      old: isInState ? inputsIn(oldInputs) : undefined,
      options: this.optionsOf(request),
    });
    const clean = (text: string): string => this.host.clean(text, this.definition, [request.inputs]);
    for (const note of notes) this.host.note(urn, clean(note));
    // The engine imports by itself, so the id is no input.
    const checked = inputProperties({ ...inputs, importId: undefined }, {});
    return {
      inputs: this.marked(checked),
      problems: [
        ...problems.map(({ property, reason }) => clean(`${property} ${reason}`)),
        ...(stray === undefined ? [] : [clean(`account ${stray}`)]),
      ],
    };
  }

  diff(request: DiffRequest): { changes: Map<string, PropertyChange>; deleteBeforeReplace: boolean } {
    const { urn, id, oldInputs, oldOutputs, inputs } = request;
    const imported = this.imports.get(urn)?.outputs;
    // An import changes nothing: `check` has compared everything that the record shows.
    const outputs = imported
      ? { ...imported, values: inputsIn(inputs).values as Outputs["values"] }
      : this.outputsIn(oldOutputs, oldInputs);
    const { changed, replaces } = this.lifecycle.diff(id, outputs, inputsIn(inputs), this.optionsOf(request));
    const changes = new Map<string, PropertyChange>();
    for (const key of changed) {
      const isOfInputs = !isDeepStrictEqual(oldInputs[key] ?? null, inputs[key] ?? null);
      const isNew = isEmpty((isOfInputs ? oldInputs : oldOutputs)[key]);
      const kind = isNew ? "add" : isEmpty(inputs[key]) ? "delete" : "update";
      changes.set(key, { kind, replaces: replaces.includes(key), isOfInputs });
    }
    return { changes, deleteBeforeReplace: this.host.adopts() };
  }

  async create(request: CreateRequest): Promise<{ id: string; outputs: Properties }> {
    if (request.isPreview) return { id: "", outputs: this.expected(request.inputs) };
    const { id, outputs } = await this.lifecycle.create(inputsIn(request.inputs), this.optionsOf(request));
    return { id, outputs: this.outputProperties(outputs) };
  }

  /** Undefined if the record is gone. */
  async read(request: ReadRequest): Promise<ReadResult | undefined> {
    const { id, inputs, outputs } = request;
    if (!inputs && !outputs) return this.import(request);
    // Each managed resource has inputs, because each kind has a required field.
    const isReadOnly = outputs?.__readOnly === true || outputs?.attributes === undefined;
    if (isReadOnly) return this.readOnly(request);
    const old = this.outputsIn(outputs, inputs ?? {});
    const state = await this.lifecycle.read(id, old, this.optionsOf(request));
    if (!state) return undefined;
    const read = { id: state.id, outputs: this.outputProperties(state.outputs) };
    const present = presentInputs(this.definition, inputsIn(inputs ?? {}), state.outputs);
    if (!present) return read;
    const mark = isImported(inputs ?? {}) ? { [importMark]: true } : {};
    return { ...read, inputs: { ...this.marked(inputProperties(present, {})), ...mark } };
  }

  async update(request: UpdateRequest): Promise<{ outputs: Properties }> {
    const { id, oldInputs, oldOutputs, inputs } = request;
    if (request.isPreview) return { outputs: this.expected(inputs) };
    const outputs = this.outputsIn(oldOutputs, oldInputs);
    const state = await this.lifecycle.update(id, outputs, inputsIn(inputs), this.optionsOf(request));
    return { outputs: this.outputProperties(state.outputs) };
  }

  async delete(request: DeleteRequest): Promise<void> {
    const outputs = this.outputsIn(request.oldOutputs, request.oldInputs);
    const imported = this.imports.get(request.urn);
    // The engine replaces by an import what state has under the same id without its account. It is one and the same record.
    if (imported?.id === request.id && imported.outputs.account === outputs.account) return;
    await this.lifecycle.delete(request.id, outputs, this.optionsOf(request));
  }

  /** Outputs as state keeps them, with secrets marked. */
  outputProperties(outputs: Outputs): Properties {
    return this.marked(outputProperties(outputs, {}));
  }

  /** What an import finds. Secrets are only outputs, because Pulumi writes inputs into code. */
  private async import(request: ReadRequest): Promise<ReadResult> {
    const { id, account } = importedRecord(request.id);
    const state = await this.lifecycle.get(id, account, this.optionsOf(request));
    const claim = resourceOf(request.urn);
    const outputs: Outputs = { ...state.outputs, isReadOnly: undefined, importId: state.id, claim };
    this.imports.set(request.urn, { id: state.id, outputs });
    const declared = Object.entries(outputs.values).filter(([key, value]) =>
      isWorthDeclaring(this.definition, key, value),
    );
    return {
      id: state.id,
      outputs: this.outputProperties(outputs),
      inputs: {
        ...(withoutMarks(Object.fromEntries(declared)) as Properties),
        ...(account !== undefined && { account }),
        [importMark]: true,
      },
    };
  }

  /** A record that is only read. If state has it, it may be gone; a program that asks for one that is not there is wrong. */
  private async readOnly(request: ReadRequest): Promise<ReadResult | undefined> {
    const { id, inputs, outputs } = request;
    const account = inputs?.account ?? outputs?.account;
    const known = typeof account === "string" ? account : undefined;
    try {
      const state = await this.lifecycle.get(id, known, this.optionsOf(request));
      return { id: state.id, outputs: this.outputProperties(state.outputs), inputs: { account } };
    } catch (error) {
      if (error instanceof Gone && outputs?.__readOnly === true) return undefined;
      throw error;
    }
  }

  /**
   * What state holds of a resource. Its inputs say what is managed, because an import leaves everything that the record
   * shows in the outputs. Defaults are managed even if the inputs of an import leave them out.
   */
  private outputsIn(properties: Properties, inputs: Properties): Outputs {
    const outputs = outputsIn(this.definition, properties);
    if (isImported(inputs)) return outputs;
    const isManaged = (key: string): boolean =>
      inputs[key] !== undefined || this.definition.fields[key]?.default !== undefined;
    return {
      ...outputs,
      values: Object.fromEntries(Object.entries(outputs.values).filter(([key]) => isManaged(key))),
    };
  }

  /** Outputs in a preview: what else the API will show is not known yet. */
  private expected(inputs: Properties): Properties {
    return this.marked({ ...withoutHidden(inputs), attributes: unknownValue });
  }

  /** Properties with their secrets as the engine encrypts them, whatever the program says. */
  private marked(properties: Properties): Properties {
    const isSecret = (key: string, value: unknown): boolean =>
      this.definition.fields[key]?.secret === true && !isEmpty(value);
    return Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isSecret(key, value) ? secretOf(value) : value]),
    );
  }

  private optionsOf({ urn, timeout, ignoreChanges }: ResourceRequest): Options {
    return { resource: resourceOf(urn), timeout, ignoreChanges, cancel: this.host.cancel };
  }
}

/** What tells a resource from all others of its stack: its URN without stack and project, which may get other names. */
function resourceOf(urn: string): string {
  const { types, name } = parseUrn(urn);
  return `${types}::${name}`;
}

/**
 * A hidden input of a resource that was imported, until the next update of its state: its other inputs are those of the
 * record, and not those of the program.
 */
const importMark = "__imported";

function isImported(inputs: Properties): boolean {
  return inputs[importMark] === true;
}

/** Whether an imported value belongs into a program. Secrets, defaults, and what is empty, do not. */
function isWorthDeclaring(definition: Definition, key: string, value: Value): boolean {
  const field = definition.fields[key];
  if (!field || field.secret || isEmpty(value)) return false;
  return field.required === true || !equal(field, field.default ?? null, value);
}

/** The inputs as they would have to be for what a refresh has found. Undefined if they are right. */
function presentInputs(definition: Definition, inputs: Inputs, outputs: Outputs): Inputs | undefined {
  const values: Record<string, unknown> = { ...inputs.values };
  let isChanged = false;
  for (const [key, field] of Object.entries(definition.fields)) {
    if (values[key] === undefined) continue;
    const present = outputs.values[key] ?? null;
    if (equal(field, values[key] as Value, present)) continue;
    values[key] = withoutMarks(present);
    isChanged = true;
  }
  return isChanged ? { ...inputs, values } : undefined;
}
