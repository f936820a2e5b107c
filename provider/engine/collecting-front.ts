import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

import { UptimeError } from "../api/errors";
import { Operation } from "../api/operation";
import { identityKeys } from "../definitions/keys";
import { unwrapSecrets, type Properties } from "../definitions/marks";
import { hiddenNames } from "../definitions/pulumi";
import { namesakesOf } from "../lifecycle/adopt";
import { readBaseline, type Baseline } from "../lifecycle/baseline";
import type { Changes } from "../lifecycle/diff";
import { wantedValuesOnCreate } from "../lifecycle/difference";
import type { RecordScope } from "../lifecycle/record-scope";
import type { EngineOptions, Outputs } from "../lifecycle/resource";
import { collectVariable, type CollectedLine, type NamesakeLine } from "./collected";
import { Front, type CheckRequest, type CheckResult, type FrontContext } from "./front";
import { decodeInputs } from "./request";

/** Writes down what a preview would refuse, and lets the preview go on: see {@link collectVariable}. */
export class CollectingFront extends Front {
  override readonly isCollecting = true;
  /** All records of each account, read once: a failed read is not tried again for each resource either. */
  private readonly baselines = new Map<RecordScope, Promise<Baseline>>();
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
    const unchanged: Changes = { changed: [], replaces: [], isInTheWay: false };
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

  override save(): never {
    return refuseWrites();
  }

  override delete(): never {
    return refuseWrites();
  }

  private add(line: CollectedLine): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }

  /** Says once for each explicit provider whether its server answers with its key. */
  private async probe(provider: string, scope: RecordScope): Promise<void> {
    if (this.baselines.has(scope)) return;
    const { url } = scope.address;
    try {
      await this.baselineOf(scope);
      this.add({ provider, address: url });
    } catch (error) {
      this.add({ provider, address: url, problem: this.cleanerFor().error(error) });
    }
  }

  /** The records of the same name, of which a create would choose by `uptime:adoptExisting`. */
  private async namesakes(scope: RecordScope, inputs: Properties): Promise<NamesakeLine[] | undefined> {
    const { definition } = scope;
    const { values } = decodeInputs(definition, unwrapSecrets(inputs) as Properties);
    const wantedOnCreate = wantedValuesOnCreate(definition, values);
    if (identityKeys(definition).some((key) => !wantedOnCreate.has(key))) return undefined;
    const baseline = await this.baselineOf(scope);
    const namesakes = await namesakesOf(scope, wantedOnCreate, baseline, new Operation(scope));
    return namesakes.map(({ record, differing }) => ({
      id: record.id,
      differs: differing.map(({ key }) => key),
    }));
  }

  private baselineOf(scope: RecordScope): Promise<Baseline> {
    const baseline = this.baselines.get(scope) ?? readBaseline(scope.collection, new Operation(scope));
    this.baselines.set(scope, baseline);
    return baseline;
  }
}

function refuseWrites(): never {
  throw new UptimeError(
    `${collectVariable} is set, so this run only collects what a preview would refuse. Unset it to create, update or delete.`,
  );
}
