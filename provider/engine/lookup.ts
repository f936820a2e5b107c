import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import type { Properties } from "../common/marks";
import type { LookupMode } from "../common/pulumi";
import { isObject } from "../common/values";
import { lookUpAll, lookUpOne, type FoundRecord } from "../lifecycle/lookup";
import type { Connect } from "../lifecycle/record-scope";
import type { Session } from "../lifecycle/session";
import { Redactor } from "./redactor";
import { escapeEngineMarks } from "./properties";
import { secretsOfProperty } from "./secret-strings";

/**
 * The records that a program looks up. No secret is in what it returns and throws.
 *
 * @param secretArgs the arguments that the program has marked as secret
 */
export async function runLookup(
  session: Session,
  definition: Definition,
  connect: Connect,
  mode: LookupMode,
  args: unknown,
  secretArgs: readonly string[],
): Promise<Properties | Properties[]> {
  const own = secretArgs.flatMap((name) =>
    isObject(args) ? secretsOfProperty(definition, name, args[name]) : [],
  );
  const resultOf = ({ id, values, attributes }: FoundRecord): Properties => {
    const shown = new Redactor([...session.secrets, ...own]).attributes(definition, attributes);
    return { id, ...escapeEngineMarks({ ...values, attributes: shown }) };
  };
  return withRedactedErrors(session, own, async () => {
    if (mode === "one") return resultOf(await lookUpOne(definition, connect, args, secretArgs));
    return (await lookUpAll(definition, connect, args)).map(resultOf);
  });
}

/**
 * Runs an operation that is about no resource. What it throws shows no secret of the session, nor one of `ownSecrets`, which are those of
 * the operation.
 */
export async function withRedactedErrors<T>(
  session: Session,
  ownSecrets: readonly string[],
  operation: () => Promise<T>,
): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    // Only a connection adds its account's key.
    const redactor = new Redactor([...session.secrets, ...ownSecrets]);
    throw new UptimeError(redactor.error(error), { cause: error });
  }
}
