import type { MonitorArgs } from "pulumi-uptime";

/** Alert channels by name; their ids are in the stack's configuration. */
export type Channel = "oncall" | "chat" | "mail";

/** How much it matters when a service is down. */
export type Level = "critical" | "normal" | "internal";

/** One monitored URL of a service. */
export interface Check {
  readonly name: string;
  readonly path: string;
  /** Alert when the response does not contain this. */
  readonly expect?: string;
  /** Alert when the response contains this. */
  readonly reject?: string;
  /** Other differences from the checks of this level. */
  readonly args?: Partial<MonitorArgs>;
}

/** A host and its checks. */
export interface Service {
  readonly host: string;
  readonly level: Level;
  readonly checks: readonly Check[];
  /** Send no alerts between these two dates. */
  readonly maintenance?: { readonly start: string; readonly end: string };
  /** Not live: the monitors are kept, but paused. */
  readonly paused?: boolean;
}

/** Names that the team owns, without `www`. */
export const domains = ["orchard.example", "orchard-shop.example", "orchard-status.example"];

/** The first Sunday of the quarter, when the database moves. */
const databaseMove = { start: "2030-04-07T01:00:00", end: "2030-04-07T05:00:00" };

const health: Check = { name: "health", path: "/health", expect: '"status":"ok"' };

export const services: readonly Service[] = [
  {
    host: "www.orchard.example",
    level: "critical",
    checks: [
      { name: "home page", path: "/", expect: "Orchard", args: { domainAlertDays: 30 } },
      { name: "prices", path: "/prices" },
      { name: "sign-up", path: "/sign-up", reject: "temporarily closed" },
      { name: "robots", path: "/robots.txt", expect: "Sitemap:", args: { interval: 3600 } },
      { name: "blog", path: "/blog/", args: { interval: 900 } },
    ],
  },
  {
    host: "www.orchard-shop.example",
    level: "critical",
    maintenance: databaseMove,
    checks: [
      { name: "home page", path: "/", expect: "Add to basket", args: { domainAlertDays: 30 } },
      { name: "search", path: "/search?q=apple", expect: "results" },
      { name: "basket", path: "/basket", args: { cacheBuster: true } },
      { name: "checkout", path: "/checkout", args: { cacheBuster: true } },
      { name: "payment", path: "/payment/ping", args: { requestMethod: "POST" } },
      health,
    ],
  },
  {
    host: "api.orchard.example",
    level: "critical",
    maintenance: databaseMove,
    checks: [
      health,
      { name: "version 1", path: "/v1/", reject: "deprecated" },
      { name: "version 2", path: "/v2/" },
      { name: "cross-origin", path: "/v2/", args: { requestMethod: "OPTIONS" } },
      { name: "sign-in", path: "/v2/session", args: { requestMethod: "HEAD" } },
      { name: "webhooks", path: "/hooks/ping", args: { requestMethod: "PUT", interval: 300 } },
    ],
  },
  {
    host: "images.orchard.example",
    level: "normal",
    checks: [
      { name: "small image", path: "/probe-64.png", args: { requestMethod: "HEAD" } },
      { name: "large image", path: "/probe-2048.png", args: { requestMethod: "HEAD" } },
      { name: "resized", path: "/resize/320/probe.png", args: { cacheBuster: true, interval: 600 } },
    ],
  },
  {
    host: "help.orchard.example",
    level: "normal",
    checks: [
      { name: "home page", path: "/", expect: "How can we help" },
      { name: "search", path: "/search?q=delivery", reject: "0 results" },
      { name: "contact form", path: "/contact" },
    ],
  },
  {
    host: "www.orchard-status.example",
    level: "normal",
    checks: [
      { name: "home page", path: "/", args: { domainAlertDays: 60 } },
      { name: "feed", path: "/feed.xml", expect: "<rss" },
    ],
  },
  {
    host: "mail.orchard.example",
    level: "normal",
    checks: [
      { name: "web mail", path: "/", args: { interval: 180 } },
      { name: "unsubscribe", path: "/unsubscribe/probe", reject: "error" },
    ],
  },
  {
    host: "admin.orchard.example",
    level: "internal",
    maintenance: databaseMove,
    checks: [health, { name: "sign-in", path: "/sign-in" }, { name: "reports", path: "/reports/ping" }],
  },
  {
    host: "jobs.orchard.example",
    level: "internal",
    checks: [
      health,
      { name: "mail queue", path: "/queues/mail", reject: "stalled" },
      { name: "image queue", path: "/queues/images", reject: "stalled" },
      { name: "nightly export", path: "/exports/last", expect: "finished", args: { interval: 3600 } },
    ],
  },
  {
    host: "next.orchard.example",
    level: "internal",
    paused: true,
    checks: [{ name: "home page", path: "/" }, health],
  },
];
