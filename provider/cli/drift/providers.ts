import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { isDefaultProvider, parseUrn } from "../../definitions/urn";
import type { Connect } from "../../lifecycle/record-scope";
import type { Session } from "../../lifecycle/session";
import type { ComparedResource } from "./comparison";
import type { AccountSettings, CommandSettings } from "../shared/setting-options";
import { clearProperties } from "../shared/state";
import type { StateResource } from "../shared/state";

/** A provider as drift needs it. */
export interface Provider {
  readonly connectTo: (definition: Definition) => Connect;
  /** The first comparison in each account. */
  readonly first: Map<unknown, Promise<ComparedResource>>;
}

/** Finds the provider of each resource in a state. All that Pulumi has made of the stack's configuration are one. */
export function providersOf(
  state: readonly StateResource[],
  settings: CommandSettings,
  session: Session,
): (resource: Pick<StateResource, "provider">) => Provider {
  const usual = providerWith(settings.forAccount, session);
  const explicit = new Map(
    state
      .filter(({ type, urn }) => type === "pulumi:providers:uptime" && !isDefaultProvider(urn))
      .map((resource) => [resource.urn, providerWith(settingsIn(resource, settings), session)]),
  );
  // A reference is the URN and the id.
  return ({ provider = "" }) => explicit.get(provider.replace(/::[^:]*$/, "")) ?? usual;
}

function settingsIn({ urn, inputs }: StateResource, { forProvider }: CommandSettings): AccountSettings {
  return (account) => {
    try {
      return forProvider(clearProperties(inputs))(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      throw new UptimeError(`The provider ${parseUrn(urn).name}: ${error.message}`, { cause: error });
    }
  };
}

function providerWith(settingsOf: AccountSettings, session: Session): Provider {
  return { connectTo: (definition) => session.connector(definition, settingsOf), first: new Map() };
}
