/**
 * What the API leaves open (docs/api.md), as options: each lists every way of answering that the emulator
 * speaks, its default first. The defaults together are a plain Laravel server.
 */
export const dialectChoices = {
  /** A single record: under `data`, as it is, or under its resource's name (`monitor`, `domain`). */
  record: ["data", "bare", "named"],
  /** A list if paging is `none`, `bare` or `linkHeader`: under `data`, or as it is. The other pagings always use `data`. */
  list: ["data", "bare"],
  /**
   * How a list names its next page. `links`: `{data, links: {first, last, prev, next}}`. `nextPageUrl`:
   * `{current_page, data, last_page, next_page_url, per_page, total}`. `meta`: `{data, meta: {current_page,
   * last_page, per_page, total}}`. `cursor`: `{data, meta: {next_cursor, per_page}}`, and the next page is asked for by
   * `cursor=…`. `linkHeader`: `Link: <…>; rel="next"`, and `rel="last"`. `bare`: pages exist (`page=2`), and nothing in the answer shows it. `none`: all records in one
   * answer, per_page and page have no effect.
   */
  paging: ["links", "nextPageUrl", "meta", "cursor", "linkHeader", "bare", "none"],
  /** Status of a create; 204 never has a body, whatever `createAnswer` says. */
  createStatus: [201, 200, 204],
  /** Body of a create: the record, the record with nothing but its `id`, or none. */
  createAnswer: ["record", "id", "empty"],
  /** Whether a create answers with the new record's URL in the `Location` header. */
  createLocation: [false, true],
  /** Body of an update (always status 200): the record, none, or `{message}`. */
  updateAnswer: ["record", "empty", "message"],
  /** Answer of a delete: 204, or 200 with `{deleted: true}`, with the record as it was, or without a body. */
  deleteAnswer: ["empty204", "deleted", "record", "empty200"],
  /** Records' ids as numbers or as strings. */
  ids: ["number", "string"],
  /** `interval` and the alert days as numbers or as strings. */
  numbers: ["number", "string"],
  /** `cache_buster` and `pause` as 0 and 1, as "0" and "1", or as false and true. */
  booleans: ["number", "string", "boolean"],
  /** Request headers as a list of `{key, value}`, as a map, or as a map that is `[]` when empty, as PHP does. */
  headers: ["list", "map", "emptyListMap"],
  /** Alert channels as numbers, as strings, or as `{id, name}`. */
  channels: ["numbers", "strings", "objects"],
  /**
   * Maintenance dates: `2030-01-31T22:00:00`, with a blank for the T, with `.000000Z`, `Z`, `+00:00` or `+02:00`
   * added (the last without converting the time, as a server in that zone shows it).
   */
  dates: ["T", "space", "fraction", "Z", "+00:00", "+02:00"],
  /** The field that shows the pause switch; `paused_at` is the time of the last update, or null. */
  pauseShown: ["pause", "paused", "is_paused", "paused_at", "hidden"],
  /** The password: not shown, as asterisks, as it is, or always empty. */
  password: ["hidden", "masked", "plain", "null"],
  /** Whether records in lists show nothing but `id`, `name` and `url`. */
  listBrief: [false, true],
  /** A field without a value: null, "" or left out. Empty lists stay `[]`, and are left out for `absent`. */
  emptyAs: ["null", "empty", "absent"],
  /** Whether alert days that are sent empty are stored as 0. */
  zeroDaysForEmpty: [false, true],
  /** Whether texts are answered with `& < > " '` escaped, as PHP's htmlspecialchars does. */
  escapeHtml: [false, true],
  /** Whether names of domains are stored in lower case. */
  lowerCaseNames: [false, true],
  /** URLs answered as they were sent, or with the host in lower case and `/` for an empty path. */
  urlStyle: ["asSent", "normalised"],
  /** Whether header names are answered as `X-Api-Key`, whatever their letter case was. */
  titleCaseHeaders: [false, true],
  /** Whether channels and headers are answered in reversed order. */
  shuffle: [false, true],
  /** Body of a refusal: `{message, errors: {field: [..]}}`, `{error}`, an HTML page, or none. */
  errors: ["laravel", "error", "html", "empty"],
  /** Status of a refused form or query. */
  errorStatus: [422, 400],
  /** Status for an id that does not exist. */
  gone: [404, 410, 403],
  /** Whether PATCH is answered, or refused with 405 (PUT always works). */
  patch: ["allowed", "405"],
  /**
   * What becomes of an empty list in a form. The `brackets` form is `alert_channel_ids[]=`, or one pair of empty
   * key and value; the `plain` form is `alert_channel_ids=` or `request_headers=`. Ignored means: as if not sent.
   */
  emptyLists: ["accepted", "bracketsRefused", "bracketsIgnored", "plainRefused", "plainIgnored"],
  /** What becomes of an empty value for alert days in a form, such as `ssl_alert_days=`. */
  emptyDays: ["accepted", "refused", "ignored"],
  /** Whether an update without `alert_condition` or `request_method` sets them back to their defaults. */
  resetOnUpdate: [false, true],
  /** Whether unknown fields and values that are not allowed are ignored, rather than refused. */
  ignoreInvalid: [false, true],
  /** Whether a second domain of the same name (in any letter case) is refused. */
  uniqueDomainNames: [true, false],
} as const;

/**
 * Rarer ways of answering, the usual one first. With some of them not every operation can succeed: a client must then fail with
 * a clear error, and lose nothing.
 */
export const strangeChoices = {
  /**
   * What is around a record: what `record` says; `{id, status, data}`, where `id` is the request's own; or JSON:API's
   * `{type, id, attributes}` under `data`, which shows no field under its usual path. JSON:API is also how lists show records.
   */
  envelope: ["usual", "ownId", "jsonApi"],
  /** Status of a create or an update, which then have no body: as usual, or "accepted", or "no content". */
  accepted: ["usual", 202, 204],
  /** What `Location` names if there is one: the record, the record by its path, or a job that has made it. */
  location: ["record", "path", "job"],
  /** Whether a create with the name and URL of an existing record is answered with that record and 200. */
  firstOrCreate: [false, true],
  /** How lists are ordered: as asked, by id whatever was asked, or in an arbitrary one. */
  order: ["asked", "byId", "none"],
  /** Status of the page after the last one: an empty page, or an error, as Django answers. */
  behindLastPage: [200, 404],
  /** Whether alert channels and request headers are shown as JSON text instead of a list. */
  listsAsText: [false, true],
  /** What becomes of a deleted record: it is removed, or shown at its address and in lists with a date in `deleted_at`. */
  deletion: ["removed", "marked"],
  /** `paused_at`, if it shows the pause: a date, or seconds since 1970. */
  pausedAt: ["date", "unix"],
} as const;

const choices = { ...dialectChoices, ...strangeChoices };

type Choices = { -readonly [Option in keyof typeof choices]: (typeof choices)[Option][number] };

/** One way of filling the API's gaps. */
export interface Dialect extends Choices {
  /** Fields that records do not show. */
  hidden: readonly string[];
  /** Fields that are accepted and not stored. */
  notStored: readonly string[];
  /** Fields added to every record that is answered; they win over the record's own. */
  extraFields: Readonly<Record<string, unknown>>;
}

/** The dialect that is spoken when nothing else is asked for. */
const defaultDialect: Readonly<Dialect> = {
  // Object.fromEntries forgets which key had which value.
  ...(Object.fromEntries(Object.entries(choices).map(([option, [first]]) => [option, first])) as Choices),
  hidden: [],
  notStored: [],
  extraFields: {},
};

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** What is wrong with the value of an option, or undefined. */
function problemOfOption(option: string, value: unknown): string | undefined {
  if (option === "hidden" || option === "notStored")
    return isStrings(value) ? undefined : `${option} must be a list of field names`;
  if (option === "extraFields")
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : "extraFields must be an object";
  const allowed = new Map<string, readonly unknown[]>(Object.entries(choices)).get(option);
  if (allowed === undefined) return `${option} is not an option of the dialect`;
  if (allowed.includes(value)) return undefined;
  return `${option} must be one of ${allowed.map((choice) => JSON.stringify(choice)).join(", ")}`;
}

/**
 * The dialect with these options, and the default for every other.
 * @throws {Error} naming each option that does not exist or has a value that is not among its choices.
 */
export function completeDialect(options: Partial<Dialect> | Readonly<Record<string, unknown>> = {}): Dialect {
  const problems = Object.entries(options).flatMap(([option, value]) => problemOfOption(option, value) ?? []);
  if (problems.length > 0) throw new Error(`Not a dialect of the emulator: ${problems.join("; ")}.`);
  return { ...defaultDialect, ...options };
}
