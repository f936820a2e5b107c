import { safeName } from "../../common/text";
import type { Definition } from "../../definitions/field";
import { providerType } from "../../common/pulumi";
import { explicitProviderOf, isDefaultProvider, parseUrn, providerUrnOf } from "../../common/urn";
import type { RecordScope } from "../../lifecycle/record-scope";
import type { Session } from "../../lifecycle/session";
import type { CommandSettings } from "./setting-options";
import type { StateResource } from "./state";

/** Connects to an account of a provider, as resources refer to it, for one kind of record. */
export type ConnectTo = (
  provider: string | undefined,
  definition: Definition,
  account: string | undefined,
) => RecordScope;

/** For the resources of a state. The providers that Pulumi has made from the stack's configuration count as one. */
export function connectorTo(
  state: readonly StateResource[],
  settings: CommandSettings,
  session: Session,
): ConnectTo {
  const explicit = new Map(
    state
      .filter(({ type, urn }) => type === providerType && !isDefaultProvider(urn))
      .map((resource) => [referenceTo(resource), settings.forProvider(resource)]),
  );
  return (provider = "", definition, account) =>
    session.connect(definition, (explicit.get(provider) ?? settings.forAccount)(account));
}

/** The account or the explicit provider of a resource, if it has a name. */
export function accountOrProviderName(provider: string | undefined, account: unknown): string | undefined {
  if (typeof account === "string") return account;
  const urn = explicitProviderOf(provider);
  return urn && parseUrn(urn).name;
}

/** The same, to be shown: what is given as an account's name may be a key. */
export function shownAccount(provider: string | undefined, account: unknown): string | undefined {
  return typeof account === "string" ? safeName(account) : accountOrProviderName(provider, account);
}

/** Whether resources with these providers need the stack's own settings: not if each provider is an explicit one. */
export function usesStackSettings(references: readonly (string | undefined)[]): boolean {
  return references.length === 0 || references.some((one) => isDefaultProvider(providerUrnOf(one)));
}

/** How resources refer to their provider. The URN alone is not enough: a provider that was replaced has it too. */
export function referenceTo({ urn, id }: Pick<StateResource, "urn" | "id">): string {
  return `${urn}::${id}`;
}
