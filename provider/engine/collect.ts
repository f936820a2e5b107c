import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

import * as z from "zod/mini";

import { UptimeError } from "../api/errors";
import { Operation } from "../api/operation";
import { unwrapSecrets } from "../definitions/marks";
import type { Properties } from "../definitions/marks";
import { hiddenNames } from "../definitions/pulumi";
import { identityKeys } from "../definitions/keys";
import type { RecordScope } from "../lifecycle/record-scope";
import { namesakesOf } from "../lifecycle/adopt";
import { readBaseline } from "../lifecycle/baseline";
import type { Baseline } from "../lifecycle/baseline";
import { wantedValues } from "../lifecycle/difference";
import type { Changes } from "../lifecycle/diff";
import type { EngineOptions, Outputs } from "../lifecycle/resource";
import { Front } from "./front";
import type { CheckRequest, CheckResult, FrontContext } from "./front";
import { decodeInputs } from "./request";

/**
 * The environment variable with which `pulumi-uptime doctor --program` runs a preview. It names a file. `check` then writes
 * there what it would refuse, and lets the preview go on, because the engine stops at the first refusal.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** A record of the same name (a monitor: and URL). */
const namesakeLine = z.object({
  id: z.string(),
  /** The properties that differ from what the program declares. */
  differs: z.array(z.string()),
});

const collectedResource = z.object({
  /** The resource's URN, or what its inputs hold under {@link hiddenNames.stepId}. Undefined if neither is known. */
  stepId: z.optional(z.string()),
  /** The class: `Monitor`, for example. */
  label: z.string(),
  isInState: z.boolean(),
  /** The name of an explicit provider. */
  provider: z.optional(z.string()),
  /** A fingerprint of the account, as state has it under `__key`; undefined if its settings cannot be used. */
  keyFingerprint: z.optional(z.string()),
  /** Fingerprints of its address and of those that it has moved from, as state has them under `__server`. */
  servers: z.optional(z.array(z.string())),
  /** The id in the option `import`. */
  importId: z.optional(z.string()),
  /** Why a preview would refuse it; each begins with the property. */
  problems: z.array(z.string()),
  /** Of a new resource: the records that agree in what identifies them. */
  namesakes: z.optional(z.array(namesakeLine)),
  /** Its create may adopt one of them. */
  mayAdopt: z.optional(z.boolean()),
});

const collectedProvider = z.object({
  provider: z.string(),
  address: z.string(),
  /** Why its server cannot be used. */
  problem: z.optional(z.string()),
});

/** A line of the file. */
export const collectedLine = z.union([collectedResource, collectedProvider]);
/** A resource that was checked. */
export type CollectedResource = z.infer<typeof collectedResource>;
export type NamesakeLine = z.infer<typeof namesakeLine>;
/** An explicit provider. */
export type CollectedProvider = z.infer<typeof collectedProvider>;

/** The front of one kind of resource; under {@link collectVariable} one that refuses nothing in a preview. */
export function newFront(context: FrontContext, env: NodeJS.ProcessEnv): Front {
  const file = env[collectVariable];
  return file ? new CollectingFront(context, file) : new Front(context);
}

/** Writes down what a preview would refuse, and lets the preview go on. */
class CollectingFront extends Front {
  override readonly isCollecting = true;
  /** All records of each account, read once: a failed read is not tried again for each resource either. */
  private readonly lists = new Map<RecordScope, Promise<Baseline>>();
  /** The resources in state that are refused, by what their inputs hold under {@link hiddenNames.stepId}. */
  private readonly refused = new Set<unknown>();

  constructor(
    context: FrontContext,
    private readonly file: string,
  ) {
    super(context);
  }

  override async check(request: CheckRequest): Promise<CheckResult> {
    const { declaration, news, isInState, importId } = request;
    const stepId = declaration.options.urn ?? randomUUID();
    const provider = this.context.provider?.();
    let { inputs, problems }: CheckResult = { inputs: news, problems: [] };
    let scope: RecordScope | undefined;
    let namesakes: NamesakeLine[] | undefined;
    try {
      ({ inputs, problems } = await super.check(request));
      scope = this.connect(decodeInputs(this.definition, inputs).account);
      if (provider !== undefined) await this.probe(provider, scope);
      if (!isInState && importId === undefined) namesakes = await this.namesakes(scope, inputs);
    } catch (error) {
      if (problems.length === 0) problems = [this.cleanerFor(news).error(error)];
    }
    this.add({
      stepId,
      label: this.definition.label,
      isInState,
      provider,
      keyFingerprint: scope?.keyFingerprint,
      servers: scope && [scope.address, ...scope.settings.movedFrom].map(({ hash }) => hash),
      importId,
      problems: [...problems],
      namesakes,
      mayAdopt: scope?.settings.adoptExisting,
    });
    // Only a resource whose update is refused gets the mark, so it is never stored.
    if (isInState && problems.length === 0) return { inputs, problems };
    if (isInState) this.refused.add(stepId);
    return { inputs: { ...inputs, [hiddenNames.stepId]: stepId }, problems: [] };
  }

  override diff(id: string, outputs: Outputs, news: Properties, options: EngineOptions): Changes {
    const unchanged: Changes = { changed: [], replaces: [], deleteBeforeReplace: false };
    const stepId = news[hiddenNames.stepId];
    // A preview has a step only for what changes.
    if (this.refused.has(stepId)) return { ...unchanged, changed: Object.keys(news).slice(0, 1) };
    // An import that changes something is refused by the engine.
    if (stepId !== undefined) return unchanged;
    try {
      return super.diff(id, outputs, news, options);
    } catch (error) {
      const problems = [this.cleanerFor(news).error(error)];
      this.add({ stepId: options.urn, label: this.definition.label, isInState: true, problems });
      return unchanged;
    }
  }

  /** `pulumi up` under the variable changes nothing. */
  override save(): never {
    throw new UptimeError(
      `${collectVariable} is set, so this run only collects what a preview would refuse. Unset it to create, update or delete.`,
    );
  }

  override delete(): never {
    this.save();
  }

  private add(line: z.infer<typeof collectedLine>): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }

  /** Says once for each explicit provider whether its server answers with its key. */
  private async probe(provider: string, scope: RecordScope): Promise<void> {
    if (this.lists.has(scope)) return;
    const { url } = scope.address;
    try {
      await this.list(scope);
      this.add({ provider, address: url });
    } catch (error) {
      this.add({ provider, address: url, problem: this.cleanerFor().error(error) });
    }
  }

  /** The records of the same name, of which a create would choose by `uptime:adoptExisting`. */
  private async namesakes(scope: RecordScope, inputs: Properties): Promise<NamesakeLine[] | undefined> {
    const { definition } = scope;
    const { values } = decodeInputs(definition, unwrapSecrets(inputs) as Properties);
    const wantedOnCreate = wantedValues(definition, values, (_, field) => !field.updateOnly);
    if (identityKeys(definition).some((key) => !wantedOnCreate.has(key))) return undefined;
    const list = await this.list(scope);
    const namesakes = await namesakesOf(scope, wantedOnCreate, list, new Operation(scope));
    return namesakes.map(({ record, differing }) => ({
      id: record.id,
      differs: differing.map(({ key }) => key),
    }));
  }

  private list(scope: RecordScope): Promise<Baseline> {
    const list = this.lists.get(scope) ?? readBaseline(scope.collection, new Operation(scope));
    this.lists.set(scope, list);
    return list;
  }
}
