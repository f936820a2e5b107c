import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

import type { dynamic } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import { unmarked } from "../definitions/marks";
import { operationOf } from "../lifecycle/account";
import type { Account, Connect } from "../lifecycle/account";
import { namesakesOf } from "../lifecycle/adopt";
import { readBaseline } from "../lifecycle/creates";
import type { Baseline } from "../lifecycle/creates";
import { identityKeys, wantedValues } from "../lifecycle/difference";
import { decodeInputs } from "./request";
import type { Encoder, Properties } from "./request";

/**
 * The environment variable with which `pulumi-uptime doctor --program` runs a preview. It names a file. `check` then writes
 * there what it would refuse, and lets the preview go on, because the engine stops at the first refusal.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** The hidden input by which a step of the preview and a line of the file find each other; Pulumi's dynamic host knows no URNs. */
export const collectedKey = "__collected";

/** A line of the file: what `check` has found of a resource. */
export interface CollectedResource {
  /** The resource's URN, or what its inputs hold under `__collected`. Undefined if neither is known. */
  readonly key?: string | undefined;
  /** The class: `Monitor`, for example. */
  readonly label: string;
  readonly isInState: boolean;
  /** The name of an explicit provider. */
  readonly provider?: string | undefined;
  /** A fingerprint of the account, as state has it under `__key`; undefined if its settings cannot be used. */
  readonly account?: string | undefined;
  /** The id in the option `import`. */
  readonly importId?: string | undefined;
  /** Why a preview would refuse it; each begins with the property. */
  readonly problems: readonly string[];
  /** Of a new resource: the records that agree in what identifies them. */
  readonly alike?: readonly AlikeRecord[] | undefined;
  /** Whether its create may adopt one of them. */
  readonly isAdopting?: boolean | undefined;
}

/** A record of the same name (a monitor: and URL). */
export interface AlikeRecord {
  readonly id: string;
  /** The properties that differ from what the program declares. */
  readonly differs: readonly string[];
}

/** A line of the file: an explicit provider, and why its server cannot be used. */
export interface CollectedProvider {
  readonly provider: string;
  readonly address: string;
  readonly problem?: string | undefined;
}

/** What a front is asked to check. */
interface CheckedProperties {
  readonly olds: Properties;
  readonly news: Properties;
  readonly importId: string | undefined;
  /** The URN, if the front knows it. */
  readonly key?: string;
  /** The name of an explicit provider. */
  readonly provider?: string | undefined;
}

/** What a front says of it. */
interface Checked {
  readonly inputs: Properties;
  readonly problems: readonly string[];
}

/** Whether `check` has refused a resource in state; its diff must have changes, so that the preview has a step for it. */
export function isRefused(news: Properties): boolean {
  return news[collectedKey] !== undefined;
}

/** Collects what a preview would refuse of one kind of resource. */
export class Collector {
  private readonly label: string;
  /** Of each account all records, by name, or why they cannot be read; that is not tried again for each resource. */
  private readonly lists = new Map<Account, Promise<Baseline>>();

  constructor(
    private readonly file: string,
    readonly encoder: Encoder,
    private readonly connect: Connect,
  ) {
    this.label = encoder.definition.label;
  }

  add(line: CollectedResource | CollectedProvider): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }

  /** Refuses to create, update or delete: `pulumi up` under the variable changes nothing. */
  readonly refuse = (): never => {
    throw new UptimeError(
      `${collectVariable} is set, so this run only collects what a preview would refuse. Unset it to create, update or delete.`,
    );
  };

  /** Checks a resource, and collects the problems. The inputs returned say under which key, if a step will show them. */
  async check(
    { olds, news, importId, key = randomUUID(), provider }: CheckedProperties,
    run: () => Promise<Checked>,
  ): Promise<Checked> {
    const isInState = Object.keys(olds).length > 0;
    let { inputs, problems }: Checked = { inputs: news, problems: [] };
    let account: Account | undefined;
    let alike: readonly AlikeRecord[] | undefined;
    try {
      ({ inputs, problems } = await run());
      account = this.connect(decodeInputs(inputs).account);
      if (provider !== undefined) await this.probe(provider, account);
      if (!isInState && importId === undefined) alike = await this.alike(account, inputs);
    } catch (error) {
      if (problems.length === 0) problems = [this.encoder.error(error, news)];
    }
    this.add({
      key,
      label: this.label,
      isInState,
      provider,
      account: account?.keyFingerprint,
      importId,
      problems,
      alike,
      isAdopting: account?.settings.adoptExisting,
    });
    // A resource in state gets the mark only if its update is refused, so the mark never gets into state.
    const isShown = !isInState || problems.length > 0;
    return { inputs: isShown ? { ...inputs, [collectedKey]: key } : inputs, problems };
  }

  /** Collects why a resource in state cannot be compared. */
  addFailure(error: unknown, news: Properties, key?: string): void {
    this.add({
      key,
      label: this.label,
      isInState: true,
      problems: [this.encoder.error(error, news)],
    });
  }

  /** Says once for each explicit provider whether its server answers with its key. */
  private async probe(provider: string, account: Account): Promise<void> {
    if (this.lists.has(account)) return;
    const { url } = account.address;
    try {
      await this.list(account);
      this.add({ provider, address: url });
    } catch (error) {
      this.add({ provider, address: url, problem: this.encoder.error(error) });
    }
  }

  /** The records of the same name, of which a create would choose by `uptime:adoptExisting`. */
  private async alike(account: Account, inputs: Properties): Promise<readonly AlikeRecord[] | undefined> {
    const { definition } = account;
    const { values } = decodeInputs(unmarked(inputs) as Properties);
    const sent = wantedValues(definition, values, (_, field) => !field.updateOnly);
    if (identityKeys(definition).some((key) => !sent.has(key))) return undefined;
    const list = await this.list(account);
    const namesakes = await namesakesOf(account, sent, list, operationOf(account));
    return namesakes.map(({ record, differences }) => ({
      id: record.id,
      differs: differences.map(({ key }) => key),
    }));
  }

  private list(account: Account): Promise<Baseline> {
    const list = this.lists.get(account) ?? readBaseline(account.collection, operationOf(account));
    this.lists.set(account, list);
    return list;
  }
}

/** The provider of a kind in Pulumi's dynamic host, collecting. */
export function collecting(
  provider: dynamic.ResourceProvider,
  collector: Collector,
): dynamic.ResourceProvider {
  const { refuse } = collector;
  return {
    ...provider,
    check: async (olds: Properties, news: Properties) => {
      const importId = typeof news.importId === "string" ? news.importId : undefined;
      const { inputs } = await collector.check({ olds, news, importId }, async () => {
        const checked = await provider.check?.(olds, news);
        return {
          inputs: (checked?.inputs ?? news) as Properties,
          problems: (checked?.failures ?? []).map(({ reason }) => reason),
        };
      });
      return { inputs };
    },
    diff: async (id, olds: Properties, news: Properties) => {
      if (isRefused(news)) return { changes: true };
      try {
        return (await provider.diff?.(id, olds, news)) ?? {};
      } catch (error) {
        collector.addFailure(error, news);
        return { changes: false };
      }
    },
    create: refuse,
    update: refuse,
    delete: refuse,
  };
}
