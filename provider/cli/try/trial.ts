import { message, Quote, quote, quoteValue } from "../../api/errors";
import { counted } from "../../common/text";
import { parseUrl } from "../../common/url";
import { monitor as definition } from "../../definitions/monitor";
import { Redactor } from "../../engine/redactor";
import { secretsOfProperty } from "../../engine/secret-strings";
import type { TriedMonitor } from "../shared/try-report";
import { checkOf, type MonitorCheck, type Reason } from "./monitor-check";
import type { KnownMonitor } from "./monitors";
import { NoAnswerError, type MonitorAnswer, type Sender } from "./sender";

/**
 * Sends the request of a monitor, and says whether it would alert at once.
 *
 * @param anyMethod whether to send methods that may change something on a server
 * @param secrets the API keys in use
 */
export async function tryMonitor(
  monitor: KnownMonitor,
  sender: Sender,
  anyMethod: boolean,
  secrets: Iterable<string>,
): Promise<TriedMonitor> {
  const { title, urn, id, values, secret } = monitor;
  const own = [...secret].flatMap((key) => secretsOfProperty(definition, key, values[key]));
  const redactor = new Redactor([...secrets, ...own]);
  const isUrlSecret = secret.has("url");
  // Passwords in URLs are often not marked as secret, and queries hold tokens.
  const shown = ({ origin, pathname }: URL): string => redactor.message([quote(origin + pathname)]);
  const url = isUrlSecret || typeof values.url !== "string" ? undefined : parseUrl(values.url);
  const tried = {
    title: redactor.message([new Quote(title, "value")]),
    urn,
    id,
    url: url && shown(url),
  };
  const outcome = (
    result: TriedMonitor["outcome"],
    reasons: readonly Reason[],
    redirects: readonly URL[] = [],
  ): TriedMonitor => ({
    ...tried,
    outcome: result,
    reasons: reasons.map(({ code, text }) => ({ code, text: redactor.message(text) })),
    ...(redirects.length > 0 && {
      redirects: redirects.map((one) => (isUrlSecret ? "a secret address" : shown(one))),
    }),
  });
  const check = checkOf(monitor, anyMethod, new Date());
  if (!("request" in check)) return outcome("skipped", [check]);
  let answer: MonitorAnswer;
  try {
    answer = await sender.send(check.request);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    const { code, reason, redirects } = error;
    return outcome(code === "unreachable" ? "alerts" : "skipped", [{ code, text: reason }], redirects);
  }
  const { status, redirects, certificateEnd, text } = answer;
  const certificateDays =
    certificateEnd && Math.floor((certificateEnd.getTime() - Date.now()) / dayMilliseconds);
  const found = alertReasons(check, answer, certificateDays, secret.has("alertTextLookup"));
  const isUnread = text !== undefined && text.content === undefined;
  const verdict = verdictOf(found, isUnread, monitor.unshown);
  return { ...outcome(...verdict, redirects), status, certificateDays };
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

const unread: Reason = { code: "unknown", text: ["the response cannot be decompressed here"] };

/**
 * What reasons to alert mean for a monitor of which the API does not show these properties.
 *
 * @param isUnread the response may have the text, or not
 */
function verdictOf(
  found: readonly Reason[],
  isUnread: boolean,
  unshown: readonly string[] = [],
): [TriedMonitor["outcome"], readonly Reason[]] {
  // Without these properties another request was sent. Its response may differ, but the certificate is the same.
  const sure = found.filter(({ code }) => code === "certificate" || unshown.length === 0);
  if (sure.length > 0) return ["alerts", sure];
  const [doubtful] = found;
  if (!doubtful) return isUnread ? ["skipped", [unread]] : ["ok", []];
  const text = message`not known: ${doubtful.text}, but the API does not show ${unshown.join(" and ")}`;
  return ["skipped", [{ code: "unknown", text }]];
}

function alertReasons(
  check: MonitorCheck,
  { status, text, isCrossOrigin }: MonitorAnswer,
  days: number | undefined,
  isTextSecret: boolean,
): Reason[] {
  const { alertCondition, alertTextLookup, sslAlertDays } = check;
  const reasons: Reason[] = [];
  if (status >= 400) {
    const isWithoutHeaders = isCrossOrigin && check.request.headers.length > 0;
    const where = isWithoutHeaders
      ? " from another origin, which gets neither headers nor authentication"
      : "";
    reasons.push({ code: "status", text: [`status ${status}${where}`] });
  }
  if (text?.content !== undefined) {
    const isFound = text.content.includes(alertTextLookup);
    const looked = isTextSecret ? "alertTextLookup" : quoteValue(alertTextLookup);
    const part = text.isWhole ? "" : " in its beginning, which is all that was read";
    if (isFound && alertCondition === "url_text")
      reasons.push({ code: "text", text: message`the response contains ${looked}` });
    if (!isFound && alertCondition === "url_no_text")
      reasons.push({ code: "text", text: message`the response does not contain ${looked}${part}` });
  }
  if (days !== undefined && sslAlertDays > 0 && days <= sslAlertDays) {
    const left = `the certificate ends in ${counted(days, "day")}, sslAlertDays is ${sslAlertDays}`;
    reasons.push({ code: "certificate", text: [left] });
  }
  return reasons;
}
