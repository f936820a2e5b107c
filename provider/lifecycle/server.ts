import type { ApiRecord } from "../api/answer";
import type { Definition, Field } from "../definitions/field";
import { encodings, isEmpty } from "../definitions/kinds";
import type { Pair, Value } from "../definitions/kinds";
import { shows } from "./compare";

/** Declared values by property; null is "managed as empty". */
export type Values = ReadonlyMap<string, Value>;

/** Which of the ways to say "empty" is used, for lists and for everything else. */
export interface EmptyForms {
  readonly list: number;
  readonly other: number;
}

/** What was learned of how a server treats one kind of record. The API's reference says none of it. */
export class ServerTraits {
  /** The method of updates; PUT once PATCH was answered with 405. */
  updateMethod: "PATCH" | "PUT" = "PATCH";
  /** The forms of "empty" that worked. */
  emptyForms: EmptyForms = { list: 0, other: 0 };
  /** Whether the list leaves out fields that a record's own address shows. */
  areListsBrief = false;
  /** Properties that some listed record has shown. */
  private readonly listed = new Set<string>();
  /** Properties that have a value and are not shown at the record's own address. */
  private readonly hidden = new Set<string>();

  constructor(private readonly definition: Definition) {}

  /** Learns which of the properties that have a value a record does not show. */
  learnShown(values: Values, record: ApiRecord): void {
    for (const [key, value] of values) {
      const field = this.definition.fields[key];
      if (!field || field.writeOnly || isEmpty(value)) continue;
      if (shows(field, record)) this.hidden.delete(key);
      else this.hidden.add(key);
    }
  }

  /** Learns which properties lists show. */
  learnListed(record: ApiRecord): void {
    for (const [key, field] of Object.entries(this.definition.fields))
      if (!this.listed.has(key) && shows(field, record)) this.listed.add(key);
  }

  /** Whether records never show a property, as far as it has been tried. */
  isHidden(key: string): boolean {
    return this.hidden.has(key);
  }

  /** Whether a listed record that does not show a property has it empty: lists do show it if it has a value. */
  isListed(key: string): boolean {
    return this.listed.has(key);
  }
}

/** The form's pairs of some values, with "empty" said in a certain way. */
export function encode(definition: Definition, values: Values, forms: EmptyForms): Pair[] {
  return [...values].flatMap(([key, value]) => {
    const field = definition.fields[key];
    if (!field) return [];
    const ways = encodings(field, value);
    return ways[Math.min(forms[groupOf(field)], ways.length - 1)] ?? [];
  });
}

/** The next way to say "empty" for some fields: each group's second form, one after the other, then both. */
export function nextForms(forms: EmptyForms, fields: readonly Field[]): EmptyForms | undefined {
  const isOpen = (group: keyof EmptyForms): boolean =>
    fields.some((field) => groupOf(field) === group && encodings(field, null).length > forms[group] + 1);
  if (isOpen("list")) return { ...forms, list: forms.list + 1 };
  if (isOpen("other")) return { list: 0, other: forms.other + 1 };
  return undefined;
}

function groupOf(field: Field): keyof EmptyForms {
  return field.kind === "idList" || field.kind === "headerList" ? "list" : "other";
}
