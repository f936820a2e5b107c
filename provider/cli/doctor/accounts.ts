import type { ApiRecord } from "../../api/answer";
import { UptimeError } from "../../api/errors";
import { Operation } from "../../api/operation";
import { hiddenNames } from "../../common/pulumi";
import { isDefaultProvider, parseUrn, providerUrn } from "../../common/urn";
import { groupBy } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { identityKeys } from "../../definitions/keys";
import { Redactor } from "../../engine/redactor";
import { comparableName } from "../../lifecycle/baseline";
import { readListed } from "../../lifecycle/complete-records";
import { differences, type WantedValues } from "../../lifecycle/difference";
import type { RecordScope } from "../../lifecycle/record-scope";
import type { Session } from "../../lifecycle/session";
import type { PreviewStep } from "../shared/preview";
import { providersOf, referenceTo } from "../shared/providers";
import { readableValues } from "../shared/readable-values";
import { titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { managedResources, type Deployment } from "../shared/state";

/** A record with the name (and URL, for a monitor) that a new resource declares. */
export interface SimilarRecord {
  readonly id: string;
  /** The properties that differ from what is declared. */
  readonly differs: readonly string[];
  /** The resource that has it in state, or imports it. */
  readonly owner: string | undefined;
}

/** The accounts of a program's new resources that can be reached with the stack's settings and state. */
export class Accounts {
  /** A sentence for what could not be checked. */
  readonly unchecked = new Set<string>();
  private readonly providerOf: ReturnType<typeof providersOf>;
  /** The references to what is in state. */
  private readonly known: ReadonlySet<string>;
  /** The records in each list by name; a list is read once. */
  private readonly lists = new Map<unknown, Promise<Map<string, ApiRecord[]>>>();

  constructor(
    private readonly state: Deployment,
    settings: CommandSettings,
    private readonly session: Session,
  ) {
    const resources = state.deployment.resources ?? [];
    this.providerOf = providersOf(resources, settings, session);
    this.known = new Set(resources.map(referenceTo));
  }

  /** The records of the name that a new resource declares. */
  async similarRecords(
    step: PreviewStep,
    definition: Definition,
    wanted: WantedValues,
  ): Promise<SimilarRecord[]> {
    const { provider: reference = "" } = step.newState ?? {};
    const provider = providerUrn(reference);
    const { name } = parseUrn(provider);
    if (!isDefaultProvider(provider) && !this.known.has(reference)) {
      this.unchecked.add(
        `The provider ${name} is new, so its resources are not compared with the records in its account.`,
      );
      return [];
    }
    try {
      const connectTo = this.providerOf({ provider: reference });
      const account = step.newState?.inputs?.account;
      return await this.find(
        connectTo(definition)(typeof account === "string" ? account : undefined),
        wanted,
      );
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      const reason = new Redactor(this.session.secrets).error(error);
      this.unchecked.add(`The records of the provider ${name} cannot be read: ${reason}`);
      return [];
    }
  }

  private async find(scope: RecordScope, wanted: WantedValues): Promise<SimilarRecord[]> {
    const { definition } = scope;
    const operation = new Operation(scope);
    const list = this.lists.get(scope.reader) ?? recordsByName(scope, operation);
    this.lists.set(scope.reader, list);
    const keys = identityKeys(definition);
    const identity = new Map([...wanted].filter(([key]) => keys.includes(key)));
    const found: SimilarRecord[] = [];
    for (const { id, ...listed } of (await list).get(nameIn(definition, wanted)) ?? []) {
      if (differences(definition, identity, { id, ...listed }).length > 0) continue;
      // A list may leave fields out.
      const record = await readListed(scope, id, operation);
      const differs = record && differences(definition, wanted, record).map(({ key }) => key);
      if (differs) found.push({ id, differs, owner: this.ownerOf(scope, id) });
    }
    return found;
  }

  /** The resource of the stack that has a record. On another server, the same id is another record. */
  private ownerOf({ definition, address }: RecordScope, id: string): string | undefined {
    const owner = managedResources(this.state).find(({ definition: { label }, resource }) => {
      const server = resource.outputs?.[hiddenNames.serverHash];
      return (
        resource.id === id && label === definition.label && (server === undefined || server === address.hash)
      );
    });
    return owner && titleOf(owner.resource);
  }
}

async function recordsByName(scope: RecordScope, operation: Operation): Promise<Map<string, ApiRecord[]>> {
  const { definition, reader } = scope;
  const list = await reader.wholeList(operation);
  return groupBy(list.all(), (record) => nameIn(definition, readableValues(definition, record)));
}

/** What a person knows a record by first, in one spelling. */
function nameIn(definition: Definition, values: WantedValues): string {
  return comparableName(values.get(identityKeys(definition)[0] ?? ""));
}
