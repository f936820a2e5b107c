import type { ApiRecord } from "../api/answer";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";
import { compare, valueOf } from "./difference";
import type { Ledger } from "./ledger";
import type { Outputs } from "./resource";

/** The managed fields in state, by property. */
type StateValues = Outputs["values"];

/** The records that state knows in one account, and whether the account has shown any of them. */
export class Evidence {
  /** A record that state knows was found, with its name or URL, so the account is that of state. */
  isAccountProven = false;
  private readonly known = new Map<string, Map<string, StateValues>>();

  /** Notes that state has a record with these values. */
  addState({ plural }: Definition, id: string, values: StateValues): void {
    const known = this.known.get(plural) ?? new Map<string, StateValues>();
    this.known.set(plural, known.set(id, values));
  }

  /** Notes that the account has shown a record. */
  addShown(definition: Definition, record: ApiRecord): void {
    const values = this.known.get(definition.plural)?.get(record.id);
    if (values && sharesIdentity(definition, values, record)) this.isAccountProven = true;
  }

  /** The ids of the records of one kind that state has, as far as the engine has asked this process about them. */
  idsOf({ plural }: Definition): readonly string[] {
    return [...(this.known.get(plural)?.keys() ?? [])];
  }
}

/** Notes that a resource in state has the record, for the ledger and for the proof that records are gone. */
export function rememberState(
  { definition, evidence, ledger }: { definition: Definition; evidence: Evidence; ledger: Ledger },
  id: string,
  { values }: Outputs,
): void {
  ledger.add(id, { is: "in state" });
  evidence.addState(definition, id, values);
}

export function sharesIdentity(definition: Definition, values: StateValues, record: ApiRecord): boolean {
  return identityKeys(definition).some(
    (key) => compare(fieldOf(definition, key), valueOf(values, key), record).outcome === "same",
  );
}
