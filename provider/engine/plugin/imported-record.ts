import { isRecordId } from "../../api/record";
import { UptimeError } from "../../api/errors";
import { sourceOf, type Settings } from "../../api/settings";
import type { Definition } from "../../definitions/field";
import { mustBeDeclared } from "../../definitions/codecs";
import type { Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { safeName } from "../../common/text";
import { isEmpty, notYetKnown } from "../../common/values";
import type { InputProblem, Outputs } from "../../lifecycle/resource";
import { secretInputNames, escapeEngineMarks } from "../properties";

export interface ImportedRecord {
  readonly id: string;
  readonly outputs: Outputs;
  /** Makes the record the resource's, if the read could not know that this is an import. */
  readonly takeInCheck?: (() => void) | undefined;
  /** Why the record could not be read, in a preview that continues after refusals. */
  readonly problem?: InputProblem;
}

export function isImported(inputs: Properties): boolean {
  return inputs[hiddenNames.isImported] === true;
}

/** Parses the id of a record that state does not have: `42`, or `eu/42` in the account `eu`. */
export function parseGivenId(given: string): { readonly account: string | undefined; readonly id: string } {
  // An account's name may have slashes too.
  const [, account, id = ""] = /^(?:(.*)\/)?([^/]*)$/s.exec(given) ?? [];
  if (account === "" || !isRecordId(id))
    throw new UptimeError(
      `${JSON.stringify(shownId(given))} is not an id: name a record by its id in the API, such as 42, or by ACCOUNT/42 in a named account.`,
    );
  return { account, id };
}

export function givenId(account: string | undefined, id: string): string {
  return account === undefined ? id : `${account}/${id}`;
}

/** An id as it was given, for a message. */
export function shownId(given: string): string {
  return given.split("/").map(safeName).join("/");
}

export function accountProblem(
  declared: unknown,
  { id, outputs: { account } }: ImportedRecord,
): InputProblem | undefined {
  if ((declared ?? undefined) === account || declared === notYetKnown) return undefined;
  const wanted = givenId(typeof declared === "string" ? declared : undefined, id);
  const reason = `is not that of the id that is imported: import ${JSON.stringify(shownId(wanted))}, or ${account === undefined ? "leave account out" : `set account to ${JSON.stringify(safeName(account))}`}`;
  return { property: "account", reason };
}

/**
 * The problem if the program marks a field as secret that is not always one. The engine reads and stores an imported record
 * before it says what the program marks.
 */
export function secretProblem(
  { fields, singular }: Definition,
  news: Properties,
  settings: Settings,
): InputProblem | undefined {
  const key = secretInputNames(news).find((name) => fields[name] !== undefined && !fields[name].secret);
  if (key === undefined) return undefined;
  const reason = `of a ${singular} is not possible if the program marks ${key} as a secret, because Pulumi would first store it unencrypted: remove the option, and run once with ${sourceOf(settings, "adoptExisting")} set to true`;
  return { property: "import", reason };
}

/**
 * A record's values as inputs. Without secrets: Pulumi shows these inputs, and an update leaves out what they leave out.
 *
 * @param withDefaults false for an import, because Pulumi writes its inputs into code; with them, an update that changes nothing is
 * checked without a difference
 */
export function inputsOfRecord(
  { fields }: Definition,
  { values, account }: Outputs,
  withDefaults: boolean,
): Properties {
  const declared = Object.entries(values).filter(([key, value]) => {
    const field = fields[key];
    if (!field || field.secret || isEmpty(value)) return false;
    return mustBeDeclared(field, value) || (withDefaults && field.default !== undefined);
  });
  return { ...escapeEngineMarks(Object.fromEntries(declared)), ...(account !== undefined && { account }) };
}
