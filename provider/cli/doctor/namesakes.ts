import { compareIds } from "../../api/answer";
import { UptimeError } from "../../api/errors";
import { Operation } from "../../api/operation";
import { isDefaultProvider, parseUrn, providerUrnOf } from "../../common/urn";
import type { Definition } from "../../definitions/field";
import { Redactor } from "../../engine/redactor";
import { namesakesOf } from "../../lifecycle/adopt";
import { readBaseline, type Baseline } from "../../lifecycle/baseline";
import type { WantedValues } from "../../lifecycle/difference";
import type { RecordScope } from "../../lifecycle/record-scope";
import type { Session } from "../../lifecycle/session";
import type { PreviewStep } from "../shared/preview";
import { connectorTo, referenceTo, type ConnectTo } from "../shared/providers";
import { titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { managedResources, managesRecord, type StackState } from "../shared/state";
import { getOrMake } from "../../common/values";

/** A record with the name (and URL, for a monitor) that a new resource declares. */
export interface FoundNamesake {
  readonly id: string;
  /** The properties that differ from what is declared. */
  readonly differs: readonly string[];
  /** The resource that has it in state, or imports it. */
  readonly owner: string | undefined;
  /** Whether the create adopts what is equal: `uptime:adoptExisting` is set. */
  readonly adoptExisting: boolean;
}

/** Finds records of the names that a program's new resources declare, in the accounts that the stack's settings and state lead to. */
export class NamesakeFinder {
  /** A sentence for what could not be checked. */
  readonly unchecked = new Set<string>();
  private readonly connectTo: ConnectTo;
  /** The references to what is in state. */
  private readonly known: ReadonlySet<string>;
  /** By the readers of the accounts; each list is read once. */
  private readonly baselines = new Map<unknown, Promise<Baseline>>();

  constructor(
    private readonly state: StackState,
    settings: CommandSettings,
    private readonly session: Session,
  ) {
    const resources = state.deployment.resources ?? [];
    this.connectTo = connectorTo(resources, settings, session);
    this.known = new Set(resources.map(referenceTo));
  }

  /** The records of the name that a new resource declares. */
  async find(step: PreviewStep, definition: Definition, wanted: WantedValues): Promise<FoundNamesake[]> {
    const { provider: reference = "" } = step.newState ?? {};
    const provider = providerUrnOf(reference);
    const { name } = parseUrn(provider);
    if (!isDefaultProvider(provider) && !this.known.has(reference)) {
      this.unchecked.add(
        `The provider ${name} is new, so its resources are not compared with the records in its account.`,
      );
      return [];
    }
    try {
      const account = step.newState?.inputs?.account;
      const known = typeof account === "string" ? account : undefined;
      return await this.findIn(this.connectTo({ provider: reference }, definition, known), wanted, account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      const reason = new Redactor(this.session.secrets).error(error);
      this.unchecked.add(`The records of the provider ${name} cannot be read: ${reason}`);
      return [];
    }
  }

  /** The records that a create would find with `uptime:adoptExisting`. */
  private async findIn(scope: RecordScope, wanted: WantedValues, account: unknown): Promise<FoundNamesake[]> {
    const { collection, ledger, reader } = scope;
    const operation = new Operation(scope);
    const baseline = getOrMake(this.baselines, reader, () => readBaseline(collection, ledger, operation));
    const found = await namesakesOf(scope, wanted, await baseline, operation, () => true);
    const managed = managedResources(this.state);
    const records = found.map(({ record, differing }) => {
      const owner = managed.find((one) => managesRecord(one, scope, account, record));
      return {
        id: record.id,
        differs: differing.map(({ key }) => key),
        owner: owner && titleOf(owner.resource),
        adoptExisting: scope.settings.adoptExisting,
      };
    });
    return records.sort((a, b) => compareIds(a.id, b.id));
  }
}
