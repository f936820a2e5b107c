import { message, SettingsUnknownError, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { isUnknown, unknown } from "../definitions/unknown";
import type { Connect, Connection } from "./connection";
import type { CheckedImport, DeclaredFields, Importer, RefusedProperty } from "./import";
import type { Inputs } from "./resource";
import { problemsOf, topLevel } from "./validate";

/** What a program declares, and what state has of it. */
export interface Declaration extends DeclaredFields {
  readonly account?: unknown;
  readonly importId?: unknown;
  /** The checked inputs in state; undefined if the resource is not in state or is about to be replaced. */
  readonly old?: Inputs | undefined;
}

/** A checked declaration: what is kept of it, what is wrong with it, and what a person should know. */
export interface CheckedDeclaration extends CheckedImport {
  readonly inputs: Inputs;
}

/** Checks what programs declare of one kind of resource; sends nothing, except to look at a record that is to be imported. */
export class Checker {
  constructor(
    private readonly definition: Definition,
    private readonly connect: Connect,
    private readonly importer: Importer,
  ) {}

  /** The inputs with defaults filled in and removed fields made explicit, and all that is wrong with them. */
  async check(declaration: Declaration): Promise<CheckedDeclaration> {
    const { declared, old } = declaration;
    const values: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(declared))
      if (value !== undefined && value !== null) values[key] = value;
    for (const [key, field] of Object.entries(this.definition.fields)) {
      if (key in values || field.required) continue;
      if (field.default !== undefined) values[key] = field.default;
      else if (old && key in old.values) values[key] = null;
    }
    const problems: RefusedProperty[] = problemsOf(this.definition, values);
    const account = this.checkAccount(declaration.account, problems);
    const importId = this.checkImportId(declaration, account, problems);
    const inputs = { values, account, importId };
    const isRefused = problems.some(({ property }) => property === "import" || property === "account");
    if (importId === undefined || old || isRefused) return { inputs, problems, notes: [] };
    const { problems: differences, notes } = await this.importer.check(inputs, importId, declaration);
    const malformed = new Set(problems.map(({ property }) => topLevel(property)));
    const others = differences.filter(({ property }) => !malformed.has(property));
    return { inputs, problems: [...problems, ...others], notes };
  }

  /** The account by its name, with usable settings; adds to the problems why it cannot be used. */
  private checkAccount(account: unknown, problems: RefusedProperty[]): string | undefined {
    const refuse = (reason: string | Message): undefined => {
      problems.push({ property: "account", reason });
    };
    if (account === undefined || account === null) {
      this.known(undefined);
      return undefined;
    }
    if (isUnknown(account)) {
      refuse("must be known in the preview");
      return;
    }
    if (typeof account !== "string" || account === "") {
      refuse("must be the name of an account in uptime:accounts; leave it out for the one without a name");
      return;
    }
    try {
      this.known(account);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      refuse(message`cannot be ${JSON.stringify(account)}: ${error}`);
    }
    return account;
  }

  /** The id in the option `import`; adds to the problems why it cannot be used. */
  private checkImportId(
    { importId: given, old, options: { resource } }: Declaration,
    account: string | undefined,
    problems: RefusedProperty[],
  ): string | undefined {
    const { label, singular } = this.definition;
    const refuse = (reason: string): undefined => {
      problems.push({ property: "import", reason });
    };
    if (given === undefined || given === null) return undefined;
    if (resource === undefined) {
      refuse(`is an option of ${label}, and importId is not a property of it`);
      return;
    }
    if (given === unknown) {
      refuse(
        `must be known in the preview: it is the id of a ${singular} that exists, which is looked up then`,
      );
      return;
    }
    // In the API ids are numbers, and a program in JavaScript may give one.
    const id = typeof given === "number" ? String(given) : given;
    if (typeof id !== "string" || id.trim() !== id || /^\.{0,2}$/.test(id)) {
      refuse(
        `must be the id of a ${singular}, as a string without spaces, not ${JSON.stringify(id)}; leave it out to create one`,
      );
      return;
    }
    // What was imported in an earlier run is in state, and claims nothing anew.
    if (id === old?.importId || problems.some(({ property }) => property === "account")) return id;
    const first = this.known(account)?.records.nameImport(id, resource) ?? resource;
    if (first !== resource)
      refuse(
        `names ${singular} ${id}, and so does the option import of ${first}: only one resource can have it`,
      );
    return id;
  }

  /** The connection to an account, undefined while its settings are not known. Throws if they are not usable. */
  private known(account: string | undefined): Connection | undefined {
    try {
      return this.connect(account);
    } catch (error) {
      if (error instanceof SettingsUnknownError) return undefined;
      throw error;
    }
  }
}
