import { runInThisContext } from "node:vm";

import { announcedWait } from "../../provider/api/rate-limit-headers";
import { backoff, nextStep, Retries, type Failure, type Step } from "../../provider/api/retry";

const status = (code: number, told = false): Failure => ({
  type: "status",
  status: code,
  hasRetryAfter: told,
});

/** What was seen, what follows for methods that are safe to retry, and what follows for a create. */
type Row = [string, Failure, Step, Step];
const failing = (codes: number[], create: Step): Row[] =>
  codes.map((code) => [String(code), status(code), "fail", create]);
const policy: Row[] = [
  ["no connection", { type: "unreachable" }, "retry", "retry"],
  ["connection cut", { type: "cut" }, "retry", "look and send again"],
  ["own timeout", { type: "timeout" }, "retry", "look only"],
  ["accepted with something that cannot be read", { type: "unreadable" }, "fail", "look only"],
  ["something final", { type: "final" }, "fail", "fail"],
  ...failing([400, 401, 403, 404, 405, 409, 410, 413, 415, 419, 422], "fail"),
  ...failing([300, 301, 302, 303, 304, 307, 308], "look only"),
  ["408", status(408), "retry", "look only"],
  ["422 with Retry-After", status(422, true), "fail", "fail"],
  ["429", status(429), "wait", "wait"],
  ["429 with Retry-After", status(429, true), "wait", "wait"],
  ["500", status(500), "retry", "look and send again"],
  ["500 with Retry-After", status(500, true), "retry", "look and send again"],
  ["501", status(501), "fail", "look only"],
  ["502", status(502), "retry", "look and send again"],
  ["503", status(503), "retry", "look and send again"],
  ["503 with Retry-After", status(503, true), "wait", "look and send again"],
  ["504", status(504), "retry", "look only"],
  ["505", status(505), "fail", "look only"],
  ["520 of a proxy", status(520), "retry", "look and send again"],
  ["524 of a proxy", status(524), "retry", "look only"],
];

test.each(policy)(
  "after %s, each method is retried, looked for or given up",
  (_what, failure, again, create) => {
    for (const method of ["GET", "DELETE", "PATCH", "PUT"] as const)
      expect(nextStep(method, failure)).toBe(again);
    expect(nextStep("POST", failure)).toBe(create);
  },
);

test("a create is only sent again if it surely had no effect", () => {
  const blindly = policy.filter(([, failure]) => ["retry", "wait"].includes(nextStep("POST", failure)));
  expect(blindly.map(([what]) => what)).toEqual(["no connection", "429", "429 with Retry-After"]);
});

describe("a request is sent again", () => {
  /** How often, and the time that passes meanwhile, if each attempt fails so. */
  function sentAgain(
    most: number,
    failureAt: (time: number) => Failure,
    unreachableMilliseconds?: number,
  ): [count: number, time: number] {
    const retries = new Retries(most, unreachableMilliseconds);
    let time = 0;
    for (let count = 0; ; count++) {
      const pause = retries.recordFailure(failureAt(time), time);
      if (pause === undefined) return [count, time];
      time += pause;
    }
  }

  test.each([0, 1, 7])("at most %i times", (most) => {
    for (const failure of [status(500), { type: "cut" }, { type: "timeout" }] as const)
      expect(sentAgain(most, () => failure)[0]).toBe(most);
  });

  test("no more often if others are served meanwhile, except after a 503", () => {
    const pauses = (failure: Failure) => {
      const retries = new Retries(2);
      return [1, 2, 3, 4].filter((served) => retries.recordFailure(failure, 0, served) !== undefined).length;
    };
    expect([status(500), { type: "cut" } as const, status(503)].map(pauses)).toEqual([2, 2, 4]);
  });

  test("for a minute if nothing accepts a connection, however often that is", () => {
    const [count, time] = sentAgain(0, () => ({ type: "unreachable" }));
    expect(time).toBe(60_000);
    expect(count).toBeGreaterThan(8);
    expect(sentAgain(0, () => ({ type: "unreachable" }), 3000)[1]).toBe(3000);
  });

  test("as often as ever once a connection was accepted", () => {
    const [, refused] = sentAgain(3, (time) => (time < 50_000 ? { type: "unreachable" } : status(502)));
    expect(refused).toBeGreaterThan(50_000);
    // One that is refused later has a minute of its own.
    let answered = 0;
    const [, twice] = sentAgain(1, (time) =>
      time > 45_000 && ++answered === 1 ? status(502) : { type: "unreachable" },
    );
    expect(twice).toBeGreaterThan(60_000);
  });
});

describe("the pause before a retry", () => {
  test.each([
    [1, 125, 250],
    [2, 250, 500],
    [3, 500, 1000],
    [4, 1000, 2000],
    [5, 2000, 4000],
    [6, 4000, 8000],
    [7, 5000, 10_000],
    [100, 5000, 10_000],
    [5000, 5000, 10_000],
  ])("number %i is from %i to %i milliseconds", (retry, least, most) => {
    expect(backoff(retry, () => 0)).toBe(least);
    expect(backoff(retry, () => 1)).toBe(most);
  });

  test("is random, so that not all requests come at once", () => {
    expect(new Set(Array.from({ length: 50 }, () => backoff(5))).size).toBeGreaterThan(10);
  });
});

describe("a response says how long to wait", () => {
  const now = Date.parse("2030-01-01T12:00:00Z");

  test.each<[string | undefined, number | undefined]>([
    ["0", 0],
    ["1", 1000],
    ["120", 120_000],
    [" 7 ", 7000],
    ["0.5", 500],
    [String(now / 1000 + 7), 7000],
    ["Tue, 01 Jan 2030 12:00:30 GMT", 30_000],
    ["Tuesday, 01-Jan-30 12:00:30 GMT", 30_000],
    ["Tue, 01 Jan 2030 11:59:30 GMT", 0],
    ["2030-01-01T12:00:01Z", 1000],
    [undefined, undefined],
    ["", undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["1e3", undefined],
    ["5 minutes", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
  ])("by Retry-After: %j means %j milliseconds", (header, expected) => {
    expect(announcedWait({ "retry-after": header }, now)).toBe(expected);
  });

  test.each(["Tue Jan  1 12:00:30 2030", "2030-01-01 12:00:30", "2030-01-01T12:00:30"])(
    "by a date that names no time zone, which is in UTC wherever this runs: %s",
    (header) => {
      // The environment of a test is a copy, and a change of it is none of the time zone.
      const env = runInThisContext("process.env") as NodeJS.ProcessEnv;
      const { TZ } = env;
      try {
        env.TZ = "America/St_Johns";
        expect(new Date(now).getTimezoneOffset()).toBe(210);
        expect(announcedWait({ "retry-after": header }, now)).toBe(30_000);
        const later = "Tue, 01 Jan 2030 12:00:31 GMT";
        expect(announcedWait({ "retry-after": later, date: header }, now)).toBe(1000);
      } finally {
        if (TZ === undefined) delete env.TZ;
        else env.TZ = TZ;
      }
    },
  );

  test.each([
    "2030-01-01 14:00:30+02",
    "2030-01-01T14:00:30+02:00",
    "Tue, 01 Jan 2030 07:00:30 EST",
    "Tue Jan 01 2030 14:00:30 GMT+0200 (CEST)",
  ])("by a date in the time zone that it names: %s", (header) => {
    expect(announcedWait({ "retry-after": header }, now)).toBe(30_000);
  });

  test.each([
    ["1", 1000],
    ["60", 60_000],
    ["61", 61],
    ["1500", 1500],
    [String(now / 1000 + 90), 90_000],
    [String(now + 1500), 1500],
    [String(now / 1000 - 90), 0],
    ["soon", undefined],
    ["-1", undefined],
    ["", undefined],
  ])("by X-RateLimit-Reset, if there is no Retry-After: %j means %j milliseconds", (reset, expected) => {
    expect(announcedWait({ "x-ratelimit-reset": reset }, now)).toBe(expected);
    expect(announcedWait({ "x-ratelimit-reset": reset, "retry-after": "7" }, now)).toBe(7000);
  });
});
