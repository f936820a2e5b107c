import fc from "fast-check";

import type { Answer } from "../../../provider/emulator/answers";
import type { Dialect } from "../../../provider/emulator";
import { dialects } from "../arbitraries";
import { apiKey, networkError, origin, SimulatedApi } from "./api";
import type { Misbehaviour, Seen, ServerHabits, WireAnswer } from "./api";
import { isInternal, isWellFormed, OperationFailed } from "../calls";
import type { Kind, ProviderProcess, Properties, Settings } from "../calls";
import { Hang, VirtualClock } from "../clock";
import { SimulatedEngine } from "./engine";
import type { Command, Declared, Goal } from "./engine";
import type { Front } from "./front";
import { SimulatedProcess } from "./process";
import { shown, Violation } from "./runs";

/** How an error's body repeats what was sent. */
interface Echo {
  readonly form: keyof typeof echoForms;
  readonly padding: number;
  readonly field: string;
}

/** What a server that answers otherwise than it should knows. */
interface Situation {
  readonly kind: Kind;
  readonly args: Properties;
  readonly echo: Echo;
  /** The values that nobody may see. */
  readonly secrets: readonly string[];
  readonly api: SimulatedApi;
  readonly time: VirtualClock;
}

// Secrets --------------------------------------------------------------------------------------------------------------

const letters = Array.from("QXZJKVW");
const specials = Array.from("/|<>&\"'ü +%\\;#=😀é-");
/** No part of it occurs in our texts: of any four characters in a row, at least two are letters that words hardly have. */
const secret: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(
      fc.tuple(fc.constantFrom(...letters), fc.constantFrom(...letters), fc.constantFrom(...specials, "")),
      {
        minLength: 2,
        maxLength: 5,
      },
    ),
    fc.constantFrom(...letters),
  )
  .map(([parts, last]) => parts.flat().join("") + last);

const monitorArgs: fc.Arbitrary<Properties> = fc
  .record({
    password: secret,
    headers: fc.array(secret, { maxLength: 2 }),
    extends: fc.boolean(),
    more: fc.record(
      {
        alertChannelIds: fc.constantFrom([], [1, 2]),
        sslAlertDays: fc.constantFrom(0, 7),
        pause: fc.boolean(),
        cacheBuster: fc.boolean(),
        maintenanceStartAt: fc.constant("2031-01-01T00:00:00"),
        requestAuthUsername: fc.constant("someone"),
      },
      { requiredKeys: [] },
    ),
    hasPassword: fc.boolean(),
  })
  .map(({ password, headers, extends: isLonger, more, hasPassword }) => {
    // One secret may begin with another.
    const values = isLonger && headers[0] !== undefined ? [headers[0], `${headers[0]}-${password}`] : headers;
    return {
      name: "Home",
      url: "https://home.example/",
      interval: 60,
      ...more,
      ...(hasPassword && { requestAuthPassword: password }),
      ...(values.length > 0 && {
        requestHeaders: values.map((value, number) => ({ key: `X-H${number}`, value })),
      }),
    };
  });
const domainArgs: fc.Arbitrary<Properties> = fc.constantFrom(
  { name: "one.example" },
  { name: "one.example", homepageUrl: "https://one.example/home" },
);

const html = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const ascii = (text: string): string =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** How servers repeat a text in what they say. */
const echoForms = {
  plain: (text: string) => text,
  json: (text: string) => JSON.stringify(text).slice(1, -1),
  php: (text: string) => ascii(JSON.stringify(text).slice(1, -1)).replaceAll("/", "\\/"),
  html,
  htmlQuotes: (text: string) => html(text).replaceAll("'", "&#039;"),
  htmlHex: (text: string) => html(text).replaceAll("'", "&#x27;").replaceAll("&quot;", "&#34;"),
  htmlNamed: (text: string) => html(text).replaceAll("'", "&apos;"),
  url: encodeURIComponent,
  form: (text: string) => new URLSearchParams([["", text]]).toString().slice(1),
  basic: (text: string) => Buffer.from(`someone:${text}`).toString("base64"),
} as const;

const namesOf = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table)[];

// Mutations ------------------------------------------------------------------------------------------------------------

const envelopes = {
  request: (record: Properties) => ({ id: "req-8f3a", data: record }),
  number: (record: Properties) => ({ id: 77, data: record }),
  jsonApi: ({ id, ...rest }: Properties) => ({ data: { id, type: "x", attributes: rest } }),
  list: (record: Properties) => ({ data: [record] }),
  bareList: (record: Properties) => [record],
  unknown: (record: Properties) => ({ success: true, result: record }),
  named: (record: Properties, kind: Kind) => ({ [kind]: record }),
  namedInData: (record: Properties, kind: Kind) => ({ data: { [kind]: record } }),
  bare: (record: Properties) => record,
  text: (record: Properties) => JSON.stringify(record),
  job: () => ({ id: 77, status: "queued" }),
} as const;

/** The records of a list, as another server lists them; what is hidden cannot be found. */
const lists = {
  brief: { hides: false, of: (all: Properties[]) => all.map(({ id, name, url }) => ({ id, name, url })) },
  reversed: { hides: false, of: (all: Properties[]) => [...all].reverse() },
  shuffled: {
    hides: false,
    of: (all: Properties[]) => [...all].sort((a, b) => (Number(a.id) % 3) - (Number(b.id) % 3)),
  },
  strings: { hides: false, of: (all: Properties[]) => all.map((one) => ({ ...one, id: String(one.id) })) },
  empty: { hides: true, of: () => [] },
  withoutIds: { hides: true, of: (all: Properties[]) => all.map(({ id: _, ...rest }) => rest) },
  withoutFields: { hides: true, of: (all: Properties[]) => all.map(({ id }) => ({ id })) },
  nulls: { hides: true, of: (all: Properties[]) => [...all, null] },
  twice: { hides: false, of: (all: Properties[]) => [...all, ...all] },
} as const;

const complaints: readonly object[] = [
  { success: false, message: "No." },
  { error: "No." },
  { errors: { name: ["No."] } },
  { status: "error", message: "No." },
  { deleted: false, success: false },
];
const longText = "x".repeat(299) + "😀" + "y".repeat(5000);
const values: readonly unknown[] = [
  null,
  "",
  0,
  1,
  -1,
  1.5,
  true,
  "60.0",
  "no",
  "off",
  1_700_000_000,
  1_700_000_000_000,
  "12345678901234567890",
  [],
  {},
  "[1,2]",
  '[{"id":1}]',
  '[{"key":"X-H0","value":"v"}]',
  '{"X-H0":"v"}',
  "[1,",
  [null],
  [[1]],
  [{ id: null }],
  { a: { b: { c: [] } } },
  "Home \ud83d",
  "\udc00",
  ["\ud83d"],
  { "k\ud83d": 1 },
  { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "x" },
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  longText,
  "0000-00-00 00:00:00",
  "2031-01-01 00:00:00+02:00",
  "<b>x</b> &amp;amp;",
];
const fieldNames: Readonly<Record<Kind, readonly string[]>> = {
  monitor: [
    "name",
    "url",
    "interval",
    "alert_condition",
    "alert_channel_ids",
    "request_method",
    "request_headers",
    "request_auth_username",
    "request_auth_password",
    "cache_buster",
    "ssl_alert_days",
    "maintenance_start_at",
    "pause",
    "paused_at",
    "deleted_at",
    "is_deleted",
    "display_name",
    "k\ud83d",
    "4dabf18193072939515e22adb298388d",
    "__proto__",
    "__server",
    "__provider",
    "attributes",
  ],
  domain: ["name", "homepage_url", "not_found_url", "trashed", "display_name", "k\ud83d", "__proto__"],
};
const moments = [0, 3000, 8000, 20_000, 60_000] as const;
const statuses = [
  200, 201, 202, 204, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429,
  500, 501, 502, 503, 504, 520, 522, 524,
] as const;
/** After these a request had no effect; nothing can be done about a server that means something else by them. */
const refusals: readonly number[] = [
  301, 307, 308, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 503,
];
/** With these the server may still be at work; with others there is no late effect. */
const lateStatuses: readonly number[] = [202, 204, 408, 504, 524];
const locations = [
  "/api/v1/jobs/77",
  "/api/v1/monitors/77",
  "/api/v1/monitors/1",
  "/api/v1/domains/1",
  "https://elsewhere.invalid/api/v1/monitors/1",
  "/login",
  "::",
  "/api/v1/monitors/1/../2",
  "/api/v1/monitors/%31",
] as const;

const cuts = [
  "ECONNRESET",
  "UND_ERR_SOCKET",
  "EPIPE",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "EHOSTUNREACH",
] as const;
const texts = [
  "",
  " ",
  "{",
  "null",
  "[]",
  "{}",
  '""',
  "0",
  "\ud83d",
  "<html>",
  "[".repeat(200),
  "true",
] as const;
const ids = [77, 1, 2, "77", null, "", "../1", 1e21, {}, [1], true, 1.5, "\ud83d", "1", "01", 0, -1] as const;
const effect = fc.oneof(fc.constantFrom<number | "never">(0, "never"), fc.constantFrom<number>(...moments));
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

/** The kinds of requests that an operation sends. */
type Target = "list" | "show" | "create" | "update" | "delete";

function targetOf({ method, id }: Seen): Target {
  if (method === "GET") return id === undefined ? "list" : "show";
  if (method === "POST") return "create";
  return method === "DELETE" ? "delete" : "update";
}

const emptyAnswer: Answer = { status: 200, headers: { "content-type": "application/json" }, body: "" };
const bodyOf = ({ body }: WireAnswer): string =>
  typeof body === "string" ? body : Buffer.from(body).toString();

/** The usual answer with something changed. */
const changed = (change: (usual: Answer) => Partial<WireAnswer>): Misbehaviour => ({
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
function locatedId(location: string | undefined, kind: Kind): string | undefined {
  const path = location !== undefined && URL.canParse(location, origin) && new URL(location, origin).pathname;
  const id = path && /^\/api\/v1\/(\w+)s\/([^/]+)$/.exec(path);
  return id && id[1] === kind && id[2] !== undefined ? decodeURIComponent(id[2]) : undefined;
}

/** What an error says that repeats the key and the secrets. */
function repeated({ args, echo, secrets }: Situation): string {
  const { form, padding, field } = echo;
  // Basic authentication needs a user.
  const password = args.requestAuthUsername === undefined ? undefined : args.requestAuthPassword;
  const texts = secrets.map((text) => (form === "basic" && text !== password ? text : echoForms[form](text)));
  const said = `${"x".repeat(padding)} ${[...texts, form === "basic" ? apiKey : echoForms[form](apiKey)].join(" ")}`;
  if (field === "") return said;
  // The forms are JSON already, as far as they are one of JSON.
  const quoted = form === "json" || form === "php" ? `"${said}"` : JSON.stringify(said);
  return field === "errors" ? `{"errors":{"name":[${quoted}]}}` : `{"${field}":${quoted}}`;
}

/** What is asked of one way in which a server answers otherwise than it should. */
interface Wrong<Given> {
  readonly misbehave: (given: Given, situation: Situation) => Misbehaviour;
  /** The answer to a create tells the id of the record that it made, in a form that the API may have. */
  readonly tells?: (given: Given) => boolean;
  /** The answer to a read or a list does not show what is there. */
  readonly hides?: (given: Given) => boolean;
  /** The answer to a read says that the record is another one, or that there is none. */
  readonly denies?: (given: Given) => boolean;
}

interface RandomlyWrong<Given> extends Wrong<Given> {
  readonly in: readonly Target[];
  readonly given: (kind: Kind) => fc.Arbitrary<Given>;
  readonly weight?: number;
}
const wrong = <Given>(one: RandomlyWrong<Given>): RandomlyWrong<Given> => one;
const anyAnswer = ["list", "show", "create", "update", "delete"] as const;
const records = ["show", "create", "update"] as const;
const writes = ["create", "update"] as const;

const mutations = {
  /** A value of the record becomes another, or a field is added. */
  value: wrong({
    in: records,
    weight: 8,
    given: (kind) =>
      fc.record({ field: fc.constantFrom(...fieldNames[kind]), value: fc.constantFrom(...values) }),
    misbehave: ({ field, value }, { kind }) =>
      // Not by an assignment, because a field may be called __proto__.
      changedRecord(kind, (record) => Object.fromEntries([...Object.entries(record), [field, value]])),
    tells: () => true,
    hides: () => true,
    denies: ({ field }) => /^(is_)?(deleted|trashed)(_at)?$/.test(field),
  }),
  /** A field that nobody knows repeats every secret. */
  repeat: wrong({
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
  without: wrong({
    in: records,
    weight: 2,
    given: (kind) =>
      fc.record({
        fields: fc.oneof(
          fc.constant("all"),
          fc.subarray<string>([...fieldNames[kind]], { minLength: 1, maxLength: 3 }),
        ),
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
  id: wrong({
    in: records,
    weight: 2,
    given: () =>
      fc.record({
        id: fc.constantFrom<unknown>(...ids),
      }),
    misbehave: ({ id }, { kind }) => changedRecord(kind, (record) => ({ ...record, id })),
    hides: () => true,
    denies: () => true,
  }),
  envelope: wrong({
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
  status: wrong({
    in: anyAnswer,
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
    misbehave: ({ status, body, effectAfter, location, retryAfter }, situation) => {
      const isLate = typeof effectAfter === "number" && effectAfter > 0 && lateStatuses.includes(status);
      const bodies = {
        usual: bodyOf,
        empty: () => "",
        html: () => `<!DOCTYPE html><title>${status}</title><p>${longText}`,
        json: () =>
          JSON.stringify({ message: longText, errors: { name: ["\ud83d", 1, null, { message: longText }] } }),
        echo: () => repeated(situation),
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
  location: wrong({
    in: writes,
    weight: 2,
    given: () =>
      fc.record({
        location: fc.constantFrom<string>(...locations),
        body: fc.constantFrom("usual", "empty"),
      }),
    misbehave: ({ location, body }, { api, kind }) => ({
      // If it leads to a record that was there before, none was made.
      ...(api.get(kind, locatedId(location, kind) ?? "") && { effectAfter: "never" as const }),
      ...changed((usual) => ({
        headers: { ...usual.headers, location },
        body: body === "usual" ? bodyOf(usual) : "",
      })),
    }),
    tells: ({ body }) => body === "usual",
  }),
  /** A create is answered with a record that was there before, and makes none. */
  older: wrong({
    in: writes,
    weight: 2,
    given: () => fc.constant({}),
    misbehave: (_, { api, kind }) => {
      const [first] = api.all(kind);
      return first ? undone({ data: first }) : {};
    },
  }),
  /** An error inside a 2xx: nothing was done. */
  complaint: wrong({
    in: anyAnswer,
    given: () => fc.record({ complaint: fc.nat(complaints.length - 1) }),
    misbehave: ({ complaint }) => undone(complaints[complaint]),
  }),
  cut: wrong({
    in: anyAnswer,
    given: () => fc.record({ effect: fc.boolean(), code: fc.constantFrom<string>(...cuts) }),
    misbehave: ({ effect: hasEffect, code }) => {
      const syscall = code.startsWith("EHOST") ? "connect" : "read";
      return {
        effectAfter: hasEffect && syscall === "read" ? 0 : "never",
        answer: () => Object.assign(networkError(code, `read ${code}`), { syscall }),
      };
    },
  }),
  truncated: wrong({
    in: anyAnswer,
    given: () => fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }) }),
    misbehave: ({ part }) =>
      changed((usual) => ({ cutAfter: Math.floor(Buffer.byteLength(bodyOf(usual)) * part) })),
  }),
  unanswered: wrong({
    in: anyAnswer,
    given: () => fc.record({ effectAfter: effect }),
    misbehave: ({ effectAfter }) => ({ effectAfter, answer: () => undefined }),
  }),
  headers: wrong({
    in: anyAnswer,
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
  clock: wrong({
    in: anyAnswer,
    given: () => fc.record({ milliseconds: fc.constantFrom<number>(-3_600_000, 3_600_000, -86_400_000) }),
    misbehave: ({ milliseconds }, { time }) => {
      time.epoch += milliseconds;
      return {};
    },
    tells: () => true,
  }),
  text: wrong({
    in: anyAnswer,
    given: () =>
      fc.record({ text: fc.constantFrom<string>(...texts), status: fc.constantFrom<number>(200, 201) }),
    misbehave: ({ text, status }) => changed(() => ({ status, body: text })),
    hides: () => true,
    denies: () => true,
  }),
  list: wrong({
    in: ["list"],
    weight: 10,
    given: () => fc.record({ list: fc.constantFrom(...namesOf(lists)) }),
    misbehave: ({ list }) =>
      changedBody((body) => {
        if (Array.isArray(body)) return lists[list].of(body as Properties[]);
        const { data, ...rest } = body as { data: Properties[] };
        return { ...rest, data: lists[list].of(data) };
      }),
    hides: ({ list }) => lists[list].hides,
  }),
} as const;

type GivenOf<Table> = Table extends RandomlyWrong<infer Given> ? Given : never;
/** A change of one answer. */
type Mutation = {
  [Name in keyof typeof mutations]: { readonly mutate: Name } & Readonly<GivenOf<(typeof mutations)[Name]>>;
}[keyof typeof mutations];

const wrongOf = ({ mutate }: Mutation): Wrong<never> => mutations[mutate];
const tells = (one: Mutation): boolean => wrongOf(one).tells?.(one as never) ?? false;
const hides = (one: Mutation): boolean => wrongOf(one).hides?.(one as never) ?? false;
const denies = (one: Mutation): boolean => wrongOf(one).denies?.(one as never) ?? false;

function mutationOf(target: Target, kind: Kind): fc.Arbitrary<Mutation> {
  const possible = Object.entries(mutations).filter(([, one]) => one.in.includes(target));
  return fc.oneof(
    ...possible.map(([mutate, { given, weight = 1 }]) => ({
      weight,
      arbitrary: (given(kind) as fc.Arbitrary<object>).map((more) => ({ mutate, ...more }) as Mutation),
    })),
  );
}

// Cases ----------------------------------------------------------------------------------------------------------------

type Operation = "create" | "read" | "refresh" | "update" | "delete" | "import" | "adopt" | "get";
/** Which requests an operation sends, and what Pulumi does it with, if it has a command for it. */
const operations: Readonly<Record<Operation, { readonly sends: readonly Target[]; readonly by?: Command }>> =
  {
    create: { sends: ["create", "create", "create", "list", "show", "update"], by: "up" },
    adopt: { sends: ["list", "show", "create", "update"], by: "up" },
    import: { sends: ["show", "list"], by: "up" },
    read: { sends: ["show", "list"], by: "refresh" },
    refresh: { sends: ["show", "list"], by: "up --refresh" },
    get: { sends: ["show"] },
    update: { sends: ["update", "update", "show"], by: "up" },
    delete: { sends: ["delete", "delete", "list", "show"], by: "destroy" },
  };

const dialect: fc.Arbitrary<Partial<Dialect>> = fc
  .tuple(
    // With many oddities at once, most operations end before a wrong answer matters.
    fc.oneof(fc.constant({}), dialects),
    fc.record(
      {
        notStored: fc.constantFrom([], ["alert_channel_ids"], ["ssl_alert_days", "homepage_url"]),
        createAnswer: fc.constantFrom("record", "id", "empty"),
        listBrief: fc.boolean(),
        deletion: fc.constantFrom("removed", "marked"),
        order: fc.constantFrom("asked", "none"),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([usual, strange]) => ({ ...usual, gone: 404, uniqueDomainNames: false, ...strange }));

export interface Case {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly args: Properties;
  readonly dialect: Partial<Dialect>;
  readonly habits?: ServerHabits;
  /** Ctrl-C, or SIGTERM to the provider, when so many requests were carried out. */
  readonly interruption?: { readonly after: number; readonly by: "cancel" | "finish" } | undefined;
  /** How many other records there are. */
  readonly others: number;
  readonly echo: Echo;
  readonly mutations: readonly {
    readonly target: Target;
    /** Which request of its kind. */
    readonly number: number;
    readonly mutation: Mutation;
  }[];
}

export const cases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.constantFrom("monitor", "monitor", "domain"),
    fc.constantFrom(...namesOf(operations), "create", "create"),
  )
  .chain(([kind, operation]) =>
    fc.record({
      kind: fc.constant(kind),
      operation: fc.constant(operation),
      args: kind === "monitor" ? monitorArgs : domainArgs,
      dialect,
      habits: fc.record({
        ids: fc.constantFrom("rising", "rising", "falling", "reused", "text"),
        lag: fc.constantFrom<number>(0, 0, 4500),
      }),
      interruption: fc.option(
        fc.record({ after: fc.integer({ min: 1, max: 4 }), by: fc.constantFrom("cancel", "finish") }),
        { nil: undefined, freq: 5 },
      ),
      others: fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 3 }) },
        fc.constantFrom<number>(10, 25, 100),
      ),
      echo: fc.record({
        form: fc.constantFrom(...namesOf(echoForms)),
        padding: fc.oneof(fc.constant<number>(0), fc.integer({ min: 180, max: 300 })),
        field: fc.constantFrom<string>("message", "error", "errors", "other", ""),
      }),
      mutations: fc.array(
        fc.constantFrom(...operations[operation].sends).chain((target) =>
          fc.record({
            target: fc.constant(target),
            number: fc.oneof(
              { weight: 4, arbitrary: fc.constant<number>(1) },
              fc.integer({ min: 1, max: 3 }),
            ),
            mutation: mutationOf(target, kind),
          }),
        ),
        { minLength: 1, maxLength: 4, size: "-1" },
      ),
    }),
  );

// Playing --------------------------------------------------------------------------------------------------------------

/** An operation that takes longer than this never ends. */
const longest = 26 * 3_600_000;
const plainSettings = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey };

/** Carries out the operation of a case, and looks whether what must hold does. */
export async function tryCase(one: Case, front: Front): Promise<void> {
  const scene = await setUp(one, front);
  judge(one, front, scene, await carryOut(one, front, scene));
}

type Run = (
  command: Command,
  process: ProviderProcess,
  settings: Settings,
  program?: Declared,
) => Promise<readonly Error[]>;

/** The records before the operation. */
interface Scene {
  readonly time: VirtualClock;
  readonly api: SimulatedApi;
  readonly surroundings: SimulatedProcess;
  readonly engine: SimulatedEngine;
  readonly declared: Declared;
  readonly run: Run;
  /** The record of the resource, if it has one. */
  readonly own: string | undefined;
  /** The records of others as they are at first, by their ids. */
  readonly foreign: ReadonlyMap<string, string | undefined>;
  /** A record as it is now. */
  readonly there: (id: string) => string | undefined;
  /** The values that nobody may see. */
  readonly secrets: readonly string[];
}

/** What the operation came to. */
interface Ending {
  readonly errors: readonly Error[];
  /** What a read by `get` was answered with. */
  readonly got: readonly unknown[];
  /** The mutations that came about. */
  readonly done: Case["mutations"];
  /** How many writes there were at the interruption. */
  readonly writesAllowed: number;
}

async function setUp(one: Case, front: Front): Promise<Scene> {
  const { kind, operation, args } = one;
  const time = new VirtualClock();
  const api = new SimulatedApi(time, { uniqueDomainNames: false }, one.habits);
  const surroundings = new SimulatedProcess(time, api);
  // Pulumi's host shows what is printed there.
  jest.spyOn(console, "warn").mockImplementation(surroundings.print);
  const engine = new SimulatedEngine((declared, settings) => goalOf(declared, settings, front));
  const declared: Declared = { kind, name: "r", args };
  const run: Run = async (command, process, settings, program = declared) => {
    const options = { command, settings, program: [program] };
    const outcome = await time.until(engine.run({ provider: () => process[kind] }, options), longest);
    for (const error of outcome.errors) if (!(error instanceof OperationFailed)) throw error;
    return outcome.errors;
  };
  for (let other = 0; other < one.others; other++)
    api.add(kind, {
      name: kind === "monitor" ? `Other ${other}` : `other${other}.example`,
      url: "https://other.example/",
      interval: 300,
    });

  // What is there before: a resource in state, or a record to import or adopt.
  let own: string | undefined;
  if (operation !== "create") {
    const setup = new SimulatedProcess(time, api);
    const [error] = await run("up", front.start(plainSettings, setup), plainSettings);
    if (error) throw error;
    setup.kill();
    own = engine.state[0]?.id;
    if (!isInState(operation)) engine.state = [];
  }
  api.dialect = { ...api.dialect, ...one.dialect };
  // Longer than lists lag.
  await time.until(time.sleep(10_000));
  api.forget();
  const there = (id: string): string | undefined => {
    const record = api.get(kind, id);
    return record && JSON.stringify(record);
  };
  const others = api.all(kind).filter(({ id }) => id !== own);
  const foreign = new Map(others.map(({ id }) => [id, there(id)]));
  // Of a record that is only read, nobody knows them; for the engine an import by the plugin is such a read.
  const isOnlyRead = operation === "get" || (operation === "import" && front.name === "plugin");
  const secrets = isOnlyRead ? [] : secretsOf(args);
  return { time, api, surroundings, engine, declared, run, own, foreign, there, secrets };
}

/** The operation is on a resource that is in state. */
const isInState = (operation: Operation): boolean =>
  ["read", "refresh", "update", "delete"].includes(operation);

async function carryOut(
  one: Case,
  front: Front,
  { time, api, surroundings, declared, run, own, secrets }: Scene,
): Promise<Ending> {
  const { kind, operation, mutations: planned } = one;
  const counts = new Map<Target, number>();
  const done: Case["mutations"][number][] = [];
  api.misbehave = (request) => {
    const target = targetOf(request);
    const number = (counts.get(target) ?? 0) + 1;
    counts.set(target, number);
    const found = planned.find((other) => other.target === target && other.number === number);
    if (!found) return undefined;
    done.push(found);
    const { mutation } = found;
    return wrongOf(mutation).misbehave(mutation as never, { ...one, secrets, api, time });
  };

  const settings = { ...plainSettings, ...(operation === "adopt" && { "uptime:adoptExisting": "true" }) };
  const process = front.start(settings, surroundings);
  let writesAllowed = Infinity;
  let carriedOut = 0;
  api.onDone = () => {
    if (++carriedOut !== one.interruption?.after) return;
    writesAllowed = api.writes().length;
    void process[one.interruption.by]();
  };
  let errors: readonly Error[];
  const got: unknown[] = [];
  try {
    const { by } = operations[operation];
    errors = by
      ? await run(by, process, settings, programOf(one, declared, own))
      : await time.until(
          process[kind].read("urn:pulumi:stack::project::x::r", own ?? "1", {}, {}).then(
            (result) => (got.push(result), []),
            (error: unknown) => {
              if (error instanceof OperationFailed) return [error];
              throw error;
            },
          ),
          longest,
        );
  } catch (error) {
    if (error instanceof Hang) throw new Violation(`the call does not end: ${error.message}`);
    throw error;
  } finally {
    surroundings.kill();
  }
  await time.until(time.sleep(600_000));
  return { errors, got, done, writesAllowed };
}

function judge(
  one: Case,
  front: Front,
  { api, surroundings, engine, own, foreign, there, secrets }: Scene,
  { errors, got, done, writesAllowed }: Ending,
): void {
  const { kind, operation, mutations: planned } = one;
  const isGreen = errors.length === 0;
  const messages = errors.map(({ message }) => message);
  const violated = (text: string): never => {
    throw new Violation(
      `${text}\nstate: ${JSON.stringify(engine.state).slice(0, 600)}\nerrors: ${messages.join("\n").slice(0, 600)}\n` +
        `requests: ${api.requests.map(shown).join(", ")}`,
    );
  };
  if (messages.some(isInternal)) violated("what leaves is not sound");
  // Pulumi's host of dynamic resources hears nothing of Ctrl-C.
  const isHeard = one.interruption?.by === "finish" || front.name === "plugin";
  if (isHeard && api.writes().length > writesAllowed)
    violated("something was written after the interruption");

  // At most one record was made, and its id is known.
  const isDeceived = done.some(
    ({ target, mutation }) => (target === "list" || target === "show") && hides(mutation),
  );
  const created = api.requests.flatMap(({ effect: made }) => (made?.made === "created" ? [made.id] : []));
  // Where lists are sorted by numbers, a lower one is not looked for after a create that was lost.
  if (created.length > 1 && !isDeceived && one.habits?.ids !== "falling")
    violated(`${created.length} records were made`);
  const id = engine.state[0]?.id;
  const [made] = created;
  // Nobody can know that a record that is shown whole has another id than it shows, nor that a Location or a job's id is
  // another while what is there cannot be read, nor that a record was there before if no list shows it.
  const isUnreadable = done.some(({ target }) => target === "show");
  const isUnlisted = done.some(({ target, mutation }) => target === "list" && hides(mutation));
  const isNewId = done.some(
    ({ target, mutation }) =>
      target === "create" &&
      id !== undefined &&
      (foreign.has(id)
        ? isUnlisted
        : (mutation.mutate === "id" && id === String(mutation.id).toWellFormed()) ||
          (isUnreadable &&
            (("location" in mutation && locatedId(mutation.location, kind) === id) ||
              (mutation.mutate === "envelope" && mutation.envelope === "job")))),
  );
  const isMade = id !== undefined && created.includes(id);
  if (made !== undefined && !isMade && !isNewId) {
    // If the address of that id shows another record or none, the id may be another's: an error names what is new.
    const isDenied = done.some(({ target, mutation }) => target === "show" && denies(mutation));
    const isTold =
      !isDenied && planned.every(({ target, mutation }) => target !== "create" || tells(mutation));
    if (isGreen && !isDeceived) violated(`the record ${made} was made, and state has the id ${id ?? "none"}`);
    const { createAnswer, createStatus } = api.dialect;
    if (isTold && id === undefined && createAnswer !== "empty" && createStatus !== 204)
      violated(`the id ${made} was told, and is lost`);
  }

  // Nothing that is not ours was written or taken.
  const ours = new Set([...created, own, ...(isNewId ? [id] : [])]);
  if (id !== undefined && !ours.has(id)) violated(`the id ${id} is not ours`);
  for (const request of api.writes())
    if (request.id !== undefined && !ours.has(request.id))
      violated(`${request.method} ${request.path} is not ours`);
  for (const [key, text] of foreign)
    if (!ours.has(key) && there(key) !== text) violated(`the record ${key} of somebody else has changed`);
  const isThere = own !== undefined && there(own) !== undefined;
  const isGone = operation === "get" ? got[0] === undefined : isInState(operation) && id !== own;
  if (operation !== "delete" && isGreen && isGone && isThere && !isDeceived)
    violated(`the record ${own} is said to be gone, and is there`);
  // That there is no such record is believed of its own address, whether a read or the delete is told so.
  const isOwnAddressGone = done.some(
    ({ target, mutation }) =>
      (target === "delete" || target === "show") &&
      "status" in mutation &&
      (mutation.status < 300 || [404, 410].includes(mutation.status)),
  );
  if (operation === "delete" && isGreen && isThere && !isOwnAddressGone && !isDeceived)
    violated(`the record ${own} is said to be deleted, and is there`);

  // Nothing leaves that is ill-formed or tells a secret.
  const reasons = errors.flatMap((error) => (error instanceof OperationFailed ? (error.reasons ?? []) : []));
  const kept = engine.state.flatMap(({ inputs, outputs }) => [publicOf(inputs), publicOf(outputs)]);
  for (const text of [
    ...messages,
    ...reasons,
    ...textsIn([kept, ...got.map(publicOf)]),
    ...surroundings.printed,
  ]) {
    if (!isWellFormed(text)) violated(`ill-formed: ${JSON.stringify(text.slice(0, 100))}`);
    const part = leakIn(text, [...secrets, apiKey]);
    if (part !== undefined) violated(`${JSON.stringify(part)} of a secret is in: ${text.slice(0, 700)}`);
  }
}

/** What the program declares then. */
function programOf({ kind, operation }: Case, declared: Declared, own = "1"): Declared {
  if (operation === "import") return { ...declared, import: own };
  if (operation !== "update") return declared;
  const change = kind === "monitor" ? { interval: 600 } : { notFoundUrl: "https://x.example/" };
  return { ...declared, args: { ...declared.args, ...change } };
}

/** What becomes of a declaration: found out once for each kind, because Pulumi's SDK takes its time. */
async function goalOf(declared: Declared, settings: Settings, front: Front): Promise<Goal> {
  const goal = await front.register({ ...declared, args: {} }, settings);
  return { ...goal, inputs: { ...goal.inputs, ...declared.args } };
}

/** The values that nobody may see. */
function secretsOf(args: Properties): string[] {
  const headers = (args.requestHeaders ?? []) as { value: string }[];
  return [
    ...headers.map(({ value }) => value),
    ...(typeof args.requestAuthPassword === "string" ? [args.requestAuthPassword] : []),
  ];
}

/** Without the properties that state encrypts. */
function publicOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "requestHeaders" && key !== "requestAuthPassword")
      .map(([key, entry]) => [key, key === "outputs" || key === "inputs" ? publicOf(entry) : entry]),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => [key, ...textsIn(entry)]);
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A text as it is, and as it reads when it is decoded in one of the usual ways. */
function readings(text: string): string[] {
  const fromHtml = text.replace(
    /&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) =>
      hex !== undefined
        ? String.fromCodePoint(parseInt(hex, 16))
        : decimal !== undefined
          ? String.fromCodePoint(Number(decimal))
          : (named[name ?? ""] ?? whole),
  );
  const fromJson = text.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_, code?: string, one?: string) =>
    code !== undefined ? String.fromCharCode(parseInt(code, 16)) : (one ?? ""),
  );
  const fromUrl = text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
  const fromBase64 = (text.match(/[A-Za-z0-9+/_-]{6,}={0,2}/g) ?? []).map((run) =>
    Buffer.from(run, "base64").toString(),
  );
  return [text, fromHtml, fromJson, fromUrl, fromUrl.replaceAll("+", " "), ...fromBase64];
}

function leakIn(text: string, secrets: readonly string[]): string | undefined {
  const all = readings(text);
  for (const whole of secrets) {
    const characters = Array.from(whole);
    for (let at = 0; at + 4 <= characters.length; at++) {
      const part = characters.slice(at, at + 4).join("");
      if (all.some((reading) => reading.includes(part))) return part;
    }
  }
  return undefined;
}
