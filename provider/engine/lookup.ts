import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import type { Connect } from "../lifecycle/account";
import { lookUpAll, lookUpOne } from "../lifecycle/lookup";
import type { FoundRecord } from "../lifecycle/lookup";
import type { Session } from "../lifecycle/session";
import { cleanAttributes, secretsIn, errorText } from "./clean";

/** A record as a lookup returns it. */
export interface LookupResult extends Record<string, unknown> {
  readonly id: string;
}

/** Lookups for programs, without secrets in what they return and throw. */
export const lookUp = {
  /** The only record that the arguments select. */
  one: (session: Session, definition: Definition, connect: Connect, args: unknown): Promise<LookupResult> =>
    cleaned(session, async () => resultOf(session, definition, await lookUpOne(definition, connect, args))),
  /** All records that the arguments select. */
  all: (session: Session, definition: Definition, connect: Connect, args: unknown): Promise<LookupResult[]> =>
    cleaned(session, async () => {
      const found = await lookUpAll(definition, connect, args);
      return found.map((one) => resultOf(session, definition, one));
    }),
};

async function cleaned<T>(session: Session, run: () => Promise<T>): Promise<T> {
  try {
    return await session.run(run);
  } catch (error) {
    throw new UptimeError(errorText(error, session.keys), { cause: error });
  }
}

function resultOf({ keys }: Session, definition: Definition, found: FoundRecord): LookupResult {
  const secrets = [...keys, ...secretsIn(definition, found.secrets)];
  const attributes = cleanAttributes(definition, found.attributes, secrets);
  return { ...found.values, id: found.id, attributes };
}
