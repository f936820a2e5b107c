import { boolean, choice, dateTime, headerList, idList, integer, text, url } from "./field";
import type { Definition } from "./field";

const intervals = [60, 180, 300, 600, 900, 1800, 3600] as const;
/** The check intervals that the API accepts. (docs/monitor.md) */
export type MonitorInterval = (typeof intervals)[number];

const alertConditions = ["url_unavailable", "url_text", "url_no_text"] as const;
/** The conditions for an alert that the API accepts. (docs/monitor.md) */
export type AlertCondition = (typeof alertConditions)[number];

const requestMethods = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"] as const;
/** The HTTP methods of a check request that the API accepts. (docs/monitor.md) */
export type RequestMethod = (typeof requestMethods)[number];

const alertDays = [0, 1, 2, 3, 7, 14, 30, 60] as const;
/** The days before an expiry at which to alert that the API accepts. (docs/monitor.md) */
export type AlertDays = (typeof alertDays)[number];

export const monitorFields = {
  /** Name of the monitor, for example `Checkout`. (docs/monitor.md) */
  name: text("name", { required: true, identifies: true }),
  /** The URL being monitored: an absolute http or https URL. (docs/monitor.md) */
  url: url("url", { required: true, identifies: true }),
  /**
   * Check interval: 60, 180, 300, 600, 900, 1800 or 3600. The API does not specify the unit; the values suggest
   * seconds. (docs/monitor.md)
   */
  interval: integer("interval", intervals, { required: true }),
  /**
   * When an alert triggers: `url_unavailable` (the URL becomes unavailable), `url_text` (the response contains
   * `alertTextLookup`) or `url_no_text` (the response does not contain it). Default `url_unavailable`.
   * (docs/monitor.md)
   */
  alertCondition: choice("alert_condition", alertConditions, {
    default: "url_unavailable",
    resetByUpdate: true,
  }),
  /**
   * The text to look for in the response. Required with `url_text`, which alerts if the response contains the text (`Fatal error`),
   * and with `url_no_text`, which alerts if the text is missing (`Pay now`). No effect with `url_unavailable`.
   * (docs/monitor.md)
   */
  alertTextLookup: text("alert_text_lookup"),
  /** Ids of the alert channels: whole numbers, in any order. (docs/monitor.md) */
  alertChannelIds: idList("alert_channel_ids", { shownAs: ["alert_channels"] }),
  /**
   * HTTP method of the check request: GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS. Default GET.
   * (docs/monitor.md)
   */
  requestMethod: choice("request_method", requestMethods, {
    default: "GET",
    resetByUpdate: true,
  }),
  /**
   * Headers of the check request, `{ key, value }` each; their order and the letter case of a name do not matter.
   * The whole list is secret, but messages may name headers. (docs/monitor.md)
   */
  requestHeaders: headerList("request_headers", { secret: true }),
  /** User name for Basic authentication of the check request, for example `probe`. (docs/monitor.md) */
  requestAuthUsername: text("request_auth_username"),
  /**
   * Password for Basic authentication of the check request. Secret, and never compared with what the API shows.
   * (docs/monitor.md)
   */
  requestAuthPassword: text("request_auth_password", {
    secret: true,
    writeOnly: true,
    shownAs: ["password"],
    goesWith: "requestAuthUsername",
  }),
  /** Whether the check request avoids caches. Default false. (docs/monitor.md) */
  cacheBuster: boolean("cache_buster", { default: false }),
  /** Days before the SSL certificate expires at which to alert: 0, 1, 2, 3, 7, 14, 30 or 60. (docs/monitor.md) */
  sslAlertDays: integer("ssl_alert_days", alertDays, { zeroIsEmpty: true }),
  /** Days before the domain name expires at which to alert: 0, 1, 2, 3, 7, 14, 30 or 60. (docs/monitor.md) */
  domainAlertDays: integer("domain_alert_days", alertDays, { zeroIsEmpty: true }),
  /**
   * Start of the maintenance window, `YYYY-MM-DDTHH:MM:SS`. The API does not specify the time zone.
   * (docs/monitor.md)
   */
  maintenanceStartAt: dateTime("maintenance_start_at"),
  /**
   * End of the maintenance window, in the same form as `maintenanceStartAt` and later: for example
   * `2030-01-31T23:30:00`. (docs/monitor.md)
   */
  maintenanceEndAt: dateTime("maintenance_end_at"),
  /**
   * Whether the monitor is paused. The API accepts this in updates only, so the provider creates the monitor and then
   * pauses it. (docs/monitor.md)
   */
  pause: boolean("pause", {
    updateOnly: true,
    takesTrueFalse: true,
    shownAs: ["paused", "is_paused", "paused_at"],
  }),
};

export const monitorFilters = {
  /** Only the monitors of the status page with this id, a whole number. (docs/monitor.md) */
  statusPageId: { wire: "status_page_id", noun: "status page" },
};

/** @internal */
export const monitor: Definition = {
  label: "Monitor",
  singular: "monitor",
  plural: "monitors",
  addressSetting: "monitorsBaseUrl",
  fields: monitorFields,
  filters: monitorFilters,
  rules: [
    {
      properties: ["alertCondition", "alertTextLookup"],
      check: ({ alertCondition, alertTextLookup }) =>
        (alertCondition === "url_text" || alertCondition === "url_no_text") && (alertTextLookup ?? "") === ""
          ? {
              property: "alertTextLookup",
              reason: `must be set when alertCondition is "${alertCondition}": it is the text to look for in the response`,
            }
          : undefined,
    },
    {
      properties: ["maintenanceStartAt", "maintenanceEndAt"],
      check: ({ maintenanceStartAt: start, maintenanceEndAt: end }) =>
        typeof start === "string" && typeof end === "string" && start !== "" && end !== "" && end <= start
          ? {
              property: "maintenanceEndAt",
              reason: `must be later than maintenanceStartAt (${start}), not ${end}`,
            }
          : undefined,
    },
  ],
};
