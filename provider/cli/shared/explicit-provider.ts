import { SettingsUnknownError, UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { unknownValue } from "../../definitions/marks";
import { isDefaultProvider, parseUrn } from "../../definitions/urn";
import { Session } from "../../lifecycle/session";
import type { Connect } from "../../lifecycle/account";
import type { AccountSettings, CommandSettings } from "./setting-options";
import { clearProperties } from "./state";

/** The type of a provider of the plugin that a program declares itself. */
export const providerType = "pulumi:providers:uptime";

/** What resources of one provider have in common: its settings, and what is learned of its records. */
export interface Scope {
  /** The provider's name; undefined for the one that Pulumi makes of the stack's configuration. */
  readonly provider: string | undefined;
  readonly session: Session;
  readonly forAccount: AccountSettings;
  readonly connectTo: (definition: Definition) => Connect;
}

/** A resource as its program or its state has it. */
interface Provided {
  /** The provider's URN and id. */
  readonly provider?: string | undefined;
}

/** A provider as a program or its state has it. */
interface DeclaredProvider {
  readonly urn: string;
  readonly type: string;
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

/** Finds the provider of each resource, among the resources of a program or of a state. */
export function scopesOf(
  resources: readonly DeclaredProvider[],
  settings: CommandSettings,
): (resource: Provided) => Scope {
  const usual = scopeWith(undefined, settings.forAccount);
  const scopes = new Map<string, Scope>();
  const providers = resources.filter(({ type }) => type === providerType);
  return ({ provider }) => {
    // The reference is the URN and the id.
    const urn = provider?.replace(/::[^:]*$/, "") ?? "";
    const declared = isDefaultProvider(urn) ? undefined : providers.find((one) => one.urn === urn);
    if (!declared) return usual;
    let scope = scopes.get(urn);
    if (!scope) scopes.set(urn, (scope = scopeOf(declared, settings)));
    return scope;
  };
}

function scopeOf({ urn, inputs }: DeclaredProvider, { forProvider }: CommandSettings): Scope {
  const provider = parseUrn(urn).name;
  const { plain, encrypted } = clearProperties(inputs);
  const isUnknown = Object.values(plain).includes(unknownValue);
  const forAccount = forProvider(plain);
  return scopeWith(provider, (account) => {
    if (isUnknown)
      throw new SettingsUnknownError(
        `The settings of the provider ${provider} are not known before \`pulumi up\`.`,
      );
    if (encrypted.length > 0)
      throw new UptimeError(
        `The provider ${provider} has settings that are encrypted in the state (${encrypted.join(", ")}), so its resources ` +
          "cannot be compared. `pulumi stack export --show-secrets` writes a state that can be compared.",
      );
    try {
      return forAccount(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      throw new UptimeError(`The provider ${provider}: ${error.message}`, { cause: error });
    }
  });
}

function scopeWith(provider: string | undefined, forAccount: AccountSettings): Scope {
  const session = new Session();
  const connectors = new Map(
    definitions.map((definition) => [definition, session.connector(definition, forAccount)]),
  );
  const connectTo = (definition: Definition): Connect =>
    connectors.get(definition) ?? session.connector(definition, forAccount);
  return { provider, session, forAccount, connectTo };
}
