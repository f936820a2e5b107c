import { isDeepStrictEqual } from "node:util";

import type { Message } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { equal } from "../../definitions/field-types";
import { isEmpty } from "../../definitions/values";
import type { Value } from "../../definitions/values";
import { unknownValue } from "../../definitions/marks";
import { parseUrn } from "../../definitions/urn";
import { claimRecord } from "../../lifecycle/account";
import { check } from "../../lifecycle/check";
import { create } from "../../lifecycle/create";
import { remove } from "../../lifecycle/delete";
import { diff } from "../../lifecycle/diff";
import { adoptionClaim } from "../../lifecycle/ledger";
import { outputsOfRecord } from "../../lifecycle/outputs";
import { get, read, readOnly } from "../../lifecycle/read";
import { PartialFailureError } from "../../lifecycle/resource";
import type { Inputs, Options, Outputs } from "../../lifecycle/resource";
import { update } from "../../lifecycle/update";
import {
  decodeDeclared,
  decodeInputs,
  decodeOutputs,
  encodeInputs,
  isInState,
  isManaged,
  withoutHidden,
  withoutMarks,
} from "../request";
import type { Properties } from "../request";
import { importedInputs, importMark, isImported, parseImportId, wrongAccount } from "./imported-record";
import type { ImportedRecord } from "./imported-record";
import type { Host, KeptResource, PropertyChange, ReadResult, ResourceRequest } from "./resource-request";

/**
 * Puts a lifecycle into the requests that Pulumi's engine makes of a provider plugin. Everything here is plain values;
 * `grpc.ts` has the protocol.
 */
export class PluginResources {
  protected readonly definition: Definition;
  private readonly imports = new Map<string, ImportedRecord>();
  /** The resources that the program has in this run. */
  private readonly declared = new Set<string>();

  constructor(private readonly host: Host) {
    this.definition = host.encoder.definition;
  }

  async check(request: ResourceRequest): Promise<{ inputs: Properties; problems: string[] }> {
    const { urn, oldInputs } = request;
    this.declared.add(urn);
    this.host.session.hasProgram = true;
    const { account, ...declared } = decodeDeclared(request.inputs);
    const imported = this.imports.get(urn);
    // What an import has found, and the program does not declare, was never managed.
    const isKnown = !imported && !isImported(oldInputs) && Object.keys(oldInputs).length > 0;
    const stray = imported && wrongAccount(account, imported);
    const { inputs, problems, announcement, notes } = await check(this.definition, this.host.connect, {
      declared,
      account,
      importId: stray === undefined ? imported?.id : undefined,
      isImportedByEngine: true,
      old: isKnown ? decodeInputs(oldInputs) : undefined,
      options: this.optionsOf(request),
    });
    const { encoder, note, session } = this.host;
    if (problems.length > 0) session.noteRefusal();
    this.announce(announcement, request);
    for (const one of notes) note("warning", urn, encoder.message(one, request.inputs));
    const strays = stray === undefined ? [] : [{ property: "account", reason: stray }];
    return {
      // The engine imports by itself, so the id is no input.
      inputs: encoder.marked(encodeInputs({ ...inputs, importId: undefined }, {})),
      problems: encoder.problems([...problems, ...strays], request.inputs),
    };
  }

  diff(request: ResourceRequest): { changes: Map<string, PropertyChange>; deleteBeforeReplace: boolean } {
    const { urn, id, oldInputs, oldOutputs, inputs } = request;
    const imported = this.imports.get(urn)?.outputs;
    // An import changes nothing: `check` has compared everything that the record shows.
    const outputs = imported
      ? { ...imported, values: decodeInputs(inputs).values as Outputs["values"] }
      : this.decodeOutputs(oldOutputs, oldInputs);
    const { changed, replaces, deleteBeforeReplace } = diff(
      this.host.connect(outputs.account),
      id,
      outputs,
      decodeInputs(inputs),
      {
        ...this.optionsOf(request),
        isDeclared: this.declared.has(urn),
      },
    );
    const changes = new Map<string, PropertyChange>();
    for (const key of changed) {
      const isOfInputs = !isDeepStrictEqual(oldInputs[key] ?? null, inputs[key] ?? null);
      const isNew = isEmpty((isOfInputs ? oldInputs : oldOutputs)[key]);
      const kind = isNew ? "add" : isEmpty(inputs[key]) ? "delete" : "update";
      changes.set(key, { kind, replaces: replaces.includes(key), isOfInputs });
    }
    return { changes, deleteBeforeReplace };
  }

  async create(request: ResourceRequest): Promise<{ id: string; outputs: Properties }> {
    if (request.isPreview) return { id: "", outputs: this.expected(request.inputs) };
    const inputs = decodeInputs(request.inputs);
    const { id, outputs, announcement } = await create(
      this.host.connect(inputs.account),
      inputs,
      this.optionsOf(request),
    );
    this.announce(announcement, request);
    return { id, outputs: this.encodeOutputs(outputs, request.inputs) };
  }

  /** Undefined if the record is gone. */
  async read(request: ResourceRequest): Promise<ReadResult | undefined> {
    const { id, oldInputs: inputs, oldOutputs: outputs } = request;
    if (request.isImport) return this.import(request);
    if (!isManaged(outputs)) return this.readOnly(request);
    const old = this.decodeOutputs(outputs, inputs);
    const state = await read(this.host.connect(old.account), id, old, this.optionsOf(request));
    if (!state) return undefined;
    const result = { id: state.id, outputs: this.encodeOutputs(state.outputs) };
    const present = presentInputs(this.definition, decodeInputs(inputs), state.outputs);
    if (!present) return result;
    const mark = isImported(inputs) ? { [importMark]: true } : {};
    return { ...result, inputs: { ...this.host.encoder.marked(encodeInputs(present, {})), ...mark } };
  }

  async update(request: ResourceRequest): Promise<{ outputs: Properties }> {
    const { id, oldInputs, oldOutputs, inputs } = request;
    if (request.isPreview) return { outputs: this.expected(inputs) };
    const outputs = this.decodeOutputs(oldOutputs, oldInputs);
    const declared = decodeInputs(inputs);
    const account = this.host.connect(declared.account);
    const state = await update(account, id, outputs, declared, this.optionsOf(request));
    return { outputs: this.encodeOutputs(state.outputs, inputs) };
  }

  async delete(request: ResourceRequest): Promise<void> {
    const outputs = this.decodeOutputs(request.oldOutputs, request.oldInputs);
    const imported = this.imports.get(request.urn);
    // The engine replaces by an import what state has under the same id without its account. It is one and the same record.
    if (imported?.id === request.id && imported.outputs.account === outputs.account) return;
    await remove(this.host.connect(outputs.account), request.id, outputs, this.optionsOf(request));
  }

  /** An error as the engine may read it. One after which the record exists keeps the resource in state. */
  failureOf(error: unknown, { inputs, oldInputs, oldOutputs }: ResourceRequest): Error {
    const failure = new Error(this.host.encoder.error(error, inputs, oldInputs, oldOutputs));
    if (!(error instanceof PartialFailureError)) return failure;
    const kept: KeptResource = { id: error.id, outputs: this.encodeOutputs(error.outputs, inputs) };
    return Object.assign(failure, kept);
  }

  /** Shows which record a resource imports or adopts. */
  private announce(announcement: Message | undefined, { urn, inputs }: ResourceRequest): void {
    const { encoder, note, session } = this.host;
    if (announcement === undefined) return;
    session.announce(() => {
      note("info", urn, encoder.message(announcement, inputs));
    });
  }

  /** Outputs as state keeps them, with secrets marked. */
  private encodeOutputs(outputs: Outputs, from?: Properties): Properties {
    return this.host.encoder.marked(this.host.encoder.outputs(outputs, from));
  }

  /** What an import finds. */
  private async import(request: ResourceRequest): Promise<ReadResult> {
    const { urn } = request;
    const { id, account } = parseImportId(request.id);
    const connected = this.host.connect(account);
    const record = await get(connected, id, this.optionsOf(request));
    claimRecord(connected, record);
    const claim = adoptionClaim(ownerOf(urn));
    const read = outputsOfRecord(connected, record, account);
    const outputs: Outputs = { ...read, isReadOnly: undefined, importId: id, claim };
    this.imports.set(urn, { id, outputs });
    return {
      id,
      outputs: this.encodeOutputs(outputs),
      inputs: importedInputs(this.definition, outputs),
    };
  }

  private async readOnly(request: ResourceRequest): Promise<ReadResult | undefined> {
    const { id, oldInputs, oldOutputs } = request;
    const account = decodeInputs(oldInputs).account ?? decodeInputs(oldOutputs).account;
    const isReadOnly = oldOutputs.__readOnly === true;
    const state = await readOnly(
      this.host.connect(account),
      id,
      { account, isReadOnly },
      this.optionsOf(request),
    );
    return state && { id, outputs: this.encodeOutputs(state.outputs), inputs: { account } };
  }

  /**
   * What state holds of a resource. Its inputs say what is managed, because an import leaves everything that the record
   * shows in the outputs. Defaults are managed even if the inputs of an import leave them out.
   */
  private decodeOutputs(properties: Properties, inputs: Properties): Outputs {
    const outputs = decodeOutputs(this.definition, properties);
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
    return this.host.encoder.marked({ ...withoutHidden(inputs), attributes: unknownValue });
  }

  private optionsOf({ urn, timeout, ignoreChanges, oldOutputs }: ResourceRequest): Options {
    const { hasProgram, interruption } = this.host.session;
    return {
      urn,
      owner: ownerOf(urn),
      isOwnerCertain: true,
      timeout,
      ignoreChanges,
      mayHaveOldSettings: isInState(oldOutputs) && !hasProgram,
      interruption,
    };
  }
}

/** What tells a resource from all others of its stack: its URN without stack and project, which may get other names. */
function ownerOf(urn: string): string {
  const { types, name } = parseUrn(urn);
  return `${types}::${name}`;
}

/** The inputs as they would have to be for what a refresh has found. Undefined if they are right. */
function presentInputs(definition: Definition, inputs: Inputs, outputs: Outputs): Inputs | undefined {
  const values: Record<string, unknown> = { ...inputs.values };
  let isChanged = false;
  for (const [key, field] of Object.entries(definition.fields)) {
    if (values[key] === undefined) continue;
    const present = outputs.values[key] ?? null;
    if (equal(field, values[key] as Value, present)) continue;
    values[key] = present;
    isChanged = true;
  }
  return isChanged ? { ...inputs, values: withoutMarks(values) } : undefined;
}
