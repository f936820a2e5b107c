import { unescape } from "node:querystring";

import * as z from "zod/mini";

import type { Message } from "../../api/errors";
import { parseUrl } from "../../common/url";
import { isEmpty, hasUnknown } from "../../common/values";
import { monitor } from "../../definitions/monitor";
import type { KnownMonitor } from "./monitors";
import type { MonitorRequest } from "./sender";

/** The methods that change nothing on a server. */
const harmless: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** A field that has a fixed list of values. */
const allowedChoice = (key: string): z.ZodMiniType<string> =>
  z.string().check(z.refine((value) => monitor.fields[key]?.allowed?.includes(value) === true));

const declared = z.object({
  url: z.string().check(z.refine((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ""))),
  requestMethod: allowedChoice("requestMethod"),
  requestHeaders: z._default(z.array(z.object({ key: z.string(), value: z.string() })), []),
  requestAuthUsername: z._default(z.string(), ""),
  requestAuthPassword: z._default(z.string(), ""),
  alertCondition: allowedChoice("alertCondition"),
  alertTextLookup: z._default(z.string(), ""),
  sslAlertDays: z._default(z.number(), 0),
  pause: z._default(z.boolean(), false),
  maintenanceStartAt: z._default(z.string(), ""),
  maintenanceEndAt: z._default(z.string(), ""),
});

const defaults = Object.entries(monitor.fields).map(([key, field]) => [key, field.default] as const);

/** The fields that say what a monitor sends, and when it alerts at once. */
type CheckFields = z.infer<typeof declared>;

/** Why a monitor would alert, or is not tried. The code is a fixed word, for programs. */
export interface Reason {
  readonly code: string;
  readonly text: Message;
}

/** What is sent for a monitor, and what it alerts on. */
export interface MonitorCheck extends CheckFields {
  readonly request: MonitorRequest;
}

/** The check of a monitor, or why there is none. */
export function checkOf(
  { values, missing }: KnownMonitor,
  anyMethod: boolean,
  now: Date,
): MonitorCheck | Reason {
  const keys = Object.keys(declared.shape);
  for (const key of keys) {
    const reason = hasUnknown(values[key]) ? "is not known before `pulumi up`" : missing.get(key);
    if (reason !== undefined) return { code: "unknown", text: [`${key} ${reason}`] };
  }
  // Null is a field that was declared and then removed.
  const given = [...defaults, ...Object.entries(values)].filter(([, value]) => !isEmpty(value));
  const { data, error } = z.safeParse(declared, Object.fromEntries(given));
  if (!data) {
    const property = String(error.issues[0]?.path[0]);
    return { code: "invalid", text: [`${property} has a value that a monitor cannot have`] };
  }
  const { pause, requestMethod, alertCondition } = data;
  if (pause) return { code: "paused", text: ["paused"] };
  if (isWindowOpen(data, now)) {
    const zone = offset.test(data.maintenanceEndAt) ? "" : ", if that is UTC";
    return {
      code: "maintenance",
      text: [`its maintenance window is open until ${data.maintenanceEndAt}${zone}`],
    };
  }
  if (!anyMethod && !harmless.includes(requestMethod))
    return { code: "method", text: [`${requestMethod} is only sent with --any-method`] };
  const url = new URL(data.url);
  const request = {
    url,
    method: requestMethod,
    headers: requestHeadersOf(url, data),
    needsText: alertCondition !== "url_unavailable",
  };
  return { ...data, request };
}

/** A server may show one. Without it, the API does not say in which time zone the window is. */
const offset = /:\d\d(?:\.\d+)? ?[+-]\d\d(?::?\d\d)?$/;

function isWindowOpen({ maintenanceStartAt, maintenanceEndAt }: CheckFields, now: Date): boolean {
  const timeOf = (text: string): number => Date.parse(offset.test(text) ? text : `${text}Z`);
  // A missing or unreadable time is NaN, and no comparison with it is true.
  return timeOf(maintenanceStartAt) <= now.getTime() && now.getTime() < timeOf(maintenanceEndAt);
}

function requestHeadersOf(
  { username, password }: URL,
  { requestHeaders, requestAuthUsername, requestAuthPassword }: CheckFields,
): (readonly [string, string])[] {
  const headers = requestHeaders.map(({ key, value }) => [key, value] as const);
  const [user, secret] =
    requestAuthUsername === ""
      ? // Unlike decodeURIComponent, this takes malformed text too.
        [unescape(username), unescape(password)]
      : [requestAuthUsername, requestAuthPassword];
  // If the header is declared, the monitor sends that one.
  if (user === "" || headers.some(([key]) => /^authorization$/i.test(key))) return headers;
  return [...headers, ["authorization", `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`]];
}
