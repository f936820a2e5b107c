import type { Fault, ReceivedRequest } from "../../provider/emulator";
import { home } from "../support/monitors";
import { fronts, Program } from "../support/program";
import { answer, emulator, failureOf, withServer } from "../support/server";

withServer();

const stored = (status: number): Fault => ({ kind: "answer", effect: true, status, body: {} });
const cut: Fault = { kind: "cut", effect: true };
const sendsAgain = /The monitor may have been updated: the next `pulumi up` sends the update again\.$/;

describe.each(fronts)("an update (%s)", (front) => {
  const monitor = (settings = {}, options = {}) =>
    new Program(front, { "uptime:maxRetries": "1", "uptime:timeoutSeconds": "20", ...settings }).resource(
      "monitor",
      options,
    );
  const writes = (): number => emulator.writes().length;
  const sent = (key: string): unknown =>
    emulator
      .writes()
      .at(-1)
      ?.body.find(([name]) => name === key)?.[1];
  /** The server's first record. */
  const there = (): unknown => emulator.monitors.all()[0];
  /** Updates misbehave. */
  const onUpdate = (fault: Fault): void => {
    emulator.fault = ({ method }) => (method === "PATCH" ? fault : undefined);
  };

  describe.each<[string, (request: ReceivedRequest) => Fault | undefined]>([
    ["was answered with 500", ({ method }) => (method === "PATCH" ? stored(500) : undefined)],
    ["was cut", ({ method }) => (method === "PATCH" ? cut : undefined)],
    [
      "was not answered in time",
      ({ method }) => (method === "PATCH" ? { kind: "delay", answerDelayMs: 60_000 } : undefined),
    ],
    [
      "was cut, and then refused",
      ({ method }) => {
        if (method !== "PATCH") return undefined;
        return writes() === 1 ? cut : answer(403, {});
      },
    ],
    [
      "was answered with an id and an error",
      ({ method }) =>
        method === "PATCH" ? { ...stored(200), body: { id: 1, error: "No mail was sent" } } : undefined,
    ],
    [
      "was stored, and then every address is answered with 404",
      ({ method }) => (method === "PATCH" ? stored(204) : writes() > 0 ? answer(404) : undefined),
    ],
    [
      "was stored, and the record cannot be read then",
      ({ method }) => (method === "PATCH" ? stored(204) : writes() > 0 ? answer(502) : undefined),
    ],
  ])("that %s, and was stored,", (_, fault) => {
    test.each([
      ["to the values of before", home],
      ["to the same values", { ...home, interval: 300, pause: true }],
    ])("is sent again by the next up, %s", async (_to, next) => {
      const one = monitor();
      await one.up({ ...home, pause: false });
      emulator.forget();
      emulator.fault = fault;
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
    onUpdate(cut);
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
    onUpdate({ kind: "cut", effect: false });
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
    onUpdate(cut);
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
    onUpdate(answer(status, body));
    expect(await failureOf(one.up({ ...home, interval: 300 }))).not.toMatch(sendsAgain);
    expect(one.state).toEqual(state);
    emulator.fault = undefined;
    emulator.forget();
    expect(await one.up(home)).toBe("same");
    expect(writes()).toBe(0);
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
