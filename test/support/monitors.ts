import { canary } from "./canary.cjs";

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
};

/** The same in the API. */
export const everythingStored = {
  name: "Checkout",
  url: "https://pay.example/health",
  interval: 300,
  alert_condition: "url_no_text",
  alert_text_lookup: "all good",
  alert_channel_ids: [1, 2],
  request_method: "POST",
  request_headers: everything.requestHeaders,
  request_auth_username: "user",
  request_auth_password: canary("declared-password"),
  cache_buster: 1,
  ssl_alert_days: 14,
  domain_alert_days: 30,
  maintenance_start_at: "2030-01-31T22:00:00",
  maintenance_end_at: "2030-01-31T23:30:00",
  pause: true,
};

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
