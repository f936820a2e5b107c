import type { Fault } from "../../provider/emulator";
import { defaults, home, storedOf } from "../support/monitors";
import { fronts, Program } from "../support/program";
import { answer, clock, emulator, failureOf, on, stored, withServer } from "../support/server";

withServer();

const cut: Fault = { kind: "cut", effect: true };
const sendsAgain = /The monitor may have been updated: the next `pulumi up` sends the update again\.$/;

describe.each(fronts)("an update (%s)", (front) => {
  const monitor = () =>
    new Program(front, { "uptime:maxRetries": "1", "uptime:timeoutSeconds": "20" }).resource();
  const writes = (): number => emulator.writes().length;
  const sent = (key: string): unknown =>
    emulator
      .writes()
      .at(-1)
      ?.body.find(([name]) => name === key)?.[1];
  /** The server's first record. */
  const there = (): unknown => emulator.monitors.all()[0];

  describe.each<[string, [Fault, Fault?], Fault?]>([
    ["was answered with 500", [stored(500, {})]],
    ["was cut", [cut]],
    ["got no response in time", [{ kind: "delay", answerDelayMs: 60_000 }]],
    ["was cut, and then refused", [cut, answer(403, {})]],
    ["was answered with an id and an error", [stored(200, { id: 1, error: "No mail was sent" })]],
    ["was stored, and then every address is answered with 404", [stored(204, {})], answer(404)],
    ["was stored, and the record cannot be read then", [stored(204, {})], answer(502)],
  ])("that %s, and was stored,", (_, [first, again = first], onRead) => {
    test.each([
      ["to the values of before", home],
      ["to the same values", { ...home, interval: 300, pause: true }],
    ])("is sent again by the next up, %s", async (_to, next) => {
      const one = monitor();
      await one.up({ ...home, pause: false });
      emulator.forget();
      emulator.fault = ({ method }) => {
        if (method === "PATCH") return writes() === 1 ? first : again;
        return writes() > 0 ? onRead : undefined;
      };
      expect(await failureOf(one.up({ ...home, interval: 300, pause: true }))).toMatch(sendsAgain);
      expect(there()).toMatchObject({ interval: 300, pause: true });
      emulator.fault = undefined;
      const declared = { pause: false, ...next };
      expect(await one.up(declared)).toBe("update");
      expect(there()).toMatchObject({ interval: next.interval, pause: declared.pause });
      expect(await one.up(declared)).toBe("same");
    });
  });

  test.each([
    ["a password, which no record shows", { requestAuthPassword: "a" }, { requestAuthPassword: "b" }],
    ["what this server does not show", { sslAlertDays: 7 }, { sslAlertDays: 14 }],
    ["a pause that this server does not show", { pause: false }, { pause: true }],
  ] as const)("of %s is sent again after a refresh too", async (_, before, lost) => {
    emulator.dialect = { hidden: ["ssl_alert_days", "pause"] };
    const one = monitor();
    const other = one.beside();
    await one.up({ ...home, ...before });
    await other.up({ ...home, ...before, name: "Other" });
    on("PATCH", cut);
    await failureOf(one.up({ ...home, ...lost }));
    emulator.fault = undefined;
    one.nextRun();
    for (const each of [one, other]) await each.refresh();
    // A second one does not know more.
    await one.refresh();
    expect(await one.up({ ...home, ...before })).toBe("update");
    const key = Object.keys(before)[0]?.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) ?? "";
    expect(sent(key)).toBe(String(Number(Object.values(before)[0])).replace("NaN", "a"));
    expect(await one.up({ ...home, ...before })).toBe("same");
    expect(await other.up({ ...home, ...before, name: "Other" })).toBe("same");
  });

  test("is not sent again if a refresh shows that the record has all values", async () => {
    const one = monitor();
    await one.up(home);
    on("PATCH", { kind: "cut", effect: false });
    await failureOf(one.up({ ...home, interval: 300 }));
    emulator.fault = undefined;
    await one.refresh();
    emulator.forget();
    expect(await one.up(home)).toBe("same");
    expect(writes()).toBe(0);
  });

  test("that fails after a create, of what this server does not show, is sent by the next up", async () => {
    emulator.dialect = { hidden: ["pause"] };
    const one = monitor();
    on("PATCH", cut);
    expect(await failureOf(one.up({ ...home, pause: true }))).toMatch(/was created with the id "?1/);
    emulator.fault = undefined;
    await one.refresh();
    expect(await one.up({ ...home, pause: false })).toBe("update");
    expect(sent("pause")).toBe("0");
  });

  test.each([
    [422, {}],
    [401, {}],
    [403, {}],
    [200, { success: false, message: "No." }],
  ])("that is refused with status %d changes neither record nor state", async (status, body) => {
    const one = monitor();
    await one.up(home);
    const { state } = one;
    on("PATCH", answer(status, body));
    expect(await failureOf(one.up({ ...home, interval: 300 }))).not.toMatch(sendsAgain);
    expect(one.state).toEqual(state);
    emulator.fault = undefined;
    emulator.forget();
    expect(await one.up(home)).toBe("same");
    expect(writes()).toBe(0);
  });

  test.each([
    ["an up with the values of before", home],
    ["an up with others", { ...home, name: "Blog", url: "https://blog.example/" }],
    ["a destroy", undefined],
  ])("of name and URL whose answer is lost is followed by %s", async (_, next) => {
    const one = monitor();
    await one.up(home);
    on("PATCH", cut);
    expect(await failureOf(one.up({ ...home, name: "Shop", url: "https://shop.example/" }))).toMatch(
      sendsAgain,
    );
    emulator.fault = undefined;
    one.nextRun();
    await (next ? one.up(next) : one.destroy());
    expect(emulator.monitors.all()).toMatchObject(next ? [next] : []);
  });

  test("that is answered with the id alone, and was not stored, is an error with the server's words", async () => {
    const one = monitor();
    await one.up(home);
    on("PATCH", answer(200, { id: 1, status: "error", message: "Not in your plan." }));
    expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("Not in your plan.");
  });

  test("that empties a list, which the server ignores and its answer leaves out, is sent in the other form", async () => {
    emulator.dialect = { emptyLists: "bracketsIgnored" };
    const one = monitor();
    await one.up({ ...home, alertChannelIds: [1, 2] });
    on("PATCH", stored(200, { data: { id: 1, ...home, ...storedOf(defaults) } }));
    await one.up({ ...home, alertChannelIds: [] });
    expect(there()).toMatchObject({ alert_channel_ids: [] });
  });

  test("whose empty list a 200 complains about is sent in the other form, which does no harm", async () => {
    const one = monitor();
    await one.up({ ...home, alertChannelIds: [1] });
    const refusal = answer(200, { errors: { alert_channel_ids: ["Must be a list."] } });
    on("PATCH", () => (sent("alert_channel_ids[]") === undefined ? undefined : refusal));
    await one.up({ ...home, alertChannelIds: [] });
    expect(there()).toMatchObject({ alert_channel_ids: [] });
  });

  test("that never reached the server changes neither record nor state", async () => {
    const one = monitor();
    await one.up(home);
    const { state } = one;
    emulator.fault = () => answer(429);
    await failureOf(one.up({ ...home, interval: 300 }));
    expect(one.state).toEqual(state);
  });
});

test("a new record that is not at its own address yet is paused a little later", async () => {
  const begun = clock.now();
  emulator.fault = ({ path }) => (/\d$/.test(path) && clock.now() < begun + 2000 ? answer(404) : undefined);
  await new Program("dynamic").resource().up({ ...home, pause: true });
  expect(emulator.monitors.all()).toMatchObject([{ id: 1, pause: true }]);
});
