import type { Settings } from "../../api/settings";
import { stringLiteral } from "../shared/quoting";
import { findDefinition } from "../shared/resource-types";
import type { StateResource } from "../shared/state";
import type { DeclaredRecord } from "./declared-values";
import type { DeclaredResource, ProgramText } from "./program-text";

const keyOf = (label: string, id: string): string => `${label} ${id}`;

/** Which records of an account are known. */
export interface KnownRecords {
  /** Whether the stack has a record. */
  readonly isManaged: (record: DeclaredRecord) => boolean;
  /** The resource of the program that imports a record. */
  readonly importOf: (record: DeclaredRecord) => DeclaredResource | undefined;
}

export function knownRecords(
  { resources }: ProgramText,
  state: readonly StateResource[],
  account: string | undefined,
  settings: Settings,
): KnownRecords {
  const accounts = [account, account && literalText(account)];
  const imports = new Map(
    resources
      .filter((resource) => accounts.includes(resource.account))
      .map((resource) => [keyOf(resource.label, resource.importId ?? ""), resource]),
  );
  const managed = new Set(
    state.flatMap(({ type, id = "", external, outputs }) => {
      const definition = findDefinition(type);
      if (!definition || external === true || outputs?.account !== account) return [];
      // On another server, the same id is another record.
      const servers: unknown[] = [undefined, settings[definition.baseUrl].hash, ...settings.movedFrom];
      return servers.includes(outputs?.__server) ? [keyOf(definition.label, id)] : [];
    }),
  );
  return {
    isManaged: ({ definition, record }) => managed.has(keyOf(definition.label, record.id)),
    importOf: ({ definition: { label }, record: { id } }) =>
      imports.get(keyOf(label, id)) ?? imports.get(keyOf(label, literalText(id))),
  };
}

/** A string as a program writes it, without the quotes. */
function literalText(text: string): string {
  return stringLiteral(text).slice(1, -1);
}
