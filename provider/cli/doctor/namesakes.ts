import { compareIds } from "../../api/record";
import { sourceOf } from "../../api/settings";
import { isDefaultProvider, parseUrn, providerUrnOf } from "../../common/urn";
import { groupBy } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { identityKeys } from "../../definitions/keys";
import { namesakesOf } from "../../lifecycle/adopt";
import { wantedValuesOnCreate, type WantedValues } from "../../lifecycle/difference";
import { beginOperation } from "../../lifecycle/record-scope";
import type { Inputs } from "../../lifecycle/resource";
import type { Session } from "../../lifecycle/session";
import { connectorTo, referenceTo } from "../shared/providers";
import { titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { managedResources, managersIn, type StackState } from "../shared/state";
import { reasonOf } from "../shared/terminal";

/** A resource that a program declares. */
export interface DeclaredResource {
  readonly definition: Definition;
  /** The URN and id of its provider. */
  readonly provider: string;
  /** With their secrets in the clear. */
  readonly inputs: Inputs;
}

/** The values of a new resource; undefined if people do not know it by them yet. */
export function valuesToFind({ definition, inputs }: DeclaredResource): WantedValues | undefined {
  const wanted = wantedValuesOnCreate(definition, inputs.values);
  return identityKeys(definition).every((key) => wanted.has(key)) ? wanted : undefined;
}

/** The groups of items that people cannot tell apart. An item without an identity is like no other. */
export function twinsAmong<T>(items: readonly T[], identityOf: (item: T) => string | undefined) {
  const identified = items.filter((item) => identityOf(item) !== undefined);
  return [...groupBy(identified, identityOf).values()].filter((group) => group.length > 1);
}

/** A record with the name (and URL, for a monitor) that a new resource declares. */
export type FoundNamesake = Awaited<ReturnType<NamesakeFinder["find"]>>[number];

/** The record that a create adopts; undefined if there is none or are several. */
export function adoptedAmong(namesakes: readonly FoundNamesake[]): FoundNamesake | undefined {
  const equal = namesakes.filter(
    ({ adoptExisting, differs, owner }) => adoptExisting && owner === undefined && differs.length === 0,
  );
  return equal.length === 1 ? equal[0] : undefined;
}

/** Finds records of the names that a program's new resources declare, in the accounts that the stack's settings and state lead to. */
export class NamesakeFinder {
  /** A sentence for what could not be checked. */
  readonly unchecked = new Set<string>();
  private readonly connectTo;
  /** The references to what is in state. */
  private readonly known;
  private readonly findManager;

  constructor(
    state: StackState,
    settings: CommandSettings,
    private readonly session: Session,
  ) {
    const resources = state.deployment.resources ?? [];
    this.connectTo = connectorTo(resources, settings, session);
    this.known = new Set(resources.map(referenceTo));
    this.findManager = managersIn(managedResources(state));
  }

  /** The records of the name that a new resource declares, which its create would find with `uptime:adoptExisting`. */
  async find(resource: DeclaredResource) {
    const { definition, provider, inputs } = resource;
    const { account } = inputs;
    const wanted = valuesToFind(resource);
    if (!wanted) return [];
    const urn = providerUrnOf(provider);
    const { name } = parseUrn(urn);
    if (!isDefaultProvider(urn) && !this.known.has(provider)) {
      this.unchecked.add(
        `The provider ${name} is new, so its resources are not compared with the records in its account.`,
      );
      return [];
    }
    try {
      const scope = beginOperation(this.connectTo(provider, definition, account));
      const { creates, operation, settings } = scope;
      // The list is read once for all resources, because all are looked for at the same time.
      const baseline = await creates.readBaseline(operation);
      const found = await namesakesOf(scope, { wanted, baseline }, () => true);
      const records = found.map(({ record, differing }) => {
        const owner = this.findManager(scope, new Set([account]), record);
        return {
          id: record.id,
          /** The properties that differ from what is declared. */
          differs: differing.map(({ key }) => key),
          /** The resource that has it in state. */
          owner: owner && titleOf(owner.resource.urn),
          /** Whether the create adopts what is equal. */
          adoptExisting: settings.adoptExisting,
          /** What makes a create adopt, as people set it: `uptime:adoptExisting`, or an argument of an explicit provider. */
          adoptSetting: sourceOf(settings, "adoptExisting"),
        };
      });
      return records.sort((a, b) => compareIds(a.id, b.id));
    } catch (error) {
      const reason = reasonOf(error, this.session);
      this.unchecked.add(`The records of the provider ${name} cannot be read: ${reason}`);
      return [];
    }
  }
}
