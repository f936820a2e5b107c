import { isDeepStrictEqual } from "node:util";

import { definitions } from "../../definitions";
import type { Definition, Problem } from "../../definitions/field";
import { equal, isEmpty } from "../../definitions/kinds";
import type { Value } from "../../definitions/kinds";
import { unknown } from "../../definitions/unknown";
import type { Inputs, Options, Outputs, State } from "../../lifecycle/resource";
import type { Engine } from "./engine";
import { inputProperties, inputsIn, outputProperties, outputsIn } from "./state";
import { definitionOf, typeIn } from "./tokens";
import type { Properties } from "./values";

/** What every request about a resource says. */
export interface ResourceRequest {
  readonly urn: string;
  /** The time that a person has set for it, in milliseconds. */
  readonly timeout?: number | undefined;
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
  readonly ignoreChanges: readonly string[];
}

export interface CreateRequest extends ResourceRequest {
  readonly inputs: Properties;
  readonly isPreview: boolean;
}

export interface ReadRequest extends ResourceRequest {
  readonly id: string;
  /** Undefined for an import, of which state says nothing yet. */
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

/** How a property differs, as the engine's diff shows it. */
export interface PropertyChange {
  readonly kind: "add" | "update" | "delete";
  readonly replaces: boolean;
  /** Whether the old and the new inputs differ; otherwise the old outputs and the new inputs do. */
  readonly inInputs: boolean;
}

/** A record that an import has read, until the resource that imports it is in state. */
interface Imported {
  readonly id: string;
  readonly outputs: Outputs;
}

/** The life of one kind of resource as `provider/lifecycle` has it. */
export interface Life {
  check(request: {
    declared: Properties;
    account?: unknown;
    importId?: unknown;
    old?: Inputs | undefined;
    options: Options;
  }): Promise<{ inputs: Inputs; problems: readonly Problem[]; notes: readonly string[] }>;
  diff(request: { id: string; outputs: Outputs; inputs: Inputs; options: Options }): {
    changed: readonly string[];
    replaces: readonly string[];
  };
  create(inputs: Inputs, options: Options): Promise<State>;
  read(id: string, outputs: Outputs, options: Options): Promise<State | undefined>;
  get(id: string, account: string | undefined, options: Options): Promise<State>;
  update(id: string, outputs: Outputs, inputs: Inputs, options: Options): Promise<State>;
  delete(id: string, outputs: Outputs, options: Options): Promise<void>;
}

/**
 * Puts the lifecycles into the requests that Pulumi's engine makes of a provider. Everything here is plain values;
 * `server.ts` has the protocol.
 */
export class ResourceProvider {
  private readonly imports = new Map<string, Imported>();
  private readonly lives = new Map<Definition, Life>();

  constructor(
    private readonly engine: Pick<Engine, "log">,
    private readonly lifeOf: (definition: Definition) => Life,
    private readonly settings: {
      /** Whether a create first looks for a record to adopt, so that a replacement must delete first. */
      readonly adopts: () => boolean;
      /** Ends all operations early. */
      readonly cancel: AbortSignal;
    },
  ) {}

  async check(request: CheckRequest): Promise<{ inputs: Properties; problems: string[] }> {
    const { definition, life } = this.of(request);
    const { account, ...declared } = visible(request.inputs);
    const imported = this.imports.get(request.urn);
    const isInState = !imported && Object.keys(request.oldInputs).length > 0;
    const checked = await life.check({
      declared,
      account,
      importId: imported?.id,
      old: isInState ? inputsIn(definition, request.oldInputs) : undefined,
      options: this.optionsOf(request),
    });
    for (const note of checked.notes) this.engine.log("warning", note, request.urn);
    return {
      inputs: inputProperties(definition, checked.inputs),
      problems: checked.problems.map(({ property, reason }) => `${property} ${reason}`),
    };
  }

  diff(request: DiffRequest): { changes: Map<string, PropertyChange>; deleteBeforeReplace: boolean } {
    const { definition, life } = this.of(request);
    const { oldInputs, oldOutputs, inputs } = request;
    const outputs =
      this.imports.get(request.urn)?.outputs ?? outputsIn(definition, oldOutputs, oldInputs);
    const { changed, replaces } = life.diff({
      id: request.id,
      outputs,
      inputs: inputsIn(definition, inputs),
      options: this.optionsOf(request),
    });
    const changes = new Map<string, PropertyChange>();
    for (const key of changed) {
      const inInputs = !isDeepStrictEqual(oldInputs[key] ?? null, inputs[key] ?? null);
      const isNew = isEmpty((inInputs ? oldInputs : oldOutputs)[key]);
      const kind = isNew ? "add" : isEmpty(inputs[key]) ? "delete" : "update";
      changes.set(key, { kind, replaces: replaces.includes(key), inInputs });
    }
    return { changes, deleteBeforeReplace: this.settings.adopts() };
  }

  async create(request: CreateRequest): Promise<{ id: string; outputs: Properties }> {
    const { definition, life } = this.of(request);
    if (request.isPreview) return { id: "", outputs: previewed(request.inputs) };
    const inputs = inputsIn(definition, request.inputs);
    const { id, outputs } = await life.create(inputs, this.optionsOf(request));
    return { id, outputs: outputProperties(definition, outputs) };
  }

  /** Undefined when the record is gone. Without inputs the ones in state stay as they are. */
  async read(
    request: ReadRequest,
  ): Promise<{ id: string; outputs: Properties; inputs?: Properties } | undefined> {
    const { definition, life } = this.of(request);
    const { id, inputs, outputs } = request;
    const options = this.optionsOf(request);
    if (!inputs && !outputs) return this.import(request);
    const account = typeof inputs?.account === "string" ? inputs.account : undefined;
    // The first read of a resource that is only read: state has no record of it.
    if (outputs?.attributes === undefined) {
      const state = await life.get(id, account, options);
      return { id: state.id, outputs: outputProperties(definition, state.outputs), inputs: { account } };
    }
    const state = await life.read(id, outputsIn(definition, outputs, inputs), options);
    if (!state) return undefined;
    const read = { id: state.id, outputs: outputProperties(definition, state.outputs) };
    if (state.outputs.isReadOnly === true || !inputs) return read;
    const present = presentInputs(definition, inputsIn(definition, inputs), state.outputs);
    return present ? { ...read, inputs: inputProperties(definition, present) } : read;
  }

  async update(request: UpdateRequest): Promise<{ outputs: Properties }> {
    const { definition, life } = this.of(request);
    const { id, oldInputs, oldOutputs } = request;
    if (request.isPreview) return { outputs: { ...hidden(oldOutputs), ...previewed(request.inputs) } };
    const state = await life.update(
      id,
      outputsIn(definition, oldOutputs, oldInputs),
      inputsIn(definition, request.inputs),
      this.optionsOf(request),
    );
    return { outputs: outputProperties(definition, state.outputs) };
  }

  async delete(request: DeleteRequest): Promise<void> {
    const { definition, life } = this.of(request);
    const outputs = outputsIn(definition, request.oldOutputs, request.oldInputs);
    await life.delete(request.id, outputs, this.optionsOf(request));
  }

  /**
   * What an import finds. Secrets are neither inputs, which Pulumi writes into code, nor outputs; a program that declares
   * them is compared with what was read here.
   */
  private async import(
    request: ReadRequest,
  ): Promise<{ id: string; outputs: Properties; inputs: Properties }> {
    const { definition, life } = this.of(request);
    const state = await life.get(request.id, undefined, this.optionsOf(request));
    const outputs = { ...state.outputs, isReadOnly: undefined };
    this.imports.set(request.urn, { id: state.id, outputs });
    const open = Object.entries(outputs.values).filter(([key]) => definition.fields[key]?.secret !== true);
    const declared = open.filter(([key, value]) => isWorthDeclaring(definition, key, value));
    return {
      id: state.id,
      outputs: outputProperties(definition, { ...outputs, values: Object.fromEntries(open) }),
      inputs: Object.fromEntries(declared),
    };
  }

  private of({ urn }: ResourceRequest): { definition: Definition; life: Life } {
    const definition = definitionOf(definitions, typeIn(urn));
    let life = this.lives.get(definition);
    if (!life) this.lives.set(definition, (life = this.lifeOf(definition)));
    return { definition, life };
  }

  private optionsOf(request: ResourceRequest & { readonly ignoreChanges?: readonly string[] }): Options {
    const { urn, timeout, ignoreChanges } = request;
    return { resource: urn, timeout, ignoreChanges, cancel: this.settings.cancel };
  }
}

/** Whether an imported value belongs into a program: a default, and what is empty, go without saying. */
function isWorthDeclaring(definition: Definition, key: string, value: Value): boolean {
  const field = definition.fields[key];
  if (!field || isEmpty(value)) return false;
  if (field.required) return true;
  return field.default === undefined ? !equal(field, null, value) : !equal(field, field.default, value);
}

/** The inputs as they would have to be for what a refresh has found, or undefined if they are right as they are. */
function presentInputs(definition: Definition, inputs: Inputs, outputs: Outputs): Inputs | undefined {
  const values: Record<string, unknown> = { ...inputs.values };
  let differ = false;
  for (const [key, field] of Object.entries(definition.fields)) {
    if (!(key in values)) continue;
    const present = outputs.values[key] ?? null;
    if (equal(field, (values[key] ?? null) as Value, present)) continue;
    values[key] = present;
    differ = true;
  }
  return differ ? { ...inputs, values } : undefined;
}

/** Outputs in a preview: what the API will show beside the inputs is not known yet. */
function previewed(inputs: Properties): Properties {
  return { ...inputs, attributes: unknown };
}

const isHidden = (key: string): boolean => key.startsWith("__");

/** What a program or Pulumi declares, without what a front has kept beside it. */
function visible(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !isHidden(key) && key !== "importId"));
}

function hidden(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => isHidden(key)));
}
