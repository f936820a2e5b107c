import { Operation } from "../../provider/api/operation";
import { EngineLog } from "../../provider/engine/engine-log";
import { FrontSession } from "../../provider/engine/front-session";
import { blocksOf } from "../support/blocks";
import { clientOf } from "../support/client";
import { VirtualClock } from "../support/clock";
import { answer, clock, emulator, failureOf, on, onCreates, settingsOf, withServer } from "../support/server";
import { Program } from "../support/program";
import type { ModelResource } from "../support/model";

test("a log has a line for each request, as docs/settings.md shows", async () => {
  const clock = new VirtualClock();
  const answers = [
    [200, 9],
    [429, 4],
    [201, 12],
  ];
  const lines: string[] = [];
  const client = clientOf(
    { "uptime:baseUrl": "https://api.invalid", "uptime:apiKey": "key", "uptime:logLevel": "debug" },
    clock,
    async () => {
      const [status = 0, milliseconds = 0] = answers.shift() ?? [];
      await clock.sleep(milliseconds);
      return { status, headers: {}, body: Buffer.from("[]") };
    },
    { print: (line) => lines.push(line) },
  );
  for (const method of ["GET", "POST"] as const)
    await clock.until(client.send({ method, plural: "monitors", operation: new Operation({ clock }) }));
  const [shown] = blocksOf("docs/settings.md").filter(({ language }) => language === "text");
  expect(`${lines.join("\n")}\n`).toBe(shown?.code);
});

test("what names no address for the engine's log gets none, and the plugin goes on", async () => {
  const log = new EngineLog("127.0.0.1:1");
  log.attach("");
  log.log("warning", "a warning");
  expect(await failureOf(log.flush())).toBe("");
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

  function stack(kind: "monitor" | "domain", level: string): ModelResource {
    const config = settingsOf({ "uptime:apiKey": emulator.apiKey, "uptime:logLevel": level });
    return new Program("dynamic", config, { session }).resource(kind);
  }

  /** Successes, refusals, retries, limits, lost answers, answers that repeat all they were sent, and a wrong key. */
  async function everything(level: string): Promise<string> {
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
    on("POST", ({ body, headers }) => answer(422, { message: JSON.stringify([body, headers]) }));
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
    return errors.join("\n");
  }

  test.each([
    ["off", 0],
    ["debug", 1],
  ])(
    "at the level %s has no key and no value, like the errors, and %i lines a request",
    async (level, count) => {
      const errors = await everything(level);
      expect(errors).toMatch(/status 422.*redirects to/s);
      const leaks = (printed + errors).replaceAll(secret("name"), "").replaceAll(secret("user"), "");
      // An answer that repeats the request shows in the error what is no secret: the name, a URL.
      expect(leaks.includes(emulator.apiKey)).toBe(false);
      for (const name of ["password", "value"]) expect(leaks.includes(secret(name))).toBe(false);
      expect(printed.includes("canary")).toBe(false);
      expect(printed.includes("?")).toBe(false);
      const lines = printed.split("\n").filter((line) => line !== "");
      expect(lines).toHaveLength(count * emulator.requests.length);
      for (const line of lines)
        expect(line).toMatch(
          /^uptime: ((GET|POST) \/api\/v1\/\S+|(PATCH|DELETE) \/api\/v1\/monitors\/\d+) (\d+|cut), /,
        );
    },
  );
});
