import { isDeepStrictEqual } from "node:util";

import { message, messageOf, NotFoundError, quoteId, UptimeError } from "../../api/errors";
import { NoAccountError } from "../../api/settings";
import type { Definition, Field } from "../../definitions/field";
import { equalValues } from "../../definitions/codecs";
import { fieldOf } from "../../definitions/keys";
import { engineUnknown, type Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { safeName } from "../../common/text";
import { urnSuffixOf } from "../../common/urn";
import { decodeEntities, hasUnknown, isEmpty, isObject, type Value } from "../../common/values";
import { importForEngine } from "../../lifecycle/import";
import { ownerOf } from "../../lifecycle/owners";
import { read } from "../../lifecycle/read";
import { beginOperation } from "../../lifecycle/record-scope";
import type { InputProblem, Inputs, RequestOptions, Outputs } from "../../lifecycle/resource";
import type { CheckResult, DiffRequest, SharedFront } from "../shared-front";
import {
  decodeDeclared,
  decodeInputs,
  decodeOutputs,
  encodeInputs,
  isInState,
  isManaged,
  secretInputNames,
  pick,
  withoutHidden,
  escapeEngineMarks,
} from "../properties";
import {
  accountProblem,
  inputsOfRecord,
  isImported,
  parseGivenId,
  secretProblem,
  shownId,
} from "./imported-record";
import type { ImportedRecord } from "./imported-record";
import type { ResourceRequest } from "./resource-request";

type PartAction = "add" | "update" | "delete";

/** Answers the engine's requests to a plugin about one kind of resource, in plain values; `grpc.ts` has the protocol. */
export class PluginResources {
  private readonly imports = new Map<string, ImportedRecord>();

  constructor(
    readonly front: SharedFront,
    private readonly providerOfDynamic: (account: string | undefined) => DiffRequest["formerProvider"],
  ) {}

  /** Reads the id of a record that state does not have as that of an import: it may name an account. */
  withPlainId(request: ResourceRequest): ResourceRequest {
    const { oldOutputs, oldInputs, isImport } = request;
    if (request.id === "" || isImport || isManagedIn(request)) return request;
    const { id, account } = this.parseId(request.id);
    if (account === undefined) return request;
    const other = oldInputs.account ?? oldOutputs.account ?? account;
    if (other !== account)
      throw new UptimeError(
        `The id ${JSON.stringify(shownId(request.id))} names the account ${JSON.stringify(safeName(account))}, and account is ${typeof other === "string" ? JSON.stringify(safeName(other)) : "another one"}: leave one of them out.`,
      );
    return { ...request, id, oldOutputs: { ...oldOutputs, account } };
  }

  async check(request: ResourceRequest): Promise<CheckResult> {
    const { urn, inputs: news, oldInputs } = request;
    const { account, ...declared } = decodeDeclared(news);
    const imported = this.imports.get(urn);
    // After an import the old inputs are the record's, so none that the program leaves out counts as removed.
    const wasDeclared = !imported && Object.keys(oldInputs).length > 0 && !isImported(oldInputs);
    const { connect, definition } = this.front;
    const old = decodeInputs(definition, oldInputs);
    const problem =
      imported &&
      (imported.problem ??
        accountProblem(account, imported) ??
        secretProblem(definition, news, connect(imported.outputs.account).settings));
    const { inputs, problems } = await this.front.check({
      declaration: {
        declared,
        account,
        importId: problem ? undefined : imported?.id,
        old: wasDeclared ? old : undefined,
        acceptedValues: old.values,
        options: this.requestOptions(request),
      },
      urnSuffix: urnSuffixOf(urn),
      news,
      refusals: problem ? [problem] : [],
      takeImported: imported?.takeInCheck,
    });
    // The engine itself imports: the id is an option of the resource and not an input.
    const { importId: _, ...kept } = inputs;
    return { inputs: kept, problems };
  }

  async diff(request: ResourceRequest) {
    const { urn, id, oldInputs, oldOutputs } = request;
    const { definition } = this.front;
    const imported = this.imports.get(urn)?.outputs;
    const inputs = imported ? withKnownValues(request.inputs, imported) : request.inputs;
    // `check` has already compared the inputs with the imported record.
    const outputs = imported
      ? {
          ...decodeOutputs(definition, oldOutputs),
          values: decodeInputs(definition, inputs).values as Outputs["values"],
        }
      : this.outputsInState(request);
    const wasDynamic = oldInputs[hiddenNames.providerCode] !== undefined;
    const { changed, replaces, deleteBeforeReplace } = await this.front.diff({
      id,
      formerProvider: wasDynamic ? this.providerOfDynamic(outputs.account) : undefined,
      outputs,
      oldOutputs,
      news: inputs,
      options: this.requestOptions(request),
      secretNames: secretInputNames(oldOutputs),
      wasImported: !imported && isImported(oldInputs),
    });
    const changes = changed.map((key) => {
      const isOfInputs = !isDeepStrictEqual(oldInputs[key] ?? null, inputs[key] ?? null);
      const old = (isOfInputs ? oldInputs : oldOutputs)[key];
      // What is no property has no value to show.
      const isProperty = key !== hiddenNames.isPartial && key !== "provider";
      const isSame = isProperty && isDeepStrictEqual(old, inputs[key]);
      const parts = isProperty && !isSame ? changedParts(key, old, inputs[key]) : [];
      return {
        /** Undefined if only the property's mark is new: `replaceOnChanges` would replace a record that stays as it is. */
        key: isSame ? undefined : key,
        /** The property, or its parts that differ, such as `requestHeaders[0].value`: `replaceOnChanges` may name a part. */
        parts,
        replaces: replaces.includes(key),
        /** The inputs differ from the old inputs. If false, they differ from the old outputs. */
        isOfInputs,
      };
    });
    return { changes, deleteBeforeReplace };
  }

  async create(request: ResourceRequest): Promise<{ id: string; outputs: Properties }> {
    const { inputs: news, isPreview } = request;
    if (isPreview) return { id: "", outputs: this.previewOutputs(news) };
    return this.front.save([news], this.requestOptions(request));
  }

  /** Undefined if the record is gone. Without inputs in the result, the engine keeps those that it has. */
  async read(request: ResourceRequest) {
    const { id, oldInputs, oldOutputs, isImport } = request;
    const { definition } = this.front;
    const options = this.requestOptions(request);
    if (isImport) return this.import(request);
    if (!isManagedIn(request)) {
      const found = await this.front.readForGet(id, { ...oldOutputs, ...oldInputs }, options);
      if (!found) return undefined;
      if (isManaged(oldOutputs))
        return { id, inputs: found.inputs, outputs: keptAsImported(oldOutputs, found.outputs) };
      // `pulumi do … patch` asks so, and lays its changes over these inputs. For `get` the engine keeps the program's.
      if (isInState(oldOutputs) || Object.keys(oldInputs).length > 0) return { id, ...found };
      const inputs = inputsOfRecord(definition, decodeOutputs(definition, found.outputs), true);
      return { id, outputs: found.outputs, inputs };
    }
    const old = this.outputsInState(request);
    const scope = this.front.begin(old.account, options, oldInputs, oldOutputs);
    const result = await read(scope, id, old);
    if (!result) return undefined;
    // An import leaves all fields in state. Those that are not managed stay as they are, like attributes: the engine would print
    // them as removed.
    const kept = scope.settings.refreshAttributes ? {} : decodeOutputs(definition, oldOutputs).values;
    const whole = { ...result.outputs, values: { ...kept, ...result.outputs.values } };
    const outputs = this.front.encodeState(whole, {}, oldInputs, oldOutputs);
    const current = currentInputs(definition, decodeInputs(definition, oldInputs), result.outputs);
    const inputs = current && {
      ...this.front.markSecrets(encodeInputs(current, {}), oldInputs),
      ...pick(oldInputs, hiddenNames.isImported),
    };
    return { id, outputs, inputs };
  }

  async update(request: ResourceRequest): Promise<{ outputs: Properties }> {
    const { id, inputs: news, oldInputs, oldOutputs, isPreview } = request;
    if (isPreview) return { outputs: this.previewOutputs(news) };
    const old = { id, outputs: this.outputsInState(request) };
    return this.front.save([news, oldInputs, oldOutputs], this.requestOptions(request), old);
  }

  async delete(request: ResourceRequest): Promise<void> {
    const { id, oldInputs, oldOutputs } = request;
    const outputs = this.outputsInState(request);
    await this.front.delete(id, outputs, [oldInputs, oldOutputs], this.requestOptions(request));
  }

  private async import(request: ResourceRequest) {
    const { urn, mayBeGet } = request;
    const { connect, definition } = this.front;
    try {
      const { id, account } = this.parseId(request.id);
      const scope = beginOperation(connect(account), this.requestOptions(request));
      const { outputs, take } = await importForEngine(scope, id, account);
      if (!mayBeGet) take();
      this.imports.set(urn, { id, outputs, takeInCheck: mayBeGet ? take : undefined });
      return {
        id,
        outputs: this.front.encodeState(outputs, {}),
        inputs: { ...inputsOfRecord(definition, outputs, false), [hiddenNames.isImported]: true },
      };
    } catch (error) {
      const { id } = request;
      const reason = message`of ${definition.singular} ${quoteId(id)} is not possible: ${messageOf(error)}`;
      const problem: InputProblem = { property: "import or get", reason };
      // The engine calls `read` before `check`, and a failed read would end the preview. After a `get` there is no `check`.
      if (await this.front.tellRefusal(urnSuffixOf(urn), problem)) {
        this.imports.set(urn, { id, outputs: { values: {}, attributes: {} }, problem });
        return { id, outputs: {}, inputs: {} };
      }
      if (!(error instanceof NotFoundError)) throw error;
      const text = message`${error} Check the id. If it was imported before, and has been deleted since, remove the option import.`;
      throw new UptimeError(text, { cause: error });
    }
  }

  /** Parses the id of a record that state does not have. The start of an address would be an account, so the error names it. */
  private parseId(given: string): ReturnType<typeof parseGivenId> {
    const { id, account } = parseGivenId(given);
    try {
      if (account !== undefined) this.front.connect(account);
    } catch (error) {
      // The operation reports what else is wrong with the settings.
      if (error instanceof NoAccountError)
        throw new UptimeError(
          message`The id ${JSON.stringify(shownId(given))} names a record in the account ${JSON.stringify(shownId(account ?? ""))}. ${error}
            The id of a record without an account is only what follows the last slash: ${JSON.stringify(shownId(id))}.`,
          { cause: error },
        );
    }
    return { id, account };
  }

  /**
   * Decodes state. The managed fields are those in the inputs. The outputs do not say it, because after an import they have all
   * fields.
   */
  private outputsInState(request: ResourceRequest): Outputs {
    const { oldOutputs, oldInputs } = request;
    const { definition } = this.front;
    const outputs = decodeOutputs(definition, oldOutputs);
    if (isImported(oldInputs)) return outputs;
    if (!isManagedIn(request)) return { ...outputs, claim: undefined, isReadOnly: true };
    const { values: inputs } = decodeInputs(definition, oldInputs);
    const managed = Object.entries(outputs.values).flatMap(([key, value]): [string, Value][] => {
      if (oldInputs[key] === undefined) return [];
      const input = inputs[key] as Value | undefined;
      return [
        [key, input !== undefined && isShownAs(fieldOf(definition, key), input, value) ? input : value],
      ];
    });
    return { ...outputs, values: Object.fromEntries(managed) };
  }

  /** Outputs in a preview. The attributes are not known yet. */
  private previewOutputs(inputs: Properties): Properties {
    return this.front.markSecrets({ ...withoutHidden(inputs), attributes: engineUnknown }, inputs);
  }

  private requestOptions({ urn, timeout, ignoreChanges }: ResourceRequest): RequestOptions {
    return { urn, owner: ownerOf(urnSuffixOf(urn)), timeout, ignoreChanges };
  }
}

/** Whether state has a managed resource. What `get` has read may look like an import in the outputs, but has no inputs of its own. */
function isManagedIn({ oldInputs, oldOutputs }: ResourceRequest): boolean {
  return isManaged(oldOutputs) && Object.keys(withoutHidden(oldInputs)).some((key) => key !== "account");
}

/** Outputs of a `get` that look like an import, so that a refresh finds no difference. */
function keptAsImported(
  old: Properties,
  { [hiddenNames.isReadOnly]: _, ...present }: Properties,
): Properties {
  return { ...present, ...pick(old, "importId", hiddenNames.claim) };
}

/** Inputs of an import, with the record's values for those that are not known yet: the `up` compares them. */
function withKnownValues(inputs: Properties, { values }: Outputs): Properties {
  const declared = decodeDeclared(inputs);
  const unknown = Object.keys(values).filter((key) => hasUnknown(declared[key]));
  return { ...inputs, ...pick(values, ...unknown) };
}

/** Whether an import, which knows no input, reads this value from a record that shows this input. */
function isShownAs(field: Field, input: Value, value: Value): boolean {
  return [input, decodeEntities(input) as Value].some((one) => equalValues(field, one, value));
}

/** The paths at which two different values of a property differ. */
function changedParts(path: string, old: unknown, current: unknown): [string, PartAction][] {
  if (isEmpty(old)) return [[path, "add"]];
  if (isEmpty(current)) return [[path, "delete"]];
  const areLists = Array.isArray(old) && Array.isArray(current);
  if (!areLists && !(isObject(old) && isObject(current))) return [[path, "update"]];
  const [before, after] = [old, current] as [Properties, Properties];
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    isDeepStrictEqual(before[key], after[key])
      ? []
      : changedParts(areLists ? `${path}[${key}]` : `${path}.${key}`, before[key], after[key]),
  );
}

/** The inputs with the values that a refresh has found. Undefined if nothing has changed. */
function currentInputs(definition: Definition, inputs: Inputs, outputs: Outputs): Inputs | undefined {
  const changed = Object.entries(definition.fields).flatMap(([key, field]): [string, Value][] => {
    const [known, current] = [inputs.values[key], outputs.values[key] ?? null];
    return known === undefined || equalValues(field, known as Value, current) ? [] : [[key, current]];
  });
  if (changed.length === 0) return undefined;
  return { ...inputs, values: escapeEngineMarks({ ...inputs.values, ...Object.fromEntries(changed) }) };
}
