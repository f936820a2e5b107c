import { Log, type LogLevel, type SentRequest } from "../../provider/api/log";
import { FrontSession } from "../../provider/engine/front";
import { blocksOf } from "../support/blocks";
import { answer, clock, emulator, failureOf, onCreates, settingsOf, withServer } from "../support/server";
import { startDynamic } from "../support/calls";
import { ModelStack } from "../support/model";

const request: SentRequest = {
  method: "GET",
  path: "/api/v1/monitors",
  outcome: 200,
  milliseconds: 11.7,
  attempt: 1,
  waited: 0,
};

function logged(level: LogLevel, act: (log: Log) => unknown): string[] {
  const lines: string[] = [];
  const log = new Log(level, (line) => lines.push(line));
  act(log);
  log.end();
  return lines;
}

describe("a log", () => {
  const act = (log: Log): void => {
    log.addRequest(request);
    log.addRequest({ ...request, method: "POST", outcome: 429 });
    log.addRequest({ ...request, method: "POST", outcome: "cut", attempt: 2, waited: 1003.2 });
  };

  test("of level summary is one line at the end", () => {
    const line = "uptime: 3 requests (GET 1, POST 2), of which ended badly: 429 1, cut 1, 1 sent again";
    expect(logged("summary", act)).toEqual([line]);
    expect(logged("summary", () => undefined)).toEqual(["uptime: no requests"]);
  });

  test("in JSON is one object a line", () => {
    const lines = logged("json", act).map((line) => JSON.parse(line) as Record<string, unknown>);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    const sent = { log: "uptime", time, event: "request", path: "/api/v1/monitors", milliseconds: 12 };
    const [methods, outcomes] = [
      { GET: 1, POST: 2 },
      { "200": 1, "429": 1, cut: 1 },
    ];
    expect(lines).toEqual([
      { ...sent, method: "GET", outcome: 200, attempt: 1, waited: 0 },
      { ...sent, method: "POST", outcome: 429, attempt: 1, waited: 0 },
      { ...sent, method: "POST", outcome: "cut", attempt: 2, waited: 1003 },
      { log: "uptime", time, event: "summary", requests: 3, methods, outcomes, retries: 1 },
    ]);
  });

  test("prints what docs/settings.md shows", () => {
    const lines = logged("requests", (log) => {
      log.addRequest({ ...request, milliseconds: 9 });
      log.addRequest({ ...request, method: "POST", outcome: 429, milliseconds: 4 });
      log.addRequest({ ...request, method: "POST", outcome: 201, attempt: 2, waited: 1003 });
    });
    const [shown] = blocksOf("docs/settings.md").filter(({ language }) => language === "text");
    expect(`${lines.join("\n")}\n`).toBe(shown?.code);
  });
});

describe("the provider's log", () => {
  // In pieces, so that this file, printed beside a failure, does not hold them.
  withServer({ apiKey: ["canary", "key"].join("-") });
  let printed: string;
  let session: FrontSession;
  beforeEach(() => {
    session = new FrontSession({ clock });
    printed = "";
    jest.spyOn(process.stderr, "write").mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const secret = (name: string): string => ["canary", "secret", name].join("-");
  const home = {
    name: secret("name"),
    url: `https://example.com/?${secret("query")}`,
    interval: 60,
    requestAuthUsername: secret("user"),
    requestAuthPassword: secret("password"),
    requestHeaders: [{ key: secret("header"), value: secret("value") }],
  };

  function stack(kind: "monitor" | "domain", level: LogLevel, more: Record<string, string> = {}): ModelStack {
    const config = settingsOf({ "uptime:apiKey": emulator.apiKey, "uptime:logLevel": level, ...more });
    return new ModelStack(kind, config, { start: (...given) => startDynamic(...given, session), clock });
  }

  /** Successes, refusals, retries, limits, lost answers, answers that repeat all they were sent, and a wrong key. */
  async function everything(level: LogLevel): Promise<string> {
    const errors: string[] = [];
    const one = stack("monitor", level);
    await one.up(home);
    await one.refresh();
    onCreates({ kind: "cut", effect: true });
    await one.beside().up(home);
    onCreates({ kind: "cut", effect: false }, answer(502));
    await one.beside().up(home);
    onCreates(answer(429, "", { "retry-after": "0" }));
    await one.beside().up(home);
    emulator.fault = ({ method, body, headers }) =>
      method === "POST" ? answer(422, { message: JSON.stringify([body, headers]) }) : undefined;
    errors.push(await failureOf(one.beside().up(home)));
    emulator.fault = ({ headers }) => answer(200, headers);
    errors.push(await failureOf(one.refresh()));
    emulator.fault = ({ headers: { authorization = "" } }) =>
      answer(302, "", { location: `https://example.com/${authorization.replace("Bearer ", "")}?x=1` });
    errors.push(await failureOf(one.refresh()));
    let failures = 2;
    emulator.fault = () => (failures-- > 0 ? answer(503) : undefined);
    await one.destroy();
    await failureOf(stack("domain", level).up({ name: "a.example" }));
    // The process ends.
    session.endLogs();
    return errors.join("\n");
  }

  test.each(["off", "summary", "requests", "json"] as const)(
    "at the level %s has no key and no value, like the errors, whatever happens",
    async (level) => {
      const errors = await everything(level);
      expect(errors).toMatch(/status 422.*redirects to/s);
      const leaks = (printed + errors).replaceAll(secret("name"), "").replaceAll(secret("user"), "");
      // An answer that repeats the request shows in the error what is no secret: the name, a URL.
      expect(leaks.includes(emulator.apiKey)).toBe(false);
      for (const name of ["password", "value"]) expect(leaks.includes(secret(name))).toBe(false);
      expect(printed.includes("canary")).toBe(false);
      expect(printed.includes("?")).toBe(false);
      const lines = printed.split("\n").filter((line) => line !== "");
      const requests = emulator.requests.length;
      expect(lines.filter((line) => line.includes("POST")).length > 1).toBe(
        level === "requests" || level === "json",
      );
      if (level === "off") expect(printed).toBe("");
      else if (level === "json") {
        const events = lines.map((line) => JSON.parse(line) as { event: string });
        expect(events.filter(({ event }) => event === "request")).toHaveLength(requests);
        expect(events.at(-1)).toMatchObject({ event: "summary", requests });
      } else {
        expect(lines.at(-1)).toMatch(new RegExp(`^uptime: ${requests} requests \\(GET \\d+, POST \\d+, `));
        expect(lines).toHaveLength(
          level === "summary" ? 1 : requests + lines.filter((line) => line.includes("lost;")).length + 1,
        );
      }
    },
  );
});
