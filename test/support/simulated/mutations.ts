import fc from "fast-check";

import type { Answer } from "../../../provider/emulator/answers";
import { domain, monitor } from "../../../provider/emulator/resources";
import { namesOf } from "../arbitraries";
import type { Kind, Properties } from "../calls";
import type { VirtualClock } from "../clock";
import { secretMark, sigKey, engineUnknown } from "../marks";
import { apiKey, networkError, origin, type Misbehaviour, type Seen, type SimulatedApi } from "./api";
import { repeated, type Echo } from "./secrets";

/** What a misbehaving server knows. */
interface Situation {
  readonly kind: Kind;
  readonly echo: Echo;
  /** The values that nobody may see. */
  readonly secrets: readonly string[];
  readonly api: SimulatedApi;
  readonly time: VirtualClock;
}

/** The kinds of requests that an operation sends. */
export type Target = "list" | "show" | "create" | "update" | "delete";

export function targetOf({ method, id }: Seen): Target {
  if (method === "GET") return id === undefined ? "list" : "show";
  if (method === "POST") return "create";
  return method === "DELETE" ? "delete" : "update";
}

// Values ---------------------------------------------------------------------------------------------------------------

/** A record in another form than the usual one. */
const envelopes = {
  request: (record) => ({ id: "req-8f3a", data: record }),
  number: (record) => ({ id: 77, data: record }),
  jsonApi: ({ id, ...rest }) => ({ data: { id, type: "x", attributes: rest } }),
  list: (record) => ({ data: [record] }),
  bareList: (record) => [record],
  unknown: (record) => ({ success: true, result: record }),
  named: (record, kind) => ({ [kind]: record }),
  namedInData: (record, kind) => ({ data: { [kind]: record } }),
  bare: (record) => record,
  text: (record) => JSON.stringify(record),
  job: () => ({ id: 77, status: "queued" }),
} satisfies Record<string, (record: Properties, kind: Kind) => unknown>;

/** The records of a list, as another server lists them. */
const lists = {
  brief: (all) => all.map(({ id, name, url }) => ({ id, name, url })),
  reversed: (all) => [...all].reverse(),
  shuffled: (all) => [...all].sort((a, b) => (Number(a.id) % 3) - (Number(b.id) % 3)),
  strings: (all) => all.map((one) => ({ ...one, id: String(one.id) })),
  empty: () => [],
  withoutIds: (all) => all.map(({ id: _, ...rest }) => rest),
  withoutFields: (all) => all.map(({ id }) => ({ id })),
  nulls: (all) => [...all, null],
  twice: (all) => [...all, ...all],
} satisfies Record<string, (all: Properties[]) => unknown[]>;

const complaints: readonly object[] = [
  { success: false, message: "No." },
  { error: "No." },
  { errors: { name: ["No."] } },
  { status: "error", message: "No." },
  { deleted: false, success: false },
  { message: "Down for maintenance." },
];
const longText = "x".repeat(299) + "😀" + "y".repeat(5000);
const values: readonly unknown[] = [
  ...[null, true, 0, 1, -1, 1.5, 1_700_000_000, 1_700_000_000_000],
  ...["", "no", "off", "60.0", "12345678901234567890", "<b>x</b> &amp;amp;", longText],
  ...["0000-00-00 00:00:00", "2031-01-01 00:00:00+02:00"],
  ...["[1,", "[1,2]", '[{"id":1}]', '[{"key":"X-H0","value":"v"}]', '{"X-H0":"v"}'],
  ...["Home \ud83d", "\udc00", ["\ud83d"], { "k\ud83d": 1 }],
  ...[
    [],
    [null],
    [[1]],
    [{ id: null }],
    {},
    { a: { b: { c: [] } } },
    { ...secretMark, value: "x" },
    engineUnknown,
  ],
];
const strangeNames = [
  ..."paused_at deleted_at is_deleted trashed display_name".split(" "),
  ..."__proto__ __server __provider attributes".split(" "),
  "k\ud83d",
  sigKey,
];
const fieldNames = (kind: Kind): string[] => [
  ...(kind === "monitor" ? monitor : domain).fields.map(({ name }) => name),
  ...strangeNames,
];
const statuses = [
  200, 201, 202, 204, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429,
  500, 501, 502, 503, 504, 520, 522, 524,
] as const;
/** A request that is answered with one of these had no effect. If it had, nobody could know. */
const refusals: readonly number[] = [
  301, 307, 308, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 503,
];
/** With these the server may still be at work, so the effect may come late. */
const lateStatuses: readonly number[] = [202, 204, 408, 504, 524];
const locations = (
  "/api/v1/jobs/77 /api/v1/monitors/77 /api/v1/monitors/1 /api/v1/domains/1 /login :: " +
  "https://elsewhere.invalid/api/v1/monitors/1 /api/v1/monitors/1/../2 /api/v1/monitors/%31"
).split(" ");

const cuts = ["ECONNRESET", "UND_ERR_SOCKET", "EPIPE", "ERR_SSL_WRONG_VERSION_NUMBER", "EHOSTUNREACH"];
const texts = ["", " ", "{", "null", "[]", "{}", '""', "0", "\ud83d", "<html>", "[".repeat(200), "true"];
const ids = [77, 1, 2, "77", null, "", "../1", 1e21, {}, [1], true, 1.5, "\ud83d", "1", "01", 0, -1] as const;
const effect = fc.oneof(
  fc.constantFrom<number | "never">(0, "never"),
  fc.constantFrom(0, 3000, 8000, 20_000, 60_000),
);
const headerSets: readonly Readonly<Record<string, string>>[] = [
  { "retry-after": "2" },
  { "retry-after": "-5" },
  { "retry-after": "soon" },
  { "retry-after": "Tue, 01 Jan 2030 00:00:10 GMT" },
  { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30" },
  { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30000" },
  { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1893456030" },
  { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1893456030000" },
  { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "-1", "x-ratelimit-reset": "2030-01-01T00:00:30Z" },
  { "ratelimit-limit": "60", "ratelimit-remaining": "0", "ratelimit-reset": "30" },
  { "x-ratelimit-limit": "0", "x-ratelimit-remaining": "0" },
  { "x-ratelimit-limit": "abc", "x-ratelimit-remaining": "", "x-ratelimit-reset": "NaN" },
  { date: "Mon, 01 Jan 2001 00:00:00 GMT" },
  { "content-type": "text/html; charset=utf-16le" },
  { "content-type": "application/json; charset=nonsense" },
  { "content-encoding": "gzip" },
  { "content-encoding": "identity" },
];

// Mutations ------------------------------------------------------------------------------------------------------------

const emptyAnswer: Answer = { status: 200, headers: { "content-type": "application/json" }, body: "" };
const bodyOf = ({ body }: Answer): string => (typeof body === "string" ? body : Buffer.from(body).toString());

/** The usual answer with something changed. */
const changed = (change: (usual: Answer) => Partial<Answer>): Misbehaviour => ({
  answer: (usual = emptyAnswer) => ({ ...usual, ...change(usual) }),
});

/** An answer of a server that has done nothing. */
const undone = (body: unknown): Misbehaviour => ({
  effectAfter: "never",
  answer: () => ({ ...emptyAnswer, body: JSON.stringify(body) }),
});

/** The usual answer with its body changed, if that is JSON. */
const changedBody = (change: (body: unknown) => unknown): Misbehaviour =>
  changed((usual) => {
    try {
      return { body: JSON.stringify(change(JSON.parse(bodyOf(usual)))) };
    } catch {
      return {};
    }
  });

/** The usual answer with its record changed, in whatever envelope it is. */
function changedRecord(kind: Kind, change: (record: Properties) => unknown): Misbehaviour {
  const within = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const object = value as Properties;
    if ("id" in object) return change(object);
    for (const key of ["data", kind]) if (key in object) return { ...object, [key]: within(object[key]) };
    return object;
  };
  return changedBody(within);
}

/** The id of the record that a Location leads to. */
export function locatedId(location: string | undefined, kind: Kind): string | undefined {
  const path = location !== undefined && URL.canParse(location, origin) && new URL(location, origin).pathname;
  const id = path && /^\/api\/v1\/(\w+)s\/([^/]+)$/.exec(path);
  return id && id[1] === kind && id[2] !== undefined ? decodeURIComponent(id[2]) : undefined;
}

/** One way in which an answer is changed, with something random about it. */
interface Mutator<Given> {
  /** Every answer, if it is left out. */
  readonly in?: readonly Target[];
  readonly given: (kind: Kind) => fc.Arbitrary<Given>;
  readonly weight?: number;
  readonly misbehave: (given: Given, situation: Situation) => Misbehaviour;
  /** The answer to a create tells the id of the record that it made, in a form that the API may have. */
  readonly tells?: (given: Given) => boolean;
  /** The answer to a read or a list does not show what is there. */
  readonly hides?: (given: Given) => boolean;
  /** The answer to a read says that the record is another one, or that there is none. */
  readonly denies?: (given: Given) => boolean;
}

const mutator = <Given>(one: Mutator<Given>): Mutator<Given> => one;
const records = ["show", "create", "update"] as const;
const writes = ["create", "update"] as const;

const mutators = {
  /** A value of the record becomes another, or a field is added. */
  value: mutator({
    in: records,
    weight: 8,
    given: (kind) =>
      fc.record({ field: fc.constantFrom(...fieldNames(kind)), value: fc.constantFrom(...values) }),
    misbehave: ({ field, value }, { kind }) =>
      // Not by an assignment, because a field may be called __proto__.
      changedRecord(kind, (record) => Object.fromEntries([...Object.entries(record), [field, value]])),
    tells: () => true,
    hides: () => true,
    denies: ({ field }) => /^(is_)?(deleted|trashed)(_at)?$/.test(field),
  }),
  /** An unknown field repeats every secret. */
  repeat: mutator({
    in: records,
    weight: 2,
    given: () => fc.constant({}),
    misbehave: (_, { kind, secrets }) =>
      changedRecord(kind, (record) => ({
        ...record,
        display_name: `See ${[...secrets, apiKey].join(" and ")}.`,
      })),
    tells: () => true,
  }),
  without: mutator({
    in: records,
    weight: 2,
    given: (kind) =>
      fc.record({
        fields: fc.oneof(fc.constant("all"), fc.subarray(fieldNames(kind), { minLength: 1, maxLength: 3 })),
      }),
    misbehave: ({ fields }, { kind }) =>
      changedRecord(kind, (record) =>
        Object.fromEntries(
          Object.entries(record).filter(
            ([name]) => name === "id" || (fields !== "all" && !fields.includes(name)),
          ),
        ),
      ),
    tells: () => true,
    hides: () => true,
  }),
  id: mutator({
    in: records,
    weight: 2,
    given: () => fc.record({ id: fc.constantFrom<unknown>(...ids) }),
    misbehave: ({ id }, { kind }) => changedRecord(kind, (record) => ({ ...record, id })),
    hides: () => true,
    denies: () => true,
  }),
  envelope: mutator({
    in: records,
    weight: 2,
    given: () => fc.record({ envelope: fc.constantFrom(...namesOf(envelopes)) }),
    misbehave: ({ envelope }, { kind }) => ({
      answer: (usual = emptyAnswer) => {
        let record: Properties = {};
        changedRecord(kind, (found) => (record = found)).answer?.(usual);
        return { ...usual, body: JSON.stringify(envelopes[envelope](record, kind)) };
      },
    }),
    tells: ({ envelope }) => ["request", "number", "named", "bare"].includes(envelope),
    hides: () => true,
    denies: ({ envelope }) => envelope === "job",
  }),
  /** Another status and body, and perhaps no effect, or a late one. */
  status: mutator({
    given: () =>
      fc.record(
        {
          status: fc.constantFrom<number>(...statuses),
          body: fc.constantFrom("usual", "empty", "html", "json", "echo"),
          effectAfter: effect,
          location: fc.constantFrom<string>(...locations),
          retryAfter: fc.constantFrom("1", "3600", "x"),
        },
        { requiredKeys: ["status", "body", "effectAfter"] },
      ),
    misbehave: ({ status, body, effectAfter, location, retryAfter }, { echo, secrets }) => {
      const isLate = typeof effectAfter === "number" && effectAfter > 0 && lateStatuses.includes(status);
      const bodies = {
        usual: bodyOf,
        empty: () => "",
        html: () => `<!DOCTYPE html><title>${status}</title><p>${longText}`,
        json: () =>
          JSON.stringify({ message: longText, errors: { name: ["\ud83d", 1, null, { message: longText }] } }),
        echo: () => repeated(echo, [...secrets, apiKey]),
      };
      return {
        effectAfter:
          refusals.includes(status) || effectAfter === "never" ? "never" : isLate ? effectAfter : 0,
        ...changed((usual) => ({
          status,
          headers: {
            ...usual.headers,
            ...(location !== undefined && { location }),
            ...(retryAfter !== undefined && { "retry-after": retryAfter }),
          },
          body: status === 204 ? "" : bodies[body](usual),
        })),
      };
    },
    tells: ({ status, body, effectAfter }) =>
      body === "usual" && effectAfter === 0 && [200, 201, 202].includes(status),
    hides: ({ status }) => status < 300,
    denies: ({ status }) => status < 300 || [404, 410].includes(status),
  }),
  location: mutator({
    in: writes,
    weight: 2,
    given: () =>
      fc.record({
        location: fc.constantFrom<string>(...locations),
        body: fc.constantFrom("usual", "empty"),
      }),
    misbehave: ({ location, body }, { api, kind }) => ({
      // If it names a record that was there before, none is created.
      ...(api.get(kind, locatedId(location, kind) ?? "") && { effectAfter: "never" as const }),
      ...changed((usual) => ({
        headers: { ...usual.headers, location },
        body: body === "usual" ? bodyOf(usual) : "",
      })),
    }),
    tells: ({ body }) => body === "usual",
  }),
  /** A create is answered with a record that was there before, and has no effect. */
  older: mutator({
    in: writes,
    weight: 2,
    given: () => fc.constant({}),
    misbehave: (_, { api, kind }) => {
      const [first] = api.all(kind);
      return first ? undone({ data: first }) : {};
    },
  }),
  /** An error inside a 2xx: nothing was done. */
  complaint: mutator({
    given: () => fc.record({ complaint: fc.nat(complaints.length - 1) }),
    misbehave: ({ complaint }) => undone(complaints[complaint]),
  }),
  cut: mutator({
    given: () => fc.record({ effect: fc.boolean(), code: fc.constantFrom<string>(...cuts) }),
    misbehave: ({ effect: hasEffect, code }) => {
      const syscall = code.startsWith("EHOST") ? "connect" : "read";
      return {
        effectAfter: hasEffect && syscall === "read" ? 0 : "never",
        answer: () => Object.assign(networkError(code, `read ${code}`), { syscall }),
      };
    },
  }),
  /** The connection is cut in the middle of the answer. */
  truncated: mutator({
    given: () => fc.constant({}),
    misbehave: () => ({ answer: () => networkError("UND_ERR_SOCKET", "other side closed") }),
  }),
  unanswered: mutator({
    given: () => fc.record({ effectAfter: effect }),
    misbehave: ({ effectAfter }) => ({ effectAfter, answer: () => undefined }),
  }),
  headers: mutator({
    weight: 2,
    given: () =>
      fc.record(
        { headers: fc.constantFrom(...headerSets), status: fc.constantFrom<number>(429, 503) },
        { requiredKeys: ["headers"] },
      ),
    misbehave: ({ headers, status }) => ({
      effectAfter: status === undefined ? 0 : "never",
      ...changed((usual) => ({
        ...(status !== undefined && { status, body: "" }),
        headers: { ...usual.headers, ...headers },
      })),
    }),
    tells: ({ headers, status }) =>
      status === undefined && !/content-encoding|utf-16/.test(JSON.stringify(headers)),
  }),
  /** The wall clock jumps while the request is under way. */
  clock: mutator({
    given: () => fc.record({ milliseconds: fc.constantFrom<number>(-3_600_000, 3_600_000, -86_400_000) }),
    misbehave: ({ milliseconds }, { time }) => {
      time.epoch += milliseconds;
      return {};
    },
    tells: () => true,
  }),
  text: mutator({
    given: () =>
      fc.record({ text: fc.constantFrom<string>(...texts), status: fc.constantFrom<number>(200, 201) }),
    misbehave: ({ text, status }) => changed(() => ({ status, body: text })),
    hides: () => true,
    denies: () => true,
  }),
  list: mutator({
    in: ["list"],
    weight: 10,
    given: () => fc.record({ list: fc.constantFrom(...namesOf(lists)) }),
    misbehave: ({ list }) =>
      changedBody((body) => {
        if (Array.isArray(body)) return lists[list](body as Properties[]);
        const { data, ...rest } = body as { data: Properties[] };
        return { ...rest, data: lists[list](data) };
      }),
    hides: ({ list }) => ["empty", "withoutIds", "withoutFields", "nulls"].includes(list),
  }),
} as const;

type GivenOf<Table> = Table extends Mutator<infer Given> ? Given : never;
/** A change of one answer. */
export type Mutation = {
  [Name in keyof typeof mutators]: { readonly mutate: Name } & Readonly<GivenOf<(typeof mutators)[Name]>>;
}[keyof typeof mutators];

const mutatorOf = ({ mutate }: Mutation): Omit<Mutator<never>, "given"> => mutators[mutate];
export const tells = (one: Mutation): boolean => mutatorOf(one).tells?.(one as never) ?? false;
export const hides = (one: Mutation): boolean => mutatorOf(one).hides?.(one as never) ?? false;
export const denies = (one: Mutation): boolean => mutatorOf(one).denies?.(one as never) ?? false;
export const misbehaviourOf = (one: Mutation, situation: Situation): Misbehaviour =>
  mutatorOf(one).misbehave(one as never, situation);

/** Random changes of the answers to one kind of request. */
export function mutationOf(target: Target, kind: Kind): fc.Arbitrary<Mutation> {
  const possible = Object.entries(mutators).filter(([, one]) => one.in?.includes(target) ?? true);
  return fc.oneof(
    ...possible.map(([mutate, { given, weight = 1 }]) => ({
      weight,
      arbitrary: (given(kind) as fc.Arbitrary<object>).map((more) => ({ mutate, ...more }) as Mutation),
    })),
  );
}
