import fc from "fast-check";

import type { Answer } from "../../../provider/emulator/answers";
import type { Dialect } from "../../../provider/emulator";
import { apiKey, networkError, origin, SimulatedApi } from "./api";
import type { Misbehaviour, Seen, ServerHabits, WireAnswer } from "./api";
import { isInternal, isWellFormed, OperationFailed } from "../calls";
import type { Kind, Properties, Settings } from "../calls";
import { Hang, VirtualClock } from "../clock";
import type { Declared, Goal } from "./engine";
import type { Front } from "./front";
import { SimulatedProcess } from "./process";
import { Violation } from "./runs";

/** The kinds of requests that an operation sends. */
type Target = "list" | "show" | "create" | "update" | "delete";

/** A change of one answer. */
type Mutation =
  /** A value of the record becomes another, or a field is added. */
  | { readonly mutate: "value"; readonly field: string; readonly value: unknown }
  /** A field that nobody knows repeats every secret. */
  | { readonly mutate: "repeat" }
  | { readonly mutate: "without"; readonly fields: readonly string[] | "all" }
  | { readonly mutate: "id"; readonly id: unknown }
  | { readonly mutate: "envelope"; readonly envelope: keyof typeof envelopes }
  /** Another status and body, and perhaps no effect, or a late one. */
  | {
      readonly mutate: "status";
      readonly status: number;
      readonly body: "usual" | "empty" | "html" | "json" | "echo";
      readonly effectAfter: number | "never";
      readonly location?: string | undefined;
      readonly retryAfter?: string | undefined;
    }
  | { readonly mutate: "location"; readonly location: string; readonly body: "usual" | "empty" }
  /** A create is answered with a record that was there before, and makes none. */
  | { readonly mutate: "older" }
  | { readonly mutate: "cut"; readonly effect: boolean; readonly code: string }
  | { readonly mutate: "truncated"; readonly part: number }
  | { readonly mutate: "unanswered"; readonly effectAfter: number | "never" }
  | {
      readonly mutate: "headers";
      readonly headers: Readonly<Record<string, string>>;
      readonly status?: number;
    }
  /** The wall clock jumps while the request is under way. */
  | { readonly mutate: "clock"; readonly milliseconds: number }
  | { readonly mutate: "text"; readonly text: string; readonly status: number }
  /** An error inside a 2xx: nothing was done. */
  | { readonly mutate: "complaint"; readonly complaint: number }
  | { readonly mutate: "list"; readonly list: keyof typeof lists };

export interface Case {
  readonly kind: Kind;
  readonly operation: "create" | "read" | "refresh" | "update" | "delete" | "import" | "adopt" | "get";
  readonly args: Properties;
  readonly dialect: Partial<Dialect>;
  readonly habits?: ServerHabits;
  /** Ctrl-C, or SIGTERM to the provider, when so many requests were carried out. */
  readonly interruption?: { readonly after: number; readonly by: "cancel" | "finish" } | undefined;
  /** How many other records there are. */
  readonly others: number;
  /** How an error's body repeats what was sent. */
  readonly echo: { readonly form: keyof typeof echoForms; readonly padding: number; readonly field: string };
  readonly mutations: readonly {
    readonly target: Target;
    /** Which request of its kind. */
    readonly number: number;
    readonly mutation: Mutation;
  }[];
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
/** After these a request had no effect; a server that says so and means something else cannot be dealt with. */
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

const anywhere: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    mutate: fc.constant("status" as const),
    status: fc.constantFrom(...statuses),
    body: fc.constantFrom(
      "usual" as const,
      "empty" as const,
      "html" as const,
      "json" as const,
      "echo" as const,
    ),
    effectAfter: effect,
    location: fc.option(fc.constantFrom(...locations), { nil: undefined, freq: 2 }),
    retryAfter: fc.option(fc.constantFrom("1", "3600", "x"), { nil: undefined, freq: 2 }),
  }),
  fc.record({
    mutate: fc.constant("cut" as const),
    effect: fc.boolean(),
    code: fc.constantFrom(
      "ECONNRESET",
      "UND_ERR_SOCKET",
      "EPIPE",
      "ERR_SSL_WRONG_VERSION_NUMBER",
      "EHOSTUNREACH",
    ),
  }),
  fc.record({ mutate: fc.constant("truncated" as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ mutate: fc.constant("unanswered" as const), effectAfter: effect }),
  fc.record({ mutate: fc.constant("complaint" as const), complaint: fc.nat(complaints.length - 1) }),
  fc.record({ mutate: fc.constant("headers" as const), headers: fc.constantFrom(...headerSets) }),
  fc.record({
    mutate: fc.constant("headers" as const),
    headers: fc.constantFrom(...headerSets),
    status: fc.constantFrom(429, 503),
  }),
  fc.record({
    mutate: fc.constant("clock" as const),
    milliseconds: fc.constantFrom(-3_600_000, 3_600_000, -86_400_000),
  }),
  fc.record({
    mutate: fc.constant("text" as const),
    text: fc.constantFrom(
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
    ),
    status: fc.constantFrom(200, 201),
  }),
);
const ofRecord = (kind: Kind): fc.Arbitrary<Mutation> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        mutate: fc.constant("value" as const),
        field: fc.constantFrom(...fieldNames[kind]),
        value: fc.constantFrom(...values),
      }),
    },
    fc.constant({ mutate: "repeat" as const }),
    fc.record({
      mutate: fc.constant("without" as const),
      fields: fc.oneof(
        fc.constant("all" as const),
        fc.subarray([...fieldNames[kind]], { minLength: 1, maxLength: 3 }),
      ),
    }),
    fc.record({
      mutate: fc.constant("id" as const),
      id: fc.constantFrom(
        77,
        1,
        2,
        "77",
        null,
        "",
        "../1",
        1e21,
        {},
        [1],
        true,
        1.5,
        "\ud83d",
        "1",
        "01",
        0,
        -1,
      ),
    }),
    fc.record({
      mutate: fc.constant("envelope" as const),
      envelope: fc.constantFrom(...(Object.keys(envelopes) as (keyof typeof envelopes)[])),
    }),
  );
const ofWrite: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    mutate: fc.constant("location" as const),
    location: fc.constantFrom(...locations),
    body: fc.constantFrom("usual" as const, "empty" as const),
  }),
  fc.constant({ mutate: "older" as const }),
);
const ofList: fc.Arbitrary<Mutation> = fc.record({
  mutate: fc.constant("list" as const),
  list: fc.constantFrom(...(Object.keys(lists) as (keyof typeof lists)[])),
});

const targetsOf: Readonly<Record<Case["operation"], readonly Target[]>> = {
  create: ["create", "create", "create", "list", "show", "update"],
  adopt: ["list", "show", "create", "update"],
  import: ["show", "list"],
  read: ["show", "list"],
  refresh: ["show", "list"],
  get: ["show"],
  update: ["update", "update", "show"],
  delete: ["delete", "delete", "list", "show"],
};

const dialect: fc.Arbitrary<Partial<Dialect>> = fc.record(
  {
    record: fc.constantFrom("data" as const, "bare" as const, "named" as const),
    paging: fc.constantFrom(
      "links" as const,
      "nextPageUrl" as const,
      "meta" as const,
      "cursor" as const,
      "bare" as const,
      "none" as const,
    ),
    createAnswer: fc.constantFrom("record" as const, "id" as const, "empty" as const),
    updateAnswer: fc.constantFrom("record" as const, "empty" as const, "message" as const),
    listBrief: fc.boolean(),
    password: fc.constantFrom("hidden" as const, "plain" as const),
    patch: fc.constantFrom("allowed" as const, "405" as const),
    notStored: fc.constantFrom([], ["alert_channel_ids"], ["ssl_alert_days", "homepage_url"]),
    gone: fc.constantFrom(404 as const, 410 as const),
    deletion: fc.constantFrom("removed" as const, "marked" as const),
    order: fc.constantFrom("asked" as const, "none" as const),
  },
  { requiredKeys: [] },
);

export const cases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.constantFrom("monitor" as const, "monitor" as const, "domain" as const),
    fc.constantFrom(...(Object.keys(targetsOf) as Case["operation"][]), "create" as const, "create" as const),
  )
  .chain(([kind, operation]) =>
    fc
      .record({
        kind: fc.constant(kind),
        operation: fc.constant(operation),
        args: kind === "monitor" ? monitorArgs : domainArgs,
        dialect,
        habits: fc.record({
          ids: fc.constantFrom(
            "rising" as const,
            "rising" as const,
            "falling" as const,
            "reused" as const,
            "text" as const,
          ),
          lag: fc.constantFrom(0, 0, 4500),
        }),
        interruption: fc.option(
          fc.record({
            after: fc.integer({ min: 1, max: 4 }),
            by: fc.constantFrom("cancel" as const, "finish" as const),
          }),
          { nil: undefined, freq: 5 },
        ),
        others: fc.oneof(
          { weight: 5, arbitrary: fc.integer({ min: 0, max: 3 }) },
          fc.constantFrom(10, 25, 100),
        ),
        echo: fc.record({
          form: fc.constantFrom(...(Object.keys(echoForms) as (keyof typeof echoForms)[])),
          padding: fc.oneof(fc.constant(0), fc.integer({ min: 180, max: 300 })),
          field: fc.constantFrom("message", "error", "errors", "other", ""),
        }),
        mutations: fc.array(
          fc.constantFrom(...targetsOf[operation]).chain((target) =>
            fc.record({
              target: fc.constant(target),
              number: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 3 })),
              mutation: fc.oneof(
                { weight: 2, arbitrary: anywhere },
                ...(target === "list" ? [{ weight: 2, arbitrary: ofList }] : []),
                ...(target === "delete" || target === "list"
                  ? []
                  : [{ weight: 3, arbitrary: ofRecord(kind) }]),
                ...(target === "create" || target === "update" ? [{ weight: 1, arbitrary: ofWrite }] : []),
              ),
            }),
          ),
          { minLength: 1, maxLength: 4, size: "-1" },
        ),
      })
      .map((one) => Object.assign(one, { [fc.toStringMethod]: () => describeCase(one) })),
  );

function describeCase({
  kind,
  operation,
  args,
  dialect: spoken,
  habits,
  interruption,
  others,
  echo,
  mutations,
}: Case): string {
  return [
    "",
    `${operation} of a ${kind} ${JSON.stringify(args)}, beside ${others} others`,
    `dialect ${JSON.stringify({ ...spoken, ...habits })}`,
    ...(interruption ? [`${interruption.by} after ${interruption.after} requests`] : []),
    ...mutations.map(
      ({ target, number, mutation }) => `answer ${number} to a ${target}: ${JSON.stringify(mutation)}`,
    ),
    ...(mutations.some(({ mutation }) => mutation.mutate === "status" && mutation.body === "echo")
      ? [`echo ${JSON.stringify(echo)}`]
      : []),
    "",
  ].join("\n");
}

function targetOf({ method, id }: Seen): Target {
  if (method === "GET") return id === undefined ? "list" : "show";
  if (method === "POST") return "create";
  return method === "DELETE" ? "delete" : "update";
}

/** The body of an answer with its record changed, in whatever envelope it is. */
function withRecord(body: string, change: (record: Properties) => unknown, kind: Kind): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return body;
  }
  const within = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const object = value as Properties;
    if ("id" in object) return change(object);
    for (const key of ["data", kind]) if (key in object) return { ...object, [key]: within(object[key]) };
    return object;
  };
  return JSON.stringify(within(parsed));
}

const bodyOf = ({ body }: WireAnswer): string =>
  typeof body === "string" ? body : Buffer.from(body).toString();

function withList(body: string, change: (all: Properties[]) => unknown): string {
  try {
    const parsed = JSON.parse(body) as unknown;
    if (Array.isArray(parsed)) return JSON.stringify(change(parsed as Properties[]));
    const { data, ...rest } = parsed as { data: Properties[] };
    return JSON.stringify({ ...rest, data: change(data) });
  } catch {
    return body;
  }
}

/** The id of the record that a Location leads to. */
function locatedId(location: string | undefined, kind: Kind): string | undefined {
  const path = location !== undefined && URL.canParse(location, origin) && new URL(location, origin).pathname;
  const id = path && /^\/api\/v1\/(\w+)s\/([^/]+)$/.exec(path);
  return id && id[1] === kind && id[2] !== undefined ? decodeURIComponent(id[2]) : undefined;
}

const emptyAnswer: Answer = { status: 200, headers: { "content-type": "application/json" }, body: "" };

function misbehaviourOf(
  mutation: Mutation,
  { kind, echo, args }: Case,
  secrets: readonly string[],
  api: SimulatedApi,
  time: VirtualClock,
): Misbehaviour {
  // Basic authentication needs a user.
  const password = args.requestAuthUsername === undefined ? undefined : args.requestAuthPassword;
  const changed =
    (change: (answer: Answer) => WireAnswer): ((usual: Answer | undefined) => WireAnswer) =>
    (usual) =>
      change(usual ?? emptyAnswer);
  switch (mutation.mutate) {
    case "value":
      return {
        answer: changed((answer) => ({
          ...answer,
          body: withRecord(
            bodyOf(answer),
            (record) => {
              const copy = { ...record };
              Object.defineProperty(copy, mutation.field, {
                value: mutation.value,
                enumerable: true,
                configurable: true,
                writable: true,
              });
              return copy;
            },
            kind,
          ),
        })),
      };
    case "repeat":
      return {
        answer: changed((answer) => ({
          ...answer,
          body: withRecord(
            bodyOf(answer),
            (record) => ({ ...record, display_name: `See ${[...secrets, apiKey].join(" and ")}.` }),
            kind,
          ),
        })),
      };
    case "without":
      return {
        answer: changed((answer) => ({
          ...answer,
          body: withRecord(
            bodyOf(answer),
            ({ id, ...rest }) => ({
              id,
              ...Object.fromEntries(
                Object.entries(rest).filter(
                  ([name]) => mutation.fields !== "all" && !mutation.fields.includes(name),
                ),
              ),
            }),
            kind,
          ),
        })),
      };
    case "id":
      return {
        answer: changed((answer) => ({
          ...answer,
          body: withRecord(bodyOf(answer), (record) => ({ ...record, id: mutation.id }), kind),
        })),
      };
    case "envelope":
      return {
        answer: changed((answer) => {
          let record: Properties = {};
          withRecord(bodyOf(answer), (found) => (record = found), kind);
          return { ...answer, body: JSON.stringify(envelopes[mutation.envelope](record, kind)) };
        }),
      };
    case "status": {
      const isLate = typeof mutation.effectAfter === "number" && mutation.effectAfter > 0;
      const effectAfter = refusals.includes(mutation.status)
        ? "never"
        : isLate && !lateStatuses.includes(mutation.status)
          ? 0
          : mutation.effectAfter;
      const texts = (): string => {
        const repeated = [
          ...secrets.map((text) =>
            echo.form === "basic" && text !== password ? text : echoForms[echo.form](text),
          ),
          echo.form === "basic" ? apiKey : echoForms[echo.form](apiKey),
        ].join(" ");
        const said = `${"x".repeat(echo.padding)} ${repeated}`;
        if (echo.field === "") return said;
        // The forms are JSON already, as far as they are one of JSON.
        const quoted = echo.form === "json" || echo.form === "php" ? `"${said}"` : JSON.stringify(said);
        return echo.field === "errors" ? `{"errors":{"name":[${quoted}]}}` : `{"${echo.field}":${quoted}}`;
      };
      const bodies = {
        usual: (answer: Answer) => bodyOf(answer),
        empty: () => "",
        html: () => `<!DOCTYPE html><title>${mutation.status}</title><p>${longText}`,
        json: () =>
          JSON.stringify({ message: longText, errors: { name: ["\ud83d", 1, null, { message: longText }] } }),
        echo: texts,
      };
      return {
        effectAfter,
        answer: changed((answer) => ({
          status: mutation.status,
          headers: {
            ...answer.headers,
            ...(mutation.location !== undefined && { location: mutation.location }),
            ...(mutation.retryAfter !== undefined && { "retry-after": mutation.retryAfter }),
          },
          body: mutation.status === 204 ? "" : bodies[mutation.body](answer),
        })),
      };
    }
    case "location":
      return {
        // It leads to a record that was there before, so none was made.
        ...(api.get(kind, locatedId(mutation.location, kind) ?? "") && {
          effectAfter: "never" as const,
        }),
        answer: changed((answer) => ({
          ...answer,
          headers: { ...answer.headers, location: mutation.location },
          body: mutation.body === "usual" ? bodyOf(answer) : "",
        })),
      };
    case "older": {
      const [first] = api.all(kind);
      if (!first) return {};
      return {
        effectAfter: "never",
        answer: () => ({ ...emptyAnswer, body: JSON.stringify({ data: first }) }),
      };
    }
    case "cut":
      return {
        effectAfter: mutation.effect && !mutation.code.startsWith("EHOST") ? 0 : "never",
        answer: () =>
          Object.assign(networkError(mutation.code, `read ${mutation.code}`), {
            syscall: mutation.code.startsWith("EHOST") ? "connect" : "read",
          }),
      };
    case "truncated":
      return {
        answer: changed((answer) => ({
          ...answer,
          cutAfter: Math.floor(Buffer.byteLength(bodyOf(answer)) * mutation.part),
        })),
      };
    case "unanswered":
      return { effectAfter: mutation.effectAfter, answer: () => undefined };
    case "headers":
      return {
        effectAfter: mutation.status === undefined ? 0 : "never",
        answer: changed((answer) => ({
          ...answer,
          ...(mutation.status !== undefined && { status: mutation.status, body: "" }),
          headers: { ...answer.headers, ...mutation.headers },
        })),
      };
    case "clock":
      time.epoch += mutation.milliseconds;
      return {};
    case "text":
      return { answer: changed((answer) => ({ ...answer, status: mutation.status, body: mutation.text })) };
    case "complaint":
      return {
        effectAfter: "never",
        answer: () => ({ ...emptyAnswer, body: JSON.stringify(complaints[mutation.complaint]) }),
      };
    case "list":
      return {
        answer: changed((answer) => ({ ...answer, body: withList(bodyOf(answer), lists[mutation.list].of) })),
      };
  }
}

// Playing --------------------------------------------------------------------------------------------------------------

/** An operation that takes longer than this never ends. */
const longest = 26 * 3_600_000;

/** Whether the answer to a create tells the id of the record that it made, in a form that the API may have. */
function tellsId({ mutation }: Case["mutations"][number]): boolean {
  switch (mutation.mutate) {
    case "value":
    case "repeat":
    case "without":
      return true;
    case "envelope":
      return ["request", "number", "named", "bare"].includes(mutation.envelope);
    case "location":
      return mutation.body === "usual";
    case "headers":
      return (
        mutation.status === undefined &&
        !("content-encoding" in mutation.headers) &&
        !JSON.stringify(mutation.headers).includes("utf-16")
      );
    case "clock":
      return true;
    case "status":
      return (
        mutation.body === "usual" && mutation.effectAfter === 0 && [200, 201, 202].includes(mutation.status)
      );
    default:
      return false;
  }
}

/** Whether the answer to a read says that the record is another one, or that there is none. */
function deniesId(mutation: Mutation): boolean {
  if (mutation.mutate === "envelope") return mutation.envelope === "job";
  if (mutation.mutate === "status") return mutation.status < 300 || [404, 410].includes(mutation.status);
  if (mutation.mutate === "value") return /^(is_)?(deleted|trashed)(_at)?$/.test(mutation.field);
  return mutation.mutate === "id" || mutation.mutate === "text";
}

function hides({ mutation, target }: Case["mutations"][number]): boolean {
  if (target !== "list" && target !== "show") return false;
  if (mutation.mutate === "list") return lists[mutation.list].hides;
  if (mutation.mutate === "text") return true;
  if (mutation.mutate === "status") return mutation.status < 300;
  if (mutation.mutate === "clock" || mutation.mutate === "headers") return false;
  return ["id", "value", "without", "envelope"].includes(mutation.mutate);
}

/** Carries out the operation of a case, and looks whether what must hold does. */
export async function tryCase(one: Case, front: Front): Promise<void> {
  const { kind, operation, args, mutations } = one;
  const time = new VirtualClock();
  const api = new SimulatedApi(time, { uniqueDomainNames: false }, one.habits);
  const shown = (id: string): string | undefined => {
    const record = api.get(kind, id);
    return record && JSON.stringify(record);
  };
  const isAdopting = operation === "adopt";
  const settings = {
    "uptime:baseUrl": origin,
    "uptime:apiKey": apiKey,
    ...(isAdopting && { "uptime:adoptExisting": "true" }),
  };
  for (let other = 0; other < one.others; other++)
    api.add(kind, {
      name: kind === "monitor" ? `Other ${other}` : `other${other}.example`,
      url: "https://other.example/",
      interval: 300,
    });
  const declared: Declared = { kind, name: "r", args, ...(operation === "import" && { import: "" }) };

  // What is there before: a resource in state, or a record to import or adopt.
  const urn = "urn:pulumi:stack::project::x::r";
  let own: string | undefined;
  let state: { id: string; inputs: Properties; outputs: Properties } | undefined;
  const exists = ["read", "refresh", "update", "delete"].includes(operation);
  const { import: _, ...creating } = declared;
  if (exists || operation === "import" || isAdopting || operation === "get") {
    const setup = new SimulatedProcess(time, api);
    const plain = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey };
    const provider = front.start(plain, setup)[kind];
    const goal = await goalOf(creating, plain, front);
    const { inputs } = await time.until(provider.check(urn, {}, goal.inputs));
    const made = await time.until(provider.create(urn, inputs));
    setup.kill();
    own = made.id;
    if (exists) state = { ...made, inputs };
  }
  api.dialect = { ...api.dialect, ...one.dialect };
  // Longer than lists lag.
  await time.until(time.sleep(10_000));
  api.forget();
  const foreign = new Map(
    api
      .all(kind)
      .filter(({ id }) => id !== own)
      .map((record) => [record.id, JSON.stringify(record)]),
  );

  const counts = new Map<Target, number>();
  const done: (typeof mutations)[number][] = [];
  // Of a record that is only read, nobody knows them; for the engine an import by the plugin is such a read.
  const isOnlyRead = operation === "get" || (operation === "import" && front.name === "native");
  const secrets = isOnlyRead ? [] : secretsOf(args);
  api.misbehave = (request) => {
    const target = targetOf(request);
    const number = (counts.get(target) ?? 0) + 1;
    counts.set(target, number);
    const found = mutations.find((other) => other.target === target && other.number === number);
    if (!found) return undefined;
    done.push(found);
    return misbehaviourOf(found.mutation, one, secrets, api, time);
  };

  const process = new SimulatedProcess(time, api);
  // Pulumi's host shows what is printed there.
  jest.spyOn(console, "warn").mockImplementation(process.print);
  const running = front.start(settings, process);
  const provider = running[kind];
  let writesAllowed = Infinity;
  let carriedOut = 0;
  api.onDone = () => {
    if (++carriedOut !== one.interruption?.after) return;
    writesAllowed = api.writes().length;
    void running[one.interruption.by]();
  };
  const goal = await goalOf(
    operation === "import" ? { ...declared, import: own ?? "1" } : creating,
    settings,
    front,
  );
  const attempt = async (): Promise<{ id?: string | undefined; leaving: unknown; isGone?: boolean }> => {
    const checked = async (olds: Properties, news = goal.inputs): Promise<Properties> => {
      const { inputs, failures } = await provider.check(urn, olds, news);
      if (failures.length > 0) throw new OperationFailed(failures.join("\n"));
      return inputs;
    };
    switch (operation) {
      case "create":
      case "adopt":
      case "import": {
        if (goal.importId !== undefined && provider.import) {
          const { id, ...leaving } = await provider.import(urn, goal.importId, goal.inputs);
          return { id, leaving };
        }
        const result = await provider.create(urn, await checked({}));
        return { id: result.id, leaving: result.outputs };
      }
      case "get": {
        const result = await provider.read(urn, own ?? "1", { __provider: goal.inputs.__provider }, {});
        return { id: result?.id, leaving: result, isGone: result === undefined };
      }
      case "read":
      case "refresh": {
        if (!state) throw new Error("There is no state.");
        const result = await provider.read(urn, state.id, state.outputs, state.inputs);
        if (!result) return { leaving: undefined, isGone: true };
        if (operation === "refresh") {
          const inputs = await checked(result.inputs ?? state.inputs);
          const { changes } = await provider.diff(urn, result.id, result.outputs, state.inputs, inputs);
          if (changes) await provider.update(urn, result.id, result.outputs, state.inputs, inputs);
        }
        return { id: result.id, leaving: result };
      }
      case "update": {
        if (!state) throw new Error("There is no state.");
        const changed =
          kind === "monitor"
            ? { ...goal.inputs, interval: 600 }
            : { ...goal.inputs, notFoundUrl: "https://x.example/" };
        const inputs = await checked(state.inputs, changed);
        const result = await provider.update(urn, state.id, state.outputs, state.inputs, inputs);
        return { id: state.id, leaving: result.outputs };
      }
      case "delete":
        if (!state) throw new Error("There is no state.");
        await provider.delete(urn, state.id, state.outputs, state.inputs);
        return { leaving: undefined };
    }
  };

  let result: Awaited<ReturnType<typeof attempt>> | undefined;
  let error: Error | undefined;
  try {
    result = await time.until(attempt(), longest);
  } catch (thrown) {
    if (thrown instanceof Hang) throw new Violation(`the call does not end: ${thrown.message}`);
    if (!(thrown instanceof OperationFailed)) throw thrown;
    error = thrown;
  } finally {
    process.kill();
  }
  await time.until(time.sleep(600_000));
  const failed = error instanceof OperationFailed ? error : undefined;
  const violated = (text: string): never => {
    throw new Violation(
      `${text}\nresult: ${result ? JSON.stringify(result).slice(0, 600) : "none"}\nerror: ${failed ? `${failed.message.slice(0, 600)} [id ${failed.id ?? "none"}]` : "none"}\n` +
        `requests: ${api.requests.map(({ method, path, status, effect: made }) => `${method} ${path} ${status ?? "unanswered"}${made ? ` (${made.made} ${made.id})` : ""}`).join(", ")}`,
    );
  };
  if (failed && isInternal(failed.message)) violated("what leaves is not sound");
  // Pulumi's host of dynamic resources hears nothing of Ctrl-C.
  const isHeard = one.interruption?.by === "finish" || front.name === "native";
  if (isHeard && api.writes().length > writesAllowed)
    violated("something was written after the interruption");

  // At most one record was made, and its id is known.
  const isDeceived = done.some(hides);
  const created = api.requests.flatMap(({ effect: made }) => (made?.made === "created" ? [made.id] : []));
  // Where lists are sorted by numbers, a lower one is not looked for after a create that was lost.
  if (created.length > 1 && !isDeceived && one.habits?.ids !== "falling")
    violated(`${created.length} records were made`);
  const id = result?.id ?? failed?.id;
  const [made] = created;
  // Nobody can know that a record that is shown whole has another id than it shows, nor that a Location or a job's id is
  // another while what is there cannot be read, nor that a record was there before if no list shows it.
  const isUnreadable = done.some(({ target }) => target === "show");
  const isUnlisted = done.some((fault) => fault.target === "list" && hides(fault));
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
    const isDenied = done.some(({ target, mutation }) => target === "show" && deniesId(mutation));
    const told = !isDenied && mutations.filter(({ target }) => target === "create").every(tellsId);
    if (result && !isDeceived)
      violated(`the record ${made} was made, and the result has the id ${result.id ?? "none"}`);
    if (told && id === undefined && (one.dialect.createAnswer ?? "record") !== "empty")
      violated(`the id ${made} was told, and is lost`);
  }

  // Nothing that is not ours was written or taken.
  const ours = new Set([
    ...created,
    ...(own === undefined ? [] : [own]),
    ...(isNewId && id !== undefined ? [id] : []),
  ]);
  if (id !== undefined && !ours.has(id)) violated(`the id ${id} is not ours`);
  for (const request of api.writes())
    if (request.id !== undefined && !ours.has(request.id))
      violated(`${request.method} ${request.path} is not ours`);
  for (const [key, text] of foreign)
    if (!ours.has(key) && shown(key) !== text) violated(`the record ${key} of somebody else has changed`);
  if (result?.isGone && own !== undefined && shown(own) !== undefined && !isDeceived)
    violated(`the record ${own} is said to be gone, and is there`);
  if (operation === "delete" && result && own !== undefined && shown(own) !== undefined) {
    // That there is no such record is believed of its own address, whether a read or the delete is told so.
    const isDenied = done.every(
      ({ target, mutation }) =>
        (target !== "delete" && target !== "show") ||
        !("status" in mutation) ||
        ((mutation.status ?? 200) >= 300 && mutation.status !== 404 && mutation.status !== 410),
    );
    if (isDenied && !isDeceived) violated(`the record ${own} is said to be deleted, and is there`);
  }

  // Nothing leaves that is ill-formed or tells a secret.
  const texts = [
    ...(failed ? [failed.message, ...(failed.reasons ?? []), ...textsIn(publicOf(failed.outputs))] : []),
    ...(result ? textsIn(publicOf(result.leaving)) : []),
    ...process.printed,
  ];
  for (const text of texts) {
    if (!isWellFormed(text)) violated(`ill-formed: ${JSON.stringify(text.slice(0, 100))}`);
    const part = leakIn(text, [...secrets, apiKey]);
    if (part !== undefined) violated(`${JSON.stringify(part)} of a secret is in: ${text.slice(0, 700)}`);
  }
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

/** A text as it is, and as whoever decodes it in one of the usual ways reads it. */
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
