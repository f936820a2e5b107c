import { isDeepStrictEqual } from "node:util";

import { isRecordId } from "../api/record";
import { message, UptimeError, type Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { problemsOf } from "../definitions/field-problems";
import { safeName } from "../common/text";
import { hasUnknown, notYetKnown } from "../common/values";
import { checkImport, type CheckedImport } from "./import";
import { topLevel } from "./paths";
import type { OperationScope, RecordScope } from "./record-scope";
import type { InputProblem, Inputs, RequestOptions } from "./resource";

/** A resource as a program declares it, and as state has it. */
export interface Declaration {
  /** Fields by property, and properties that the resource does not have. */
  readonly declared: Readonly<Record<string, unknown>>;
  readonly account?: unknown;
  readonly importId?: unknown;
  readonly options: RequestOptions;
  /** The checked inputs in state; undefined if the resource is not in state or is about to be replaced. */
  readonly old?: Inputs | undefined;
  /**
   * The values in state, also those that an import has just read. A value that is equal to one of these is not refused: with
   * `ignoreChanges: ["alertCondition"]`, for example, the engine passes a value that somebody has set by hand.
   */
  readonly acceptedValues: Inputs["values"];
}

/** Begins an operation in the account of that name; undefined is the default account. */
type Begin = (account: string | undefined) => OperationScope;

/** The inputs that state keeps, with their problems and warnings. */
interface CheckedDeclaration extends CheckedImport {
  readonly inputs: Inputs;
}

/**
 * Fills in defaults, makes removed fields explicit, and finds everything that is wrong with the inputs. Sends a request only
 * to read a record that is to be imported.
 */
export async function check(
  definition: Definition,
  begin: Begin,
  declaration: Declaration,
): Promise<CheckedDeclaration> {
  const { declared, old, acceptedValues } = declaration;
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(declared))
    if (value !== undefined && value !== null) values[key] = value;
  for (const [key, field] of Object.entries(definition.fields)) {
    if (key in values || field.required) continue;
    if (field.default !== undefined) values[key] = field.default;
    else if (old && key in old.values) values[key] = null;
  }
  // A field that is not in the values is not managed.
  const isUnchangedInState = (key: string): boolean =>
    !(key in values) || isDeepStrictEqual(values[key], acceptedValues[key] ?? null);
  const problems: InputProblem[] = problemsOf(definition, values, isUnchangedInState);
  const refuse = (property: string) => (reason: string | Message) => {
    problems.push({ property, reason });
  };
  const account = typeof declaration.account === "string" ? declaration.account || undefined : undefined;
  const scope = checkAccount(begin, declaration.account, refuse("account"));
  const importId = checkImportId(definition, declaration, scope, refuse("import"));
  const inputs = { values, account, importId };
  if (importId === undefined || old || !scope) return { inputs, problems, warnings: [] };
  // A value of another type cannot be compared.
  const malformed = new Set(problems.map(({ property }) => topLevel(property)));
  const comparable = Object.fromEntries(Object.entries(values).filter(([key]) => !malformed.has(key)));
  const imported = await checkImport(scope, { ...inputs, values: comparable }, importId);
  return { ...imported, inputs, problems: [...problems, ...imported.problems] };
}

/** Connects to the account; undefined if it is refused. */
function checkAccount(
  begin: Begin,
  account: unknown,
  refuse: (reason: string | Message) => void,
): OperationScope | undefined {
  if (account === undefined || account === null) return begin(undefined);
  if (hasUnknown(account)) refuse("must be known in the preview");
  else if (typeof account !== "string" || account === "")
    refuse("must be the name of an account in uptime:accounts; leave it out for the default account");
  else
    try {
      return begin(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      refuse(message`cannot be ${JSON.stringify(safeName(account))}: ${error}`);
    }
  return undefined;
}

function checkImportId(
  { singular }: Definition,
  { importId: given, old, options: { owner } }: Declaration,
  scope: RecordScope | undefined,
  refuse: (reason: string) => void,
): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (owner === undefined) {
    refuse("is a resource option: pass it in the options, not as the property importId");
    return undefined;
  }
  if (given === notYetKnown) {
    refuse(`must be known in the preview, which reads the ${singular} with this id`);
    return undefined;
  }
  // In the API ids are numbers, and a program in JavaScript may give one.
  const id = typeof given === "number" ? String(given) : given;
  if (typeof id !== "string" || !isRecordId(id)) {
    const shown = safeName(typeof id === "string" ? id : JSON.stringify(id));
    refuse(
      `must be the id of a ${singular}, as a string without spaces, not ${JSON.stringify(shown)}; leave it out to create one`,
    );
    return undefined;
  }
  // It was imported in an earlier run.
  if (id !== old?.importId) scope?.ledger.planImport(id, owner);
  return id;
}
