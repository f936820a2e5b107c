import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import type { LookupCount } from "../common/pulumi";
import { lookUpAll, lookUpOne, type FoundRecord } from "../lifecycle/lookup";
import type { Connect } from "../lifecycle/record-scope";
import type { Session } from "../lifecycle/session";
import { Redactor } from "./redactor";

interface PublicRecord extends Record<string, unknown> {
  readonly id: string;
}

/** The records that a program looks up. No secret is in what it returns and throws. */
export async function runLookup(
  session: Session,
  definition: Definition,
  connect: Connect,
  count: LookupCount,
  args: unknown,
): Promise<PublicRecord | PublicRecord[]> {
  const redactor = new Redactor(session.secrets);
  const resultOf = ({ id, values, attributes }: FoundRecord): PublicRecord => ({
    ...values,
    id,
    attributes: redactor.attributes(definition, attributes),
  });
  return withCleanErrors(session, async () => {
    if (count === "one") return resultOf(await lookUpOne(definition, connect, args));
    return (await lookUpAll(definition, connect, args)).map(resultOf);
  });
}

/** Runs an operation that is about no resource. No secret is in what it throws. */
export async function withCleanErrors<T>(session: Session, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const text = new Redactor(session.secrets).error(session.explainKeyOnce(error));
    throw new UptimeError(text, { cause: error });
  }
}
