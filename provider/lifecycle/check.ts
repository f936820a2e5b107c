import { message, SettingsUnknownError, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { isUnknown, unknown } from "../definitions/unknown";
import type { Connect, RecordScope } from "./record-scope";
import { checkImport } from "./import";
import type { CheckedImport, ImportOptions, ImportProblem } from "./import";
import type { Inputs } from "./resource";
import { problemsOf, topLevel } from "./validate";

/** A resource as a program declares it, and as state has it. */
export interface Declaration extends ImportOptions {
  /** Fields by property, and properties that the resource does not have. */
  readonly declared: Readonly<Record<string, unknown>>;
  readonly account?: unknown;
  readonly importId?: unknown;
  /** The checked inputs in state; undefined if the resource is not in state or is about to be replaced. */
  readonly old?: Inputs | undefined;
}

/** The inputs that state keeps, with their problems and notes for a person. */
interface CheckedDeclaration extends CheckedImport {
  readonly inputs: Inputs;
}

/**
 * Fills in defaults, makes removed fields explicit, and finds everything that is wrong with the inputs. Sends a request only
 * to read a record that is to be imported.
 */
export async function check(
  definition: Definition,
  connect: Connect,
  declaration: Declaration,
): Promise<CheckedDeclaration> {
  const { declared, old } = declaration;
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(declared))
    if (value !== undefined && value !== null) values[key] = value;
  for (const [key, field] of Object.entries(definition.fields)) {
    if (key in values || field.required) continue;
    if (field.default !== undefined) values[key] = field.default;
    else if (old && key in old.values) values[key] = null;
  }
  const problems: ImportProblem[] = problemsOf(definition, values);
  const refuse = (property: string) => (reason: string | Message) => {
    problems.push({ property, reason });
  };
  const accountName = checkAccount(connect, declaration.account, refuse("account"));
  const isAccountRefused = problems.some(({ property }) => property === "account");
  const importId = checkImportId(
    definition,
    declaration,
    () => (isAccountRefused ? undefined : connectIfKnown(connect, accountName)),
    refuse("import"),
  );
  const inputs = { values, account: accountName, importId };
  const isRefused = isAccountRefused || problems.some(({ property }) => property === "import");
  const importing =
    importId === undefined || old || isRefused ? undefined : connectIfKnown(connect, accountName);
  if (importId === undefined || !importing) return { inputs, problems, notes: [] };
  const imported = await checkImport(importing, inputs, importId, declaration);
  const malformed = new Set(problems.map(({ property }) => topLevel(property)));
  const others = imported.problems.filter(({ property }) => !malformed.has(property));
  return { ...imported, inputs, problems: [...problems, ...others] };
}

/** The account by its name, with usable settings. */
function checkAccount(
  connect: Connect,
  account: unknown,
  refuse: (reason: string | Message) => void,
): string | undefined {
  if (account === undefined || account === null) {
    connectIfKnown(connect, undefined);
    return undefined;
  }
  if (isUnknown(account)) {
    refuse("must be known in the preview");
    return undefined;
  }
  if (typeof account !== "string" || account === "") {
    refuse("must be the name of an account in uptime:accounts; leave it out for the one without a name");
    return undefined;
  }
  try {
    connectIfKnown(connect, account);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    refuse(message`cannot be ${JSON.stringify(account)}: ${error}`);
  }
  return account;
}

/** The id in the option `import`. */
function checkImportId(
  { label, singular }: Definition,
  { importId: given, old, options: { owner } }: Declaration,
  account: () => RecordScope | undefined,
  refuse: (reason: string) => void,
): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (owner === undefined) {
    refuse(`is an option of ${label}, and importId is not a property of it`);
    return undefined;
  }
  if (given === unknown) {
    refuse(
      `must be known in the preview: it is the id of a ${singular} that exists, which is looked up then`,
    );
    return undefined;
  }
  // In the API ids are numbers, and a program in JavaScript may give one.
  const id = typeof given === "number" ? String(given) : given;
  if (typeof id !== "string" || id.trim() !== id || /^\.{0,2}$/.test(id)) {
    refuse(
      `must be the id of a ${singular}, as a string without spaces, not ${JSON.stringify(id)}; leave it out to create one`,
    );
    return undefined;
  }
  // It was imported in an earlier run.
  if (id === old?.importId) return id;
  const ledger = account()?.ledger;
  ledger?.note(id, { is: "to be imported", owner });
  const first = ledger?.importerOf(id) ?? owner;
  if (first !== owner)
    refuse(
      `names ${singular} ${id}, and so does the option import of ${first}: only one resource can have it`,
    );
  return id;
}

/** Connects to an account; undefined while its settings are not known. Throws if they cannot be used. */
function connectIfKnown(connect: Connect, name: string | undefined): RecordScope | undefined {
  try {
    return connect(name);
  } catch (error) {
    if (error instanceof SettingsUnknownError) return undefined;
    throw error;
  }
}
