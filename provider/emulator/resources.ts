/** What a field holds; how it is read from a form and shown in a record follows from it. */
export type FieldKind =
  | "text"
  | "url"
  | "password"
  | "choice"
  | "interval"
  | "days"
  | "switch"
  | "pause"
  | "date"
  | "channels"
  | "headers";

/** A field of a resource, under its name in the API. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** Required on create, and never empty. */
  readonly required?: true;
  readonly allowed?: readonly (string | number)[];
  /** What is stored when the field is not sent on create, or sent empty; null if there is no default. */
  readonly default?: unknown;
  /** Refused on create. */
  readonly updateOnly?: true;
  /** Taken on update without any effect. */
  readonly fixed?: true;
  /** Listed with its default for update too, see the dialect's `resetOnUpdate`. */
  readonly resets?: true;
}

/** One of the API's two resource areas. */
export interface Resource {
  readonly name: "domain" | "monitor";
  readonly collection: "domains" | "monitors";
  readonly fields: readonly Field[];
  readonly searchBy: readonly string[];
  readonly sortBy: readonly string[];
  /** Integer query parameters of the list that select by a stored field of the same name. */
  readonly filters: readonly string[];
  /** What a record shows beside its fields, as a real server's does; the server changes it by itself, see life.ts. */
  readonly extras: Readonly<Record<string, unknown>>;
}

/** Domains (docs/api.md, "Domain"). */
export const domain: Resource = {
  name: "domain",
  collection: "domains",
  fields: [
    { name: "name", kind: "text", required: true, fixed: true },
    { name: "homepage_url", kind: "url" },
    { name: "not_found_url", kind: "url" },
  ],
  searchBy: ["name"],
  sortBy: ["id", "name"],
  filters: [],
  extras: { total_pageviews: null, last_visited_at: null },
};

const methods = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"];
const conditions = ["url_unavailable", "url_text", "url_no_text"];
const intervals = [60, 180, 300, 600, 900, 1800, 3600];
const days = [0, 1, 2, 3, 7, 14, 30, 60];

/** Monitors (docs/api.md, "Monitor"). */
export const monitor: Resource = {
  name: "monitor",
  collection: "monitors",
  fields: [
    { name: "name", kind: "text", required: true },
    { name: "url", kind: "url", required: true },
    { name: "interval", kind: "interval", required: true, allowed: intervals },
    {
      name: "alert_condition",
      kind: "choice",
      allowed: conditions,
      default: "url_unavailable",
      resets: true,
    },
    { name: "alert_text_lookup", kind: "text" },
    { name: "alert_channel_ids", kind: "channels", default: [] },
    { name: "request_method", kind: "choice", allowed: methods, default: "GET", resets: true },
    { name: "request_headers", kind: "headers", default: [] },
    { name: "request_auth_username", kind: "text" },
    { name: "request_auth_password", kind: "password" },
    { name: "cache_buster", kind: "switch", allowed: [0, 1], default: 0 },
    { name: "ssl_alert_days", kind: "days", allowed: days },
    { name: "domain_alert_days", kind: "days", allowed: days },
    { name: "maintenance_start_at", kind: "date" },
    { name: "maintenance_end_at", kind: "date" },
    { name: "pause", kind: "pause", default: false, updateOnly: true },
  ],
  searchBy: ["name", "url"],
  sortBy: ["id", "name", "url"],
  filters: ["status_page_id"],
  extras: { status: null, last_checked_at: null, response_time: null, uptime: null },
};

/** All resources, in the order in which a file has them. */
export const resources: readonly Resource[] = [domain, monitor];

/** What a new record holds if nothing was sent. */
export function defaultsOf(resource: Resource): Record<string, unknown> {
  const fields = resource.fields.map((field) => [field.name, field.default ?? null] as const);
  return { ...Object.fromEntries(fields), ...resource.extras };
}
