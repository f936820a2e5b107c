import type { FieldErrors } from "./answers";

/** The pairs of a form or a query, in the order in which they were sent. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** What a field of a form says: a value to store, what is wrong with it, or nothing, as if it was not sent. */
export type Reading = { readonly value: unknown } | { readonly errors: FieldErrors } | undefined;

/** The refusal of one field. */
export function refusedField(name: string, message: string): Reading {
  return { errors: { [name]: [message] } };
}

/** Whether the text is a whole number as the API writes it. */
export function isInteger(text: string): boolean {
  return /^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text));
}
