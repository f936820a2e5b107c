import { isRecordId } from "../../api/answer";
import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { mustBeDeclared } from "../../definitions/codecs";
import type { Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { unknown } from "../../common/unknown";
import type { Outputs } from "../../lifecycle/resource";
import type { InputProblem } from "../../lifecycle/validate";
import { withoutMarks } from "../request";

/** A record that an import has read. */
export interface ImportedRecord {
  readonly id: string;
  readonly outputs: Outputs;
  /** Why the record could not be read, in a preview that continues after refusals. */
  readonly problem?: InputProblem;
}

export function isImported(inputs: Properties): boolean {
  return inputs[hiddenNames.isImported] === true;
}

/** Parses the id of an import: `42`, or `eu/42` in the account `eu`. The engine passes nothing else about it. */
export function parseImportId(given: string): { readonly account: string | undefined; readonly id: string } {
  const parts = given.split("/");
  const [id = "", account] = parts.reverse();
  if (parts.length > 2 || account === "" || !isRecordId(id))
    throw new UptimeError(
      `${JSON.stringify(given)} is not an id: import a record by its id in the API, such as 42, or by ACCOUNT/42 from a named account.`,
    );
  return { account, id };
}

/** The problem if the declared account is not that of the imported record. */
export function accountProblem(
  declared: unknown,
  { id, outputs: { account } }: ImportedRecord,
): InputProblem | undefined {
  if ((declared ?? undefined) === account || declared === unknown) return undefined;
  const wanted = typeof declared === "string" ? `${declared}/${id}` : id;
  const reason = `is not that of the id that is imported: import ${JSON.stringify(wanted)}, or ${account === undefined ? "leave account out" : `set account to ${JSON.stringify(account)}`}`;
  return { property: "account", reason };
}

/** The inputs of a resource that was imported. Without secrets, because Pulumi writes inputs into code. */
export function importedInputs(definition: Definition, { values, account }: Outputs): Properties {
  const declared = Object.entries(values).filter(([key, value]) => {
    const field = definition.fields[key];
    return field && !field.secret && mustBeDeclared(field, value);
  });
  return {
    ...withoutMarks(Object.fromEntries(declared)),
    ...(account !== undefined && { account }),
    [hiddenNames.isImported]: true,
  };
}
