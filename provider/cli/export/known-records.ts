import type { Settings } from "../../api/settings";
import { stringLiteral } from "../shared/quoting";
import { findDefinition } from "../shared/resource-types";
import type { StateResource } from "../shared/state";
import type { DeclaredRecord } from "./declared-values";
import type { DeclaredResource, ProgramText } from "./program-text";

const keyOf = (label: string, id: string): string => `${label} ${id}`;

/** Which records of an account the program imports already, or the stack has. */
export class KnownRecords {
  private readonly imported: ReadonlyMap<string, DeclaredResource>;
  private readonly managed: ReadonlySet<string>;

  constructor(
    { resources }: ProgramText,
    state: readonly StateResource[],
    account: string | undefined,
    settings: Settings,
  ) {
    const named = account && literalText(account);
    this.imported = new Map(
      resources
        .filter((resource) => [account, named].includes(resource.account))
        .map((resource) => [keyOf(resource.label, resource.importId ?? ""), resource]),
    );
    this.managed = new Set(
      state.flatMap(({ type, id = "", external, outputs }) => {
        const definition = findDefinition(type);
        if (!definition || external === true || outputs?.account !== account) return [];
        const { hash } = settings[definition.baseUrl];
        // On another server, the same id is another record.
        const isHere = [undefined, hash, ...settings.movedFrom].some(
          (server) => outputs?.__server === server,
        );
        return isHere ? [keyOf(definition.label, id)] : [];
      }),
    );
  }

  has(record: DeclaredRecord): boolean {
    return this.isInState(record) || this.inProgram(record) !== undefined;
  }

  isInState({ definition, record }: DeclaredRecord): boolean {
    return this.managed.has(keyOf(definition.label, record.id));
  }

  /** The name of the resource that imports a record; undefined if there is none, or if the program computes the name. */
  nameInProgram(record: DeclaredRecord): string | undefined {
    return this.inProgram(record)?.name;
  }

  private inProgram({ definition: { label }, record: { id } }: DeclaredRecord): DeclaredResource | undefined {
    return this.imported.get(keyOf(label, id)) ?? this.imported.get(keyOf(label, literalText(id)));
  }
}

/** A string as a program writes it, without the quotes. */
function literalText(text: string): string {
  return stringLiteral(text).slice(1, -1);
}
