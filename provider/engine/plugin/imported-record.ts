import { unknown } from "../../definitions/unknown";

/** The record that an import names: `42`, or `eu/42` in the account `eu`. The engine tells the provider nothing else of it. */
export function importedRecord(given: string): { readonly account: string | undefined; readonly id: string } {
  const at = given.indexOf("/");
  return at < 0
    ? { account: undefined, id: given }
    : { account: given.slice(0, at), id: given.slice(at + 1) };
}

/** Why a resource of one account cannot import a record of another one; undefined if it is the same account. */
export function wrongAccount(
  declared: unknown,
  imported: string | undefined,
  id: string,
): string | undefined {
  if ((declared ?? undefined) === imported || declared === unknown) return undefined;
  const named = (account: unknown): string => (account == null ? "not set" : JSON.stringify(account));
  const wanted = typeof declared === "string" ? `${declared}/${id}` : id;
  return (
    `is ${named(declared)} in the program, and ${named(imported)} in the id that is imported: ` +
    `import ${JSON.stringify(wanted)}, or ${imported === undefined ? "leave account out" : `set account to ${JSON.stringify(imported)}`}`
  );
}
