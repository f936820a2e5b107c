import type { Input, Output } from "@pulumi/pulumi";

import type { KindNames } from "../common/pulumi";
import type { RequestHeader } from "../common/values";

/** @internal The types that a field can have; `codecs.ts` and `field-problems.ts` define what each one means and allows. */
export type FieldType =
  "text" | "hostname" | "url" | "integer" | "choice" | "boolean" | "dateTime" | "idList" | "headerList";

export interface Field<In = unknown, Out = unknown> {
  /** @internal Name in the API's forms and records, without brackets. */
  readonly wire: string;
  /** @internal */
  readonly type: FieldType;
  /** Must be declared. */
  readonly required?: boolean;
  /** People recognize a record by this field, and the API's lists can be searched and sorted by it. (docs/api.md) */
  readonly identifies?: boolean;
  /** @internal The only values that the API accepts. */
  readonly allowed?: readonly (string | number)[];
  /** @internal The API's documented default: sent when the field is not declared. */
  readonly default?: string | number | boolean;
  /** Encrypted in state, never printed, never part of `attributes`. */
  readonly secret?: boolean;
  /** @internal The program has marked its value as secret, so no message shows it. See `withMarkedSecrets`. */
  readonly isMarkedSecret?: boolean;
  /** @internal Never compared with what the API shows. */
  readonly writeOnly?: boolean;
  /**
   * @internal Records do not show this field. If they show the property named here, an export assumes that this one may be
   * set too.
   */
  readonly goesWith?: string;
  /** @internal Cannot be updated: a change replaces the resource. */
  readonly fixed?: boolean;
  /** @internal Not accepted on create: set by an update that follows it. */
  readonly updateOnly?: boolean;
  /** @internal The API may reset the field on an update that leaves it out, so it is sent as the record has it if `ignoreChanges` names it. */
  readonly resetByUpdate?: boolean;
  /** @internal Empty and `0` mean the same in the API. */
  readonly zeroIsEmpty?: boolean;
  /** @internal The API documents a boolean, so a server that refuses 1 and 0 may take `true` and `false`. */
  readonly takesTrueFalse?: boolean;
  /** @internal Names in the API's records besides `wire`, in order of preference. */
  readonly shownAs?: readonly string[];
  /** For the compiler only: the types of the declared and the resulting value. */
  readonly types?: { readonly in: In; readonly out: Out };
}

/** @internal */
export type Fields = Readonly<Record<string, Field>>;

/** The parts of a field's declaration besides its type. */
type FieldOptions = Omit<Field, "wire" | "type" | "allowed" | "types" | "isMarkedSecret">;

/** A header of the check request, as an input. */
export interface RequestHeaderArgs {
  /** Name of the header, of letters, digits and the signs that HTTP allows, for example `X-Token`. (docs/monitor.md) */
  key: Input<string>;
  /** Value of the header, on one line. Secret. (docs/monitor.md) */
  value: Input<string>;
}

/** A field's declaration keeps the types of its options, such as `required: true`: the inputs and outputs depend on them. */
function field<In, Out>(type: FieldType) {
  return <Options extends FieldOptions = object>(
    wire: string,
    options = {} as Options,
  ): Field<In, Out> & Options => ({
    wire,
    type,
    ...options,
  });
}

/** @internal Any string without spaces around it. */
export const text = field<Input<string>, string>("text");
/** @internal The name of a domain; letter case does not matter. */
export const hostname = field<Input<string>, string>("hostname");
/** @internal An absolute http or https URL. */
export const url = field<Input<string>, string>("url");
/** @internal true or false; 1 or 0 in forms. */
export const boolean = field<Input<boolean>, boolean>("boolean");
/** @internal `YYYY-MM-DDTHH:MM:SS`, without a time zone. */
export const dateTime = field<Input<string>, string>("dateTime");
/** @internal A set of ids. */
export const idList = field<Input<Input<number | string>[]>, (number | string)[]>("idList");
/** @internal A set of header names and values. */
export const headerList = field<Input<Input<RequestHeaderArgs>[]>, RequestHeader[]>("headerList");

/** One of a fixed list of values. A record may show another one, so the resulting value can be any value of the type. */
function oneOf<Out extends string | number>(type: FieldType) {
  return <T extends Out, Options extends FieldOptions = object>(
    wire: string,
    allowed: readonly T[],
    options = {} as Options,
  ): Field<Input<T>, Out> & Options => ({ wire, type, allowed, ...options });
}

/** @internal One of a fixed list of strings. */
export const choice = oneOf<string>("choice");
/** @internal One of a fixed list of whole numbers. */
export const integer = oneOf<number>("integer");

type KeysWith<F, Flag extends "required" | "secret" | "identifies"> = {
  [K in keyof F]: F[K] extends Record<Flag, true> ? K : never;
}[keyof F];
type RequiredKeys<F> = KeysWith<F, "required">;
export type IdentityKeys<F> = KeysWith<F, "identifies">;
type In<F> = F extends Field<infer I> ? I : never;
type Out<F> = F extends Field<unknown, infer O> ? O : never;

/** The inputs that a set of fields makes. */
export type ArgsOf<F> = { [K in keyof Pick<F, RequiredKeys<F>>]: In<F[K]> } & {
  [K in keyof Omit<F, RequiredKeys<F>>]?: In<F[K]> | undefined;
};

/**
 * The outputs that a set of fields makes. An optional field without a value is an Output of undefined. So is a required field, contrary
 * to its type, if `get` reads a record that does not show the field.
 */
export type OutputsOf<F> = { readonly [K in keyof Pick<F, RequiredKeys<F>>]: Output<Out<F[K]>> } & {
  readonly [K in keyof Omit<F, RequiredKeys<F>>]: Output<Out<F[K]> | undefined>;
};

/** The fields in the result of a lookup: the secret ones are left out, because a result is plain data. */
export type ResultOf<F> = { readonly [K in keyof Omit<F, KeysWith<F, "secret">>]: Out<F[K]> | undefined };

/** The input that every resource has besides its fields. */
export interface AccountArgs {
  /**
   * The account that the record belongs to: a name in the setting `uptime:accounts`. It must be known in the preview.
   * Default: the account of `uptime:apiKey`. Another account replaces the resource; another name of the same account does not.
   * (docs/settings.md)
   */
  account?: Input<string> | undefined;
}

/** @internal Something wrong with an input: where, and what to do about it. */
export interface Problem {
  readonly property: string;
  readonly reason: string;
}

/** @internal What must hold between several fields; checked only if each of them is known and valid by itself. */
interface Rule {
  readonly properties: readonly string[];
  readonly check: (inputs: Readonly<Record<string, unknown>>) => Problem | undefined;
}

/** @internal A filter of the API's list. */
interface Filter {
  /** Name in the API's query. */
  readonly wire: string;
  /** What has the id. */
  readonly noun: string;
}

/** @internal One kind of record in the API: the declaration that everything else is derived from. */
export interface Definition extends KindNames {
  /** The setting that holds the address of this resource's endpoints. */
  readonly addressSetting: "baseUrl" | "monitorsBaseUrl";
  readonly fields: Fields;
  readonly rules: readonly Rule[];
  /** Further filters of the API's list: ids of something, each under the name of the lookup's argument. (docs/api.md) */
  readonly filters?: Readonly<Record<string, Filter>>;
}

/** @internal The names under which a record may show a field, in order of preference. */
export function shownNames({ wire, shownAs = [] }: Field): readonly string[] {
  return [wire, ...shownAs];
}
