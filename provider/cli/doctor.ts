import { resolve } from "node:path";

import { pageIn, recordIn } from "../api/answer";
import { shownOf } from "../lifecycle/attributes";
import type { Answer } from "../api/client";
import { isObject } from "../definitions/kinds";
import { connect } from "../lifecycle/connection";
import { domain } from "../definitions/domain";
import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { monitor } from "../definitions/monitor";
import { deadlineOf } from "../engine/options";
import type { Settings } from "../api/settings";
import { isProject } from "./project";
import { settingsOf } from "./settings";
import type { Given, SettingFlags } from "./settings";
import type { Surroundings } from "./terminal";

/** The options of `pulumi-uptime doctor`. */
export interface DoctorOptions extends SettingFlags {
  /** The project's folder. */
  readonly cwd?: string;
  /** The folder of a program to look at. */
  readonly program?: string;
  /** A stack whose configuration holds the settings; true for the one that is selected. */
  readonly stack?: string | true;
  /** An account of `uptime:accounts`, in place of the one without a name. */
  readonly account?: string;
}

/** One thing that was looked at. */
export interface Finding {
  readonly level: "ok" | "warning" | "failed";
  readonly text: string;
}

/** Clocks this far apart, in milliseconds, make certificates and dates confusing. */
const clockLimit = 60_000;

/** Looks at the settings and at the install, by reading only. */
export async function examine(options: DoctorOptions, surroundings: Surroundings): Promise<Finding[]> {
  const findings: Finding[] = [];
  let settings: Settings;
  try {
    const given = await settingsHere(options, surroundings, findings);
    settings = given.settings(options.account);
  } catch (error) {
    return [...findings, failure(error)];
  }
  for (const { url, source } of new Set([settings.baseUrl, settings.monitorsBaseUrl]))
    findings.push(
      url.startsWith("http://") && !/^http:\/\/(localhost|127\.|\[::1\])/.test(url)
        ? {
            level: "warning",
            text: `${source} is ${url}: everybody on the way can read the API key. Use https://.`,
          }
        : { level: "ok", text: `${source} is ${url}` },
    );
  findings.push({ level: "ok", text: `The API key comes from ${settings.apiKeySource}` });
  for (const definition of [domain, monitor]) findings.push(...(await examineKind(definition, settings)));
  return findings;
}

/** A project's stack is asked even if nobody has said so, since that is where settings are; it may be unreadable here. */
async function settingsHere(
  options: DoctorOptions,
  surroundings: Surroundings,
  findings: Finding[],
): Promise<Given> {
  const cwd = resolve(surroundings.cwd, options.cwd ?? options.program ?? ".");
  const stack = options.stack === true ? undefined : options.stack;
  if (options.stack === undefined && !isProject(cwd)) return settingsOf(options, surroundings);
  try {
    return await settingsOf(options, surroundings, { cwd, stack });
  } catch (error) {
    if (options.stack !== undefined || !(error instanceof UptimeError)) throw error;
    findings.push({
      level: "warning",
      text: `The project's stack cannot be read, so settings come from options and the environment alone. ${error.message}`,
    });
    return settingsOf(options, surroundings);
  }
}

function failure(error: unknown): Finding {
  if (!(error instanceof UptimeError)) throw error;
  return { level: "failed", text: error.message };
}

/** What the install says about one kind of record. */
async function examineKind(definition: Definition, settings: Settings): Promise<Finding[]> {
  const { plural, singular } = definition;
  const { collection } = connect(definition, settings);
  const deadline = deadlineOf({}, "read");
  try {
    const query = new URLSearchParams({ sort_by: "id", sort: "desc", per_page: "10" });
    const answer = await collection.client.send({
      method: "GET",
      path: `/api/v1/${plural}`,
      query,
      deadline,
    });
    const page = pageIn(answer.body, definition);
    if (!page)
      return [
        {
          level: "failed",
          text: `${answer.request} was not answered with a list of ${plural}. Check ${collection.client.address.source}: does it lead to the API?`,
        },
      ];
    const findings: Finding[] = [
      {
        level: "ok",
        text: `${plural}: the list can be read; it is ${shapeOf(answer.body, definition)}, and ${pagingOf(answer.body)}`,
      },
      ...clockOf(answer),
    ];
    const [first] = page.records;
    if (!first) return [...findings, { level: "ok", text: `${plural}: there are none yet` }];
    const path = `/api/v1/${plural}/${encodeURIComponent(first.id)}`;
    const shown = await collection.client.send({ method: "GET", path, deadline });
    const record = recordIn(shown.body, definition);
    if (record?.id !== first.id)
      return [
        ...findings,
        { level: "failed", text: `${shown.request} was not answered with that ${singular}.` },
      ];
    const missing = Object.keys(record.shown).filter((name) => !(name in first.shown));
    const hidden = Object.entries(definition.fields).flatMap(([key, field]) =>
      field.writeOnly || shownOf(field, record) ? [] : [key],
    );
    return [
      ...findings,
      { level: "ok", text: `${plural}: a record is ${shapeOf(shown.body, definition)}` },
      missing.length === 0
        ? { level: "ok", text: `${plural}: lists show whole records` }
        : {
            level: "ok",
            text: `${plural}: lists leave out ${missing.join(", ")}, so records are read one by one`,
          },
      ...(hidden.length === 0
        ? []
        : [
            {
              level: "ok",
              text: `${plural}: the record ${record.id} does not show ${hidden.join(", ")}; what is never shown cannot be compared`,
            } as const,
          ]),
    ];
  } catch (error) {
    return [failure(error)];
  }
}

/** Where in an answer the records are. */
function shapeOf(body: unknown, definition: Definition): string {
  if (!isObject(body)) return "bare";
  if ("data" in body) return "under `data`";
  return definition.singular in body && !("id" in body) ? `under \`${definition.singular}\`` : "bare";
}

/** How a list tells of its next page. */
function pagingOf(body: unknown): string {
  if (!isObject(body)) return "nothing tells of further pages";
  if (isObject(body.links) && "next" in body.links) return "`links.next` tells of the next page";
  const meta = isObject(body.meta) ? body.meta : body;
  if ("next_page_url" in meta || "next_page_url" in body) return "`next_page_url` tells of the next page";
  if ("current_page" in meta && "last_page" in meta) return "`meta` tells which page it is, and of how many";
  return "nothing tells of further pages";
}

function clockOf({ date }: Answer): Finding[] {
  const apart = date === undefined ? NaN : Date.now() - Date.parse(date);
  if (Number.isNaN(apart)) return [];
  if (Math.abs(apart) <= clockLimit) return [];
  return [
    {
      level: "warning",
      text:
        `This machine's clock is ${Math.round(Math.abs(apart) / 1000)} seconds ${apart > 0 ? "ahead of" : "behind"} the ` +
        "server's. Maintenance windows begin and end by the server's.",
    },
  ];
}
