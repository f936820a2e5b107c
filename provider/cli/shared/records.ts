import { isDeepStrictEqual } from "node:util";

import { compareIds, type ApiRecord } from "../../api/record";
import { Quote, quoteValue } from "../../api/errors";
import { hasPassword } from "../../common/url";
import type { Value } from "../../common/values";
import { mustBeDeclared } from "../../definitions/codecs";
import type { Definition, Field } from "../../definitions/field";
import { isConfidential, withMarkedSecrets } from "../../definitions/keys";
import { Redactor } from "../../engine/redactor";
import { secretsIn } from "../../engine/secret-strings";
import { completeRecords } from "../../lifecycle/complete-records";
import { mayBeEscaped, shownValues } from "../../lifecycle/difference";
import { topLevel } from "../../lifecycle/paths";
import type { OperationScope } from "../../lifecycle/record-scope";
import { problemsOf } from "../../definitions/field-problems";
import type { InputProblem } from "../../lifecycle/resource";
import { withProgress, type CommandContext } from "./terminal";

/** A record with the values that a program has to declare so that it matches. */
export type DeclarableRecord = ReturnType<typeof declarableOf>;

/**
 * Reads the records of one kind, or those that the API finds by a text, the oldest first.
 *
 * @param needed see {@link completeRecords}
 */
export async function readDeclarable(
  scope: OperationScope,
  search: string | undefined,
  { stderr, session }: CommandContext,
  needed: readonly Field[] = [],
): Promise<DeclarableRecord[]> {
  const { definition, collection, operation } = scope;
  const records = await withProgress(stderr, async (show) => {
    show(`Reading ${definition.plural} …`);
    const listed: ApiRecord[] = [];
    for await (const page of collection.list(operation, search === undefined ? {} : { search })) {
      for (const record of page) listed.push(record);
      show(`Reading ${definition.plural}: ${listed.length} …`);
    }
    return completeRecords(scope, listed, needed);
  });
  const escaped = mayBeEscaped(records);
  return [...records]
    .sort((a, b) => compareIds(a.id, b.id))
    .map((record) => declarableOf(definition, record, escaped, session.secrets));
}

/**
 * The values of a record that a program has to declare: all that are shown, not empty, and not the default. A zero that means
 * empty is declared too, and that a monitor is not paused, so that a later edit of it is drift.
 *
 * @param escaped whether the server shows strings HTML-escaped
 * @param secrets the API keys in use, which no problem may quote
 */
function declarableOf(
  definition: Definition,
  record: ApiRecord,
  escaped: boolean,
  secrets: ReadonlySet<string>,
) {
  const unreadable: InputProblem[] = [];
  const shown = shownValues(definition, record, {
    unescape: escaped,
    refuse: (property, reason) => unreadable.push({ property, reason }),
  });
  const values = new Map<string, Exclude<Value, null>>();
  for (const [key, value] of shown) {
    const field = definition.fields[key];
    if (!field || field.writeOnly || value === null) continue;
    const isOff = value === 0 ? field.zeroIsEmpty : value === false && field.default === undefined;
    if (mustBeDeclared(field, value) || isOff) values.set(key, value);
  }
  const withPasswords = [...values].flatMap(([key, value]) => (hasPassword(value) ? [key] : []));
  const marked = withMarkedSecrets(definition, withPasswords);
  const redactor = new Redactor([...secrets, ...secretsIn(marked, Object.fromEntries(shown))]);
  const refused = problemsOf(marked, Object.fromEntries(values))
    .filter(({ property }) => !unreadable.some((problem) => problem.property === property))
    .map(({ property, reason }) => {
      const key = topLevel(property);
      const field = marked.fields[key];
      // A reason quotes the server's value unless that is secret, and may have cut a secret in it.
      if (field && isConfidential(field)) return { property, reason };
      const value = values.get(key);
      const isClean = isDeepStrictEqual(redactor.value(value), value);
      return { property, reason: [isClean ? new Quote(reason, "value") : quoteValue(value)] };
    });
  const problems = [...unreadable, ...refused].map((one) => redactor.problem(one).replace(/\.$/, ""));
  return {
    definition,
    record,
    /** By property. Secrets are in the clear. */
    values,
    /** The reasons for which the provider would refuse it. */
    problems,
  };
}
