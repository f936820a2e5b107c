import { isDeepStrictEqual } from "node:util";

import { message, quoteId, UptimeError, type Message } from "../api/errors";
import { oldSettingsAdvice } from "../api/advice";
import { NoAccountError, sourceOf, type Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { withMarkedSecrets } from "../definitions/keys";
import { isEngineUnknown, type Properties } from "../common/marks";
import { hiddenNames } from "../common/pulumi";
import { safeName } from "../common/text";
import { check, type Declaration } from "../lifecycle/check";
import { create } from "../lifecycle/create";
import { deleteRecord } from "../lifecycle/delete";
import { assertIgnoredValuesStay, assertImportStays, diff, type Changes } from "../lifecycle/diff";
import { adviseSameAccount, leavesAccount, isAccountOfState } from "../lifecycle/state-account";
import { assertNothingOverwritten } from "../lifecycle/import";
import { readUnmanaged, readUnmanagedAgain } from "../lifecycle/read";
import {
  beginOperation,
  type Connect,
  type OperationScope,
  type RecordScope,
} from "../lifecycle/record-scope";
import { PartialFailureError } from "../lifecycle/resource";
import type { InputProblem, OperationResult, Outputs, RequestOptions } from "../lifecycle/resource";
import { update } from "../lifecycle/update";
import { getOrMake } from "../common/values";
import type { FrontSession } from "./front-session";
import type { ReviewFile } from "./review-file";
import { Redactor } from "./redactor";
import { OperationError } from "./operation-error";
import { secretsIn } from "./secret-strings";
import {
  decodeInputs,
  decodeOutputs,
  encodeInputs,
  encodeOutputs,
  isInState,
  secretInputNames,
  markSecrets,
} from "./properties";

export interface FrontContext {
  readonly definition: Definition;
  readonly session: FrontSession;
  readonly settingsOf: (account: string | undefined) => Settings;
  readonly print: (severity: "info" | "warning", text: string, urn: string | undefined) => void;
  readonly reviewFile?: ReviewFile;
}

export interface CheckRequest {
  readonly declaration: Declaration;
  /** Undefined for a resource that only reads, and in state of older versions. */
  readonly urnSuffix: string | undefined;
  readonly news: Properties;
  /** Problems that the front itself has found. */
  readonly refusals?: readonly InputProblem[];
  /** What an import does before all else. If it throws, the check fails. */
  readonly takeImported?: (() => void) | undefined;
}

export interface DiffRequest {
  readonly id: string;
  readonly outputs: Outputs;
  /** The properties that {@link outputs} are decoded from. */
  readonly oldOutputs: Properties;
  readonly news: Properties;
  readonly options: RequestOptions;
  /** The inputs that are marked as secret in state; undefined if it does not say that. */
  readonly secretNames: readonly string[] | undefined;
  /** The engine itself has imported the record, and no run has declared it since. */
  readonly wasImported?: boolean;
  /** The provider that a dynamic resource leaves for an explicit one, with its settings if they are known. */
  readonly formerProvider?: { readonly settings: Settings | undefined } | undefined;
}

/** The properties of a request. After a partial failure, state keeps the hidden options of the first ones. */
type RequestProperties = readonly [first: Properties, ...others: Properties[]];

/** The inputs that the engine keeps, and why it must refuse them. */
export interface CheckResult {
  readonly inputs: Properties;
  readonly problems: readonly string[];
}

/**
 * What both fronts delegate to, for one kind of resource: it runs the lifecycle on decoded properties, and encodes the results. The
 * fronts are `dynamic.ts`, for Pulumi's host of dynamic resources, and `plugin/`.
 */
export class SharedFront {
  /** Tells the command that collects what a preview would refuse, so that the preview can continue; false if there is none. */
  readonly tellRefusal: (urnSuffix: string, refusal: InputProblem) => Promise<boolean> = () =>
    Promise.resolve(false);

  private readonly scopes = new Map<string | undefined, RecordScope>();

  constructor(protected readonly context: FrontContext) {}

  /** Connects to each account once, when it is first needed. */
  readonly connect: Connect = (account) => {
    const { definition, session, settingsOf } = this.context;
    return getOrMake(this.scopes, account, () => session.connect(definition, settingsOf(account)));
  };

  get definition(): Definition {
    return this.context.definition;
  }

  /** Begins an operation on a resource with these properties. Its messages show no input that is marked as secret. */
  begin(
    account: string | undefined,
    options: RequestOptions,
    ...properties: readonly Properties[]
  ): OperationScope {
    const mayHaveOldSettings = properties.some(isInState) && !this.context.session.hasProgram;
    try {
      const scope = { ...this.connect(account), definition: this.markedDefinition(...properties) };
      return beginOperation(scope, { ...options, mayHaveOldSettings });
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      const isOfState = properties.some(isInState) && error instanceof NoAccountError;
      const advice = [
        ...(isOfState
          ? [
              "If the account was renamed, `pulumi up` without --refresh stores the new name for the resources that the program declares. To delete others, first set the former name again; or run `pulumi state delete URN`, which leaves the record in the API.",
            ]
          : []),
        // Without the program, Pulumi uses the settings of the last `up`, even if they have been corrected since.
        ...oldSettingsAdvice(mayHaveOldSettings),
      ];
      throw advice.length === 0
        ? error
        : new UptimeError(message`${error}. ${advice.join(" ")}`, { cause: error });
    }
  }

  private markedDefinition(...properties: readonly Properties[]): Definition {
    return withMarkedSecrets(this.definition, secretInputNames(...properties));
  }

  markSecrets(properties: Properties, ...others: readonly Properties[]): Properties {
    return markSecrets(this.definition, properties, secretInputNames(...others));
  }

  async check({
    declaration,
    urnSuffix,
    news,
    refusals = [],
    takeImported,
  }: CheckRequest): Promise<CheckResult> {
    const { session } = this.context;
    session.hasProgram = true;
    if (urnSuffix !== undefined) {
      session.owners.declare(urnSuffix);
      this.context.reviewFile?.addInputs(urnSuffix, news);
    }
    takeImported?.();
    const checked = await check(
      this.markedDefinition(news),
      (account) => this.begin(account, declaration.options, news),
      declaration,
    );
    const { urn } = declaration.options;
    this.announce(checked.announcement, [news], urn);
    const redactor = this.redactorFor(news);
    for (const warning of checked.warnings) this.context.print("warning", redactor.message(warning), urn);
    const problems = [...checked.problems, ...refusals].map((problem) => redactor.problem(problem));
    if (problems.length > 0) session.hasRefused = true;
    return { inputs: this.markSecrets(encodeInputs(checked.inputs, news), news), problems };
  }

  diff(request: DiffRequest): Changes | Promise<Changes> {
    const { id, outputs, oldOutputs, news, options, secretNames, wasImported, formerProvider } = request;
    this.assertNotOnlyRead(id, outputs, options);
    const decoded = decodeInputs(this.definition, news);
    // If what an input depends on is to be replaced, the engine asks without its value. An account that is unknown for that reason
    // does not count as another one.
    const inputs = isEngineUnknown(news.account) ? { ...decoded, account: outputs.account } : decoded;
    const declaredScope = this.begin(inputs.account, options, news, oldOutputs);
    if (formerProvider && leavesAccount(declaredScope, outputs, formerProvider.settings)) {
      this.context.session.explainReplacementOnce(adviseSameAccount(declaredScope, outputs));
      return { changed: ["provider"], replaces: ["provider"], deleteBeforeReplace: false };
    }
    // If state has the digits of the declared account, at most its name has changed. Old state has none.
    const isRenamed = outputs.keyFingerprint !== undefined && isAccountOfState(declaredScope, outputs);
    const isKnown = inputs.account === outputs.account || isRenamed;
    const stateScope = isKnown ? declaredScope : this.stateScope(declaredScope, outputs, news, oldOutputs);
    // Two names of one account share a ledger, even if state still has the address and key from before a rotation.
    const isMoved = stateScope.ledger !== declaredScope.ledger;
    const scope = isMoved ? stateScope : declaredScope;
    const changes = diff(scope, id, outputs, inputs, isMoved);
    scope.claims.hear(id, outputs, options.owner);
    assertImportStays(scope, inputs, changes);
    assertIgnoredValuesStay(scope, outputs, inputs, changes);
    if (changes.replaces.length === 0) scope.claims.keep(id, outputs, options.owner);
    const changed =
      changes.changed.length > 0 ? changes.changed : this.hiddenChanges(outputs, news, secretNames);
    const urnSuffix = this.context.session.owners.urnSuffixOf(options.owner);
    if (urnSuffix !== undefined) this.context.reviewFile?.addChanges(urnSuffix, changed);
    const result = { ...changes, changed };
    return wasImported ? assertNothingOverwritten(scope, id, inputs, result) : result;
  }

  /** Connects to the account that state names, whose settings may have got another name. */
  private stateScope(
    declaredScope: OperationScope,
    outputs: Outputs,
    ...properties: readonly Properties[]
  ): OperationScope {
    const { options } = declaredScope;
    try {
      return beginOperation(this.connect(outputs.account), options);
    } catch (error) {
      if (!(error instanceof NoAccountError)) return this.begin(outputs.account, options, ...properties);
      throw new UptimeError(
        message`State has the account ${JSON.stringify(safeName(outputs.account ?? ""))}, which
          ${sourceOf(declaredScope.settings, "accounts")} does not have now. If it is the declared one, with another address or key,
          ${adviseSameAccount(declaredScope, outputs)}; otherwise set it again.`,
        { cause: error },
      );
    }
  }

  /**
   * Whether a resource has only read its record so far, as with `get`. Pulumi itself neither updates nor deletes what it has only read.
   * But if the program declares another resource in its place, `--refresh` with `--run-program` makes Pulumi forget that. `pulumi do`, which
   * has no preview, changes what it has just read.
   */
  private hasOnlyRead({ isReadOnly }: Outputs): boolean {
    return isReadOnly === true && this.context.session.hasPreview;
  }

  /** Throws if a resource of the program would change a record that was only read. */
  private assertNotOnlyRead(id: string, outputs: Outputs, { owner }: RequestOptions): void {
    if (!this.hasOnlyRead(outputs) || !this.context.session.owners.isDeclared(owner)) return;
    const { label, singular } = this.definition;
    throw new UptimeError(
      message`${label} ${quoteId(id)} was only read until now, and this would change it. Run \`pulumi state delete URN\`, which deletes
        nothing in the API, and \`pulumi up\` again: it creates or imports the ${singular} that the program declares.`,
    );
  }

  /**
   * What needs an update although no value differs: what an earlier one has left undone, and inputs that the program has begun to mark as
   * secret. Without an update, the engine keeps the outputs as they are. It also removes these inputs from attributes: `url`, for
   * example, if the server shows it as `last_checked_url` too.
   */
  private hiddenChanges(
    { attributes, isPartial }: Outputs,
    news: Properties,
    before: DiffRequest["secretNames"],
  ): readonly string[] {
    if (isPartial) return [hiddenNames.isPartial];
    const marked = secretInputNames(news).filter(
      (name) => Object.hasOwn(this.definition.fields, name) && news[name] != null,
    );
    if (marked.length === 0) return [];
    const fresh = marked.filter(
      (name) => before?.includes(name) === false && !this.definition.fields[name]?.secret,
    );
    if (fresh.length > 0) return fresh;
    const cleaned = this.redactorFor(news).attributes(this.definition, attributes);
    return isDeepStrictEqual(cleaned, attributes) ? [] : marked;
  }

  /**
   * Creates a record or, if there is an old state, updates it. Encodes the new state.
   *
   * @param properties the new inputs, then what state has
   */
  async save(
    properties: RequestProperties,
    options: RequestOptions,
    old?: Pick<OperationResult, "id" | "outputs">,
  ): Promise<{ id: string; outputs: Properties }> {
    const [news] = properties;
    const inputs = decodeInputs(this.definition, news);
    const scope = this.begin(inputs.account, options, ...properties);
    const { id, outputs, announcement, namesake } = await (old
      ? update(scope, old.id, old.outputs, inputs)
      : create(scope, inputs));
    this.announce(announcement, [news], options.urn);
    if (namesake)
      this.context.session.noteNamesake({
        text: this.redactorFor(news).message(namesake.text),
        isStillFree: namesake.isStillFree,
        adoptSetting: sourceOf(scope.settings, "adoptExisting"),
      });
    // What the program no longer marks as secret is not marked in the new state either.
    return { id, outputs: this.markSecrets(this.encodeClean(outputs, ...properties), news) };
  }

  /** @param properties the resource's inputs and outputs */
  async delete(
    id: string,
    outputs: Outputs,
    properties: readonly Properties[],
    options: RequestOptions,
  ): Promise<void> {
    const announcement = this.hasOnlyRead(outputs)
      ? message`${this.definition.label} ${quoteId(id)} was not deleted, because it was only read.`
      : await deleteRecord(this.begin(outputs.account, options, ...properties), id, outputs);
    this.announce(announcement, properties, options.urn);
  }

  /** Reads a record that the program does not manage. Undefined if it is in state, and gone for certain. */
  async readForGet(
    id: string,
    properties: Properties,
    options: RequestOptions,
  ): Promise<{ outputs: Properties; inputs: Properties } | undefined> {
    const inState = decodeOutputs(this.definition, properties);
    const { account } = inState;
    const scope = this.begin(account, options, properties);
    const outputs = isInState(properties)
      ? await readUnmanagedAgain(scope, id, inState)
      : (await readUnmanaged(scope, id, account)).outputs;
    if (!outputs) return undefined;
    return {
      outputs: this.encodeState(outputs, {}, properties),
      // The next preview compares these inputs with those of the program, which declares nothing else.
      inputs: account === undefined ? {} : { account },
    };
  }

  /**
   * Runs an operation. Throws nothing but an {@link OperationError}.
   *
   * @param properties neither the error nor state shows their secrets
   */
  async run<T>(properties: RequestProperties, operation: () => T | Promise<T>): Promise<T> {
    try {
      return await this.context.session.track(operation);
    } catch (error) {
      const text = this.redactorFor(...properties).error(this.context.session.explainKeyOnce(error));
      const options = { cause: error };
      if (!(error instanceof PartialFailureError)) throw new OperationError(text, options);
      // State keeps the declared inputs, so that the next read finds the difference.
      const kept = { id: error.id, outputs: this.encodeState(error.outputs, ...properties) };
      throw new OperationError(text, options, kept);
    }
  }

  /**
   * Outputs as state keeps them.
   *
   * @param from the resource's inputs or former outputs, whose hidden options are kept
   * @param others the resource's other properties; attributes must not show their secrets either
   */
  encodeState(outputs: Outputs, from: Properties, ...others: readonly Properties[]): Properties {
    return this.markSecrets(this.encodeClean(outputs, from, ...others), from, ...others);
  }

  /** Outputs as state keeps them, before their secrets are marked. */
  private encodeClean(outputs: Outputs, from: Properties, ...others: readonly Properties[]): Properties {
    const clean = (attributes: Outputs["attributes"]): Properties =>
      this.redactorFor(outputs.values, from, ...others).attributes(this.definition, attributes);
    return encodeOutputs(outputs, clean, from);
  }

  protected redactorFor(...properties: readonly Properties[]): Redactor {
    const definition = this.markedDefinition(...properties);
    return new Redactor([...this.context.session.secrets, ...secretsIn(definition, ...properties)]);
  }

  private announce(
    announcement: Message | undefined,
    properties: readonly Properties[],
    urn: string | undefined,
  ): void {
    if (announcement === undefined) return;
    this.context.session.announce(() => {
      this.context.print("info", this.redactorFor(...properties).message(announcement), urn);
    });
  }
}
