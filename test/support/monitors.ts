import type { monitorFields } from "../../provider/definitions/monitor";
import { canary } from "./canary.cjs";
import { snake, toRecord } from "./oracle";

/** What most tests declare. */
export const home = { name: "Home", url: "https://example.com/", interval: 60 };

/** What `check` fills in. */
export const defaults = { alertCondition: "url_unavailable", requestMethod: "GET", cacheBuster: false };

/** Every input of a Monitor, none at its default. */
export const everything = {
  name: "Checkout",
  url: "https://pay.example/health",
  interval: 300,
  alertCondition: "url_no_text",
  alertTextLookup: "all good",
  alertChannelIds: [1, "2"],
  requestMethod: "POST",
  requestHeaders: [
    { key: "X-Probe", value: canary("declared-header") },
    { key: "Accept", value: "*/*" },
  ],
  requestAuthUsername: "user",
  requestAuthPassword: canary("declared-password"),
  cacheBuster: true,
  sslAlertDays: 14,
  domainAlertDays: 30,
  maintenanceStartAt: "2030-01-31T22:00:00",
  maintenanceEndAt: "2030-01-31T23:30:00",
  pause: true,
} satisfies Record<keyof typeof monitorFields, unknown>;

/** Inputs as the API holds them. */
export const storedOf = (inputs: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs).map(([key, value]) => [snake(key), toRecord(key, value)]));

export const everythingStored = storedOf(everything);

/** What a Monitor holds in the API of which nothing but its name, URL and interval was declared. */
export const plainStored = {
  alert_condition: "url_unavailable",
  alert_text_lookup: null,
  alert_channel_ids: [],
  request_method: "GET",
  request_headers: [],
  request_auth_username: null,
  request_auth_password: null,
  cache_buster: 0,
  ssl_alert_days: null,
  domain_alert_days: null,
  maintenance_start_at: null,
  maintenance_end_at: null,
  pause: false,
};

/** A record with this name. */
export const site = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  url: `https://${encodeURIComponent(name)}.example/`,
  interval: 300,
  ...more,
});
