import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { providerType } from "../../common/pulumi";
import { isDefaultProvider, parseUrn, providerUrn } from "../../common/urn";
import type { Connect } from "../../lifecycle/record-scope";
import type { Session } from "../../lifecycle/session";
import type { CommandSettings, SettingsOfAccount } from "./setting-options";
import type { StateResource } from "./state";

/** Connects to the accounts of a provider in state. */
export type StateProvider = (definition: Definition) => Connect;

/** Finds the provider of each resource in a state. Those that Pulumi has made from the stack's configuration count as one. */
export function providersOf(
  state: readonly StateResource[],
  settings: CommandSettings,
  session: Session,
): (resource: Pick<StateResource, "provider">) => StateProvider {
  const stackProvider = providerWith(settings.forAccount, session);
  const explicit = new Map(
    state
      .filter(({ type, urn }) => type === providerType && !isDefaultProvider(urn))
      .map((resource) => [referenceTo(resource), providerWith(settingsIn(resource, settings), session)]),
  );
  return ({ provider = "" }) => explicit.get(provider) ?? stackProvider;
}

/** Whether resources need the stack's own settings: not if each of them has an explicit provider. */
export function usesStackSettings(
  resources: readonly ({ readonly provider?: string | undefined } | null | undefined)[],
): boolean {
  return resources.length === 0 || resources.some((one) => isDefaultProvider(providerUrn(one?.provider)));
}

/** How resources refer to their provider. The URN alone is not enough: a provider that was replaced has it too. */
export function referenceTo({ urn, id }: Pick<StateResource, "urn" | "id">): string {
  return `${urn}::${id}`;
}

function settingsIn(
  { urn, inputs = {} }: StateResource,
  { forProvider }: CommandSettings,
): SettingsOfAccount {
  return (account) => {
    try {
      return forProvider(inputs)(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      throw new UptimeError(`The provider ${parseUrn(urn).name}: ${error.message}`, { cause: error });
    }
  };
}

function providerWith(settingsOf: SettingsOfAccount, session: Session): StateProvider {
  return (definition) => (account) => session.connect(definition, settingsOf(account));
}
