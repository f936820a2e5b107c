import type { Fault, ReceivedRequest } from "../../provider/emulator";
import { posts, sentRequests } from "../support/sent";
import { answer, clock, emulator, failureOf, on, withServer } from "../support/server";
import type { Inputs, ModelResource } from "../support/model";
import { defaults, home, site, storedOf } from "../support/monitors";
import { fronts, Program, times } from "../support/program";
import type { Kind } from "../support/calls";

withServer();

const stack = (kind: Kind = "monitor", settings = {}, options = {}): ModelResource =>
  new Program("dynamic", settings).resource(kind, options);

const bodies = (): string[][] =>
  emulator.writes().map(({ body }) => body.map(([name, value]) => `${name}=${value}`));
const only = (): Readonly<Record<string, unknown>> => {
  const [record, ...others] = emulator.monitors.all();
  if (!record || others.length > 0) throw new Error("there must be one monitor");
  return record;
};
const outputsOf = (of: ModelResource): Inputs => of.state?.outputs ?? {};
const hasEmptyList = ({ method, body }: ReceivedRequest): boolean =>
  method === "POST" && body.some(([name]) => name === "alert_channel_ids[]");

describe("wire forms", () => {
  test("are those of the API's reference", async () => {
    await stack().up({
      ...home,
      alertChannelIds: [2, "10"],
      requestHeaders: [
        { key: "X-A", value: "1 & 2" },
        { key: "X-B", value: "ü" },
      ],
      cacheBuster: true,
      pause: true,
    });
    const fields = [
      "name=Home",
      "url=https://example.com/",
      "interval=60",
      "alert_condition=url_unavailable",
      "alert_channel_ids[]=2",
      "alert_channel_ids[]=10",
      "request_method=GET",
      "request_headers[0][key]=X-A",
      "request_headers[0][value]=1 & 2",
      "request_headers[1][key]=X-B",
      "request_headers[1][value]=ü",
      "cache_buster=1",
    ];
    expect(bodies()).toEqual([fields, [...fields, "pause=1"]]);
    const path = "/api/v1/monitors";
    expect(sentRequests()).toEqual([`GET ${path}`, `POST ${path}`, `PATCH ${path}/1`]);
  });

  test("of a removed field are empty: `field=` for a string, one empty entry for a list, 0 for pause", async () => {
    const one = stack();
    await one.up({
      ...home,
      alertChannelIds: [1],
      requestHeaders: [{ key: "A", value: "1" }],
      requestAuthUsername: "bob",
      requestAuthPassword: "secret",
      maintenanceStartAt: "2030-01-01T00:00:00",
      pause: true,
    });
    emulator.forget();
    await one.up(home);
    expect(bodies()).toHaveLength(1);
    expect(bodies()[0]).toEqual(
      expect.arrayContaining([
        "alert_channel_ids[]=",
        "request_headers[0][key]=",
        "request_headers[0][value]=",
        "request_auth_username=",
        "request_auth_password=",
        "maintenance_start_at=",
        "pause=0",
      ]),
    );
    expect(only()).toMatchObject({ request_auth_password: null, pause: false });
  });

  test.each([false, true])(
    "of alert days that are declared as 0 again are sent once; shown as null: %j",
    async (shown) => {
      emulator.dialect = { zeroDaysForEmpty: shown };
      const one = stack();
      for (const days of [{ sslAlertDays: 7 }, {}, { sslAlertDays: 0 }, {}]) {
        emulator.forget();
        await one.up({ ...home, ...days });
        const sent = "sslAlertDays" in days ? String(days.sslAlertDays) : "";
        expect(bodies()).toEqual([expect.arrayContaining([`ssl_alert_days=${sent}`])]);
        await one.refresh();
        expect(await one.up({ ...home, ...days })).toBe("same");
      }
    },
  );

  test.each(["bracketsRefused", "bracketsIgnored"] as const)(
    "of an empty list are the other ones if the server has %s, which is remembered",
    async (emptyLists) => {
      emulator.dialect = { emptyLists };
      const one = stack();
      const lists = { alertChannelIds: [1], requestHeaders: [{ key: "A", value: "1" }] };
      await one.up({ ...home, ...lists });
      emulator.forget();
      await one.up(home);
      expect(only()).toMatchObject({ alert_channel_ids: [], request_headers: [] });
      expect(bodies().map((body) => body.includes("alert_channel_ids="))).toEqual([false, true]);
      await one.up({ ...home, ...lists });
      emulator.forget();
      await one.up(home);
      expect(bodies().map((body) => body.includes("alert_channel_ids="))).toEqual([true]);
      expect(only()).toMatchObject({ alert_channel_ids: [], request_headers: [] });
    },
  );

  test.each([
    ["laravel", "refused"],
    ["empty", "refused"],
    ["laravel", "ignored"],
  ] as const)(
    "of empty alert days are 0 with errors in the form %s if empty ones are %s",
    async (errors, emptyDays) => {
      // The other form of a list would be refused, and is not needed.
      emulator.dialect = { errors, emptyDays, emptyLists: "plainRefused" };
      const one = stack();
      const declared = { ...home, sslAlertDays: 7, alertChannelIds: [1] };
      const wasZero = (): boolean[] => bodies().map((body) => body.includes("ssl_alert_days=0"));
      await one.up(declared);
      emulator.forget();
      await one.up(home);
      expect([wasZero(), only()]).toMatchObject([
        [false, true],
        { ssl_alert_days: 0, alert_channel_ids: [] },
      ]);
      await one.refresh();
      expect(await one.up(home)).toBe("same");
      await one.up(declared);
      emulator.forget();
      await one.up(home);
      expect(wasZero()).toEqual([true]);
    },
  );

  test("are tried in turn by a server that refuses one field at a time, whose last refusal is the error", async () => {
    const one = stack();
    await one.up({ ...home, sslAlertDays: 7 });
    on("PATCH", ({ body }) => {
      const isEmpty = body.some(([name, value]) => name === "ssl_alert_days" && value === "");
      return answer(422, {
        errors: isEmpty ? { ssl_alert_days: ["Not a number."] } : { url: ["Not allowed."] },
      });
    });
    const failure = await failureOf(one.up(home));
    expect([failure.includes("Not allowed."), failure.includes("Not a number.")]).toEqual([true, false]);
  });

  test("leave a refusal that names no field as the error if another form is refused as such", async () => {
    on("POST", ({ body }) => {
      const isPlain = body.some(([name]) => name === "alert_channel_ids");
      return answer(
        422,
        isPlain ? { errors: { alert_channel_ids: ["Not a list."] } } : { message: "Too many." },
      );
    });
    const failure = await failureOf(stack().up({ ...home, alertChannelIds: [] }));
    expect([failure.includes("Too many."), failure.includes("Not a list.")]).toEqual([true, false]);
    expect(posts()).toBe(2);
  });

  test("leave the first of several refusals that name no field as the error", async () => {
    const one = stack();
    await one.up({ ...home, sslAlertDays: 7, alertChannelIds: [5] });
    const words = ["First.", "Second.", "Third."];
    emulator.fault = ({ method }) =>
      method === "PATCH" ? answer(422, { message: words.shift() }) : undefined;
    expect(await failureOf(one.up(home))).toContain("First.");
    expect(words).toEqual([]);
  });

  test.each<[string, (words: string[]) => object]>([
    ["ASP.NET", (words) => ({ AlertChannelIds: words })],
    ["Flask", (words) => ({ form: { "alert_channel_ids[]": { 0: words } } })],
    ["Symfony", (words) => ({ children: { name: {}, alert_channel_ids: { errors: words } } })],
    ["Quarkus", (words) => ({ "store.form.alertChannelIds": words })],
    ["Phoenix", ([detail]) => ({ detail })],
  ])(
    "of an empty list are the other ones also if a refusal names the field as %s does",
    async (_, errors) => {
      on(hasEmptyList, answer(422, { errors: errors(["Not a valid integer."]) }));
      await stack().up({ ...home, alertChannelIds: [] });
      expect(only()).toMatchObject({ alert_channel_ids: [] });
    },
  );

  test("of channels and of headers may differ on a server that names no field in a refusal", async () => {
    const one = stack();
    await one.up({ ...home, alertChannelIds: [1], requestHeaders: [{ key: "A", value: "1" }] });
    const refused = ["request_headers[0][key]", "alert_channel_ids"];
    on("PATCH", ({ body }) =>
      body.some(([name, value]) => refused.includes(name) && value === "") ? answer(400, "") : undefined,
    );
    await one.up(home);
    expect(only()).toMatchObject({ alert_channel_ids: [], request_headers: [] });
  });

  test("of an empty list are learned by a create too", async () => {
    emulator.dialect = { emptyLists: "bracketsRefused" };
    const one = stack();
    await one.up({ ...home, alertChannelIds: [] });
    emulator.forget();
    await one.beside().up({ ...home, alertChannelIds: [] });
    expect(bodies().map((body) => body.includes("alert_channel_ids="))).toEqual([true]);
  });

  test("of an empty list are the other ones for each of two creates that the server stores in another way", async () => {
    emulator.dialect = { createAnswer: "id" };
    const read = new Set<string>();
    emulator.fault = ({ method, path }) => {
      if (method !== "GET" || !/\d$/.test(path) || read.has(path)) return undefined;
      read.add(path);
      emulator.monitors.edit(path.replace(/.*\//, ""), { alert_channel_ids: [9] });
      // The second one is verified when the first one has learned the form.
      return { kind: "delay", answerDelayMs: read.size * 1000 };
    };
    const one = stack();
    await Promise.all([one, one.beside()].map((each) => each.up({ ...home, alertChannelIds: [] })));
    expect(emulator.monitors.all().map((record) => record.alert_channel_ids)).toEqual([[], []]);
  });

  test("a PATCH that is answered with 501 is sent as PUT", async () => {
    const one = stack();
    on("PATCH", answer(501));
    await one.up({ ...home, pause: true });
    expect(only()).toMatchObject({ pause: true });
    one.nextRun();
    emulator.fault = ({ method }) => ({ PATCH: answer(501), PUT: answer(422) })[method];
    expect(await failureOf(one.up({ ...home, interval: 300 }))).not.toContain("may have been updated");
  });

  test("a PATCH that is answered with 404 twice is sent as PUT if the record is there", async () => {
    const one = stack();
    await one.up(home);
    on("PATCH", answer(404, "Cannot PATCH /api/v1/monitors/1"));
    await one.up({ ...home, interval: 300 });
    await one.up({ ...home, interval: 600 });
    expect(emulator.writes().map(({ method }) => method)).toEqual([
      "POST",
      ...["PATCH", "PATCH", "PUT"],
      ...["PATCH", "PATCH", "PUT"],
    ]);
    expect(only()).toMatchObject({ interval: 600 });
  });

  test("a PATCH that a replica that lags has answered with 404 is sent again, because a PUT may empty other fields", async () => {
    const one = stack();
    await one.up(home);
    emulator.monitors.edit(1, { alert_channel_ids: [5] });
    let patches = 0;
    on("PATCH", () => (++patches === 1 ? answer(404) : undefined));
    await one.up({ ...home, interval: 300 });
    expect(emulator.writes().map(({ method }) => method)).toEqual(["POST", "PATCH", "PATCH"]);
    expect(only()).toMatchObject({ interval: 300, alert_channel_ids: [5] });
  });

  test("PATCHes of one record that are answered with 404 do not make PUTs of others", async () => {
    const program = new Program("dynamic");
    const [one, two] = [program.resource("monitor"), program.resource("monitor")];
    await one.up(home);
    emulator.monitors.edit(1, { alert_channel_ids: [5] });
    let patches = 0;
    emulator.fault = ({ method, path }) => {
      if (method === "PUT") emulator.monitors.edit(path.split("/").at(-1) ?? "", { alert_channel_ids: [] });
      return method === "PATCH" && ++patches <= 2 ? answer(404) : undefined;
    };
    await two.up({ ...home, name: "Other", url: "https://other.example/", pause: true });
    await one.up({ ...home, interval: 300 });
    expect(emulator.monitors.get(1)).toMatchObject({ interval: 300, alert_channel_ids: [5] });
  });

  test("a PATCH and a PUT that are answered with 404 fail with the first answer", async () => {
    const one = stack();
    await one.up(home);
    emulator.fault = ({ method }) =>
      ({ PATCH: answer(404, { message: "No PATCH." }), PUT: answer(404) })[method];
    expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("No PATCH.");
    emulator.fault = ({ method }) =>
      ({ PATCH: answer(404), PUT: answer(422, { errors: { interval: ["Too short."] } }) })[method];
    expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("interval: Too short.");
  });

  test("a PATCH that is answered with 404, about a channel, fails with that if the server has no PUT", async () => {
    const one = stack();
    await one.up(home);
    emulator.fault = ({ method }) =>
      ({ PATCH: answer(404, { message: "No channel 99." }), PUT: answer(405) })[method];
    expect(await failureOf(one.up({ ...home, alertChannelIds: [99] }))).toContain("No channel 99.");
  });

  test("an update of a record that is gone says so where PATCH is answered with 405", async () => {
    emulator.dialect = { patch: "405" };
    const one = stack();
    await one.up(home);
    emulator.monitors.remove(1);
    expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("Monitor 1 does not exist");
  });

  test.each([
    ["PATCH", "PUT"],
    ["PUT", "PATCH"],
  ])(
    "a new record that is not found at its first %s is updated where there is no %s",
    async (kept, lacking) => {
      let sent = 0;
      emulator.fault = ({ method }) => {
        if (method === lacking) return answer(405);
        return method === kept && ++sent === 1 ? answer(404) : undefined;
      };
      await stack().up({ ...home, pause: true });
      expect(only()).toMatchObject({ pause: true });
    },
  );

  test.each(fronts)("a PATCH is sent again if PUT was answered with 405 too (%s)", async (front) => {
    const one = new Program(front).resource();
    await one.up(home);
    emulator.fault = ({ method }) => (["PATCH", "PUT"].includes(method) ? answer(405) : undefined);
    expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("405");
    on("PUT", answer(405));
    expect(await failureOf(one.up({ ...home, interval: 600 }))).toBe("");
  });

  test("a PATCH that is answered with 405 is sent as PUT, which is remembered", async () => {
    emulator.dialect = { patch: "405" };
    const one = stack();
    await one.up(home);
    await one.up({ ...home, interval: 300 });
    await one.up({ ...home, interval: 600 });
    expect(emulator.writes().map(({ method }) => method)).toEqual(["POST", "PATCH", "PUT", "PUT"]);
    expect(only()).toMatchObject({ interval: 600 });
  });

  test("several updates whose PATCH is refused at the same time all go on with PUT", async () => {
    emulator.dialect = { patch: "405" };
    const one = stack();
    const all = [one, one.beside(), one.beside(), one.beside()];
    await Promise.all(all.map((each) => each.up(home)));
    await Promise.all(all.map((each) => each.up({ ...home, interval: 300 })));
    expect(emulator.monitors.all().map(({ interval }) => interval)).toEqual([300, 300, 300, 300]);
  });
});

describe("a create whose answer does not tell the id", () => {
  test("is read from the Location header if there is one", async () => {
    emulator.dialect = { createAnswer: "empty", createLocation: true, listBrief: true };
    const one = stack();
    await one.up(home);
    expect(one.state?.id).toBe("1");
    expect(emulator.requests.filter(({ path }) => path === "/api/v1/monitors")).toHaveLength(2);
  });
});

describe("a value that the API accepts and does not store", () => {
  test("fails the create, naming property and both values, and the next up goes on with its id", async () => {
    emulator.dialect = { notStored: ["ssl_alert_days"] };
    const one = stack();
    const declared = { ...home, sslAlertDays: 7 };
    expect(await failureOf(one.up(declared))).toMatch(/sslAlertDays.*7.*null/);
    expect(one.state).toMatchObject({ id: "1", outputs: { sslAlertDays: null } });
    expect(await failureOf(one.up(declared))).toContain("sslAlertDays");
    emulator.dialect = { notStored: [] };
    expect(await one.up(declared)).toBe("update");
    expect(only()).toMatchObject({ ssl_alert_days: 7 });
    expect(await one.up(declared)).toBe("same");
  });

  test("fails a create that is answered with the id alone", async () => {
    emulator.dialect = { createAnswer: "id", notStored: ["ssl_alert_days"] };
    expect(await failureOf(stack().up({ ...home, sslAlertDays: 7 }))).toMatch(/sslAlertDays.*7.*null/);
  });

  test("fails a create that is answered with nothing, naming the record that may be it", async () => {
    emulator.dialect = { createAnswer: "empty", notStored: ["ssl_alert_days"] };
    await expect(stack().up({ ...home, sslAlertDays: 7 })).rejects.toThrow(/may be this one[^]*1 \("Home"/);
  });

  test("fails the update, and state has what is there", async () => {
    const one = stack();
    await one.up({ ...home, requestAuthUsername: "bob" });
    emulator.dialect = { notStored: ["request_auth_username"] };
    const failure = await failureOf(one.up({ ...home, requestAuthUsername: "eve", interval: 300 }));
    expect(failure).toMatch(/requestAuthUsername.*"eve".*"bob"/);
    expect(outputsOf(one)).toMatchObject({ requestAuthUsername: "bob", interval: 300 });
  });

  test("is named without the two values if it is a secret", async () => {
    const one = stack();
    const declared = (value: string) => ({ ...home, requestHeaders: [{ key: "X-A", value }] });
    await one.up(declared("canary-stored"));
    emulator.dialect = { notStored: ["request_headers"] };
    const failure = await failureOf(one.up(declared("canary-sent")));
    expect(failure).toContain("requestHeaders");
    expect(failure).not.toContain("canary");
  });

  test("a date with an offset other than +00:00 is an error that names the offset", async () => {
    emulator.dialect = { dates: "+02:00" };
    const failure = await failureOf(stack().up({ ...home, maintenanceStartAt: "2030-01-01T00:00:00" }));
    expect(failure).toMatch(/maintenanceStartAt.*\+02:00/);
  });
});

describe("an answer that differs from what was sent proves nothing", () => {
  const declared = { ...home, interval: 300 };

  test.each([
    [200, { createStatus: 200 }],
    [201, { createStatus: 201 }],
    [202, { accepted: 202 }],
    [204, { createStatus: 204 }],
  ] as const)(
    "after %i and no body, a create that takes effect later is waited for",
    async (_status, dialect) => {
      emulator.dialect = { createAnswer: "empty", createLocation: true, ...dialect };
      let reads = 0;
      emulator.fault = ({ method, path }) => {
        if (method === "GET" && path.endsWith("/1"))
          emulator.monitors.edit(1, { interval: ++reads < 5 ? 60 : 300 });
        return undefined;
      };
      expect(await failureOf(stack().up(declared))).toBe("");
      expect(reads).toBe(5);
    },
  );

  test.each<[string, number, unknown, Record<string, string>?]>([
    ["nothing", 202, ""],
    ["nothing", 204, ""],
    ["nothing", 200, ""],
    ["a message", 200, { ok: true }],
    ["text", 200, "OK"],
    ["a web page", 200, "<!doctype html><p>Saved</p>"],
    ["the record as it was before", 200, { data: { id: 1, ...home } }],
    ["a redirect to another page", 302, "", { location: "/monitors" }],
    ["a redirect to the record", 303, "", { location: "/api/v1/monitors/1" }],
  ])(
    "an update that is answered with %s (%i) is read until it is stored",
    async (_what, status, body, headers = {}) => {
      const one = stack();
      await one.up(home);
      emulator.forget();
      const begun = clock.now();
      emulator.fault = ({ method }) => {
        if (method === "PATCH") return answer(status, body, headers);
        if (clock.now() - begun >= 2000) emulator.monitors.edit(1, { interval: 300 });
        return undefined;
      };
      expect(await failureOf(one.up(declared))).toBe("");
      expect(emulator.requests.map(({ method }) => method)).toEqual(["PATCH", "GET", "GET", "GET"]);
      expect(await one.up(declared)).toBe("same");
    },
  );

  test("an update that is answered with words, and not stored, is an error with these words", async () => {
    const one = stack();
    await one.up(home);
    on("PATCH", answer(200, "<h1>Down for maintenance</h1>"));
    expect(await failureOf(one.up(declared))).toMatch(
      /did not store them: interval was sent as 300 and is 60\. The response was "Down for maintenance"\.$/,
    );
    on("PATCH", answer(302, "", { location: "/monitors/1/edit" }));
    expect(await failureOf(one.up(declared))).toMatch(/300 and is 60\. The response was "status 302"\.$/);
    on("PATCH", answer(302, "", { location: "https://login.example/" }));
    expect(await failureOf(one.up(declared))).toContain("redirects to https://login.example/, which is not");
  });

  test("headers that are shown in an unknown form are an error that does not quote them", async () => {
    const one = stack();
    await one.up(home);
    const request_headers = "X-A: canary-shown";
    emulator.fault = ({ method }) =>
      method === "POST" ? undefined : answer(200, { ...emulator.monitors.all()[0], request_headers });
    const failure = await failureOf(one.up({ ...home, requestHeaders: [{ key: "X-A", value: "1234" }] }));
    expect(failure).toContain(
      "requestHeaders was sent, and what is there cannot be compared. The API shows request_headers as something else, but a list was expected.",
    );
    expect(failure).not.toContain("canary");
  });

  test("a first record is created where an empty list is answered with 204 and no body", async () => {
    emulator.fault = ({ method, path }) =>
      method === "GET" && path.endsWith("s") && emulator.monitors.size === 0 ? answer(204, "") : undefined;
    const one = stack();
    await one.up(home);
    expect(await one.preview(home)).toBe("same");
    expect(emulator.monitors.size).toBe(1);
  });

  test("a new record that reads do not find for some seconds is waited for", async () => {
    const one = stack();
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return { kind: "answer", effect: true, status: 201, body: { id: 1, ...home } };
      return path.endsWith("/1") && clock.now() < 2000 ? answer(404) : undefined;
    };
    await one.up(declared);
    expect(one.state).toMatchObject({ id: "1", unfinished: false, outputs: { interval: 300 } });
    expect(posts()).toBe(1);
  });

  test("channels that are stored after the answer was made are no error", async () => {
    const withChannels = { ...home, alertChannelIds: [3] };
    const one = stack();
    const body = { data: { id: 1, ...home, ...storedOf(defaults), alert_channel_ids: [] } };
    emulator.fault = ({ method }) =>
      method === "GET" ? undefined : { kind: "answer", effect: true, status: 200, body };
    await one.up(withChannels);
    await one.up({ ...withChannels, interval: 300 });
    expect(one.state).toMatchObject({ unfinished: false, outputs: { alertChannelIds: [3], interval: 300 } });
    expect(await one.up({ ...withChannels, interval: 300 })).toBe("same");
  });

  test("what is never stored is an error after five reads, a second apart", async () => {
    const one = stack();
    await one.up(home);
    emulator.dialect = { notStored: ["interval"] };
    emulator.forget();
    const begun = clock.now();
    expect(await failureOf(one.up(declared))).toContain("interval was sent as 300 and is 60");
    expect(clock.now() - begun).toBe(4000);
    expect(emulator.requests.map(({ method }) => method)).toEqual(["PATCH", ...times(5, "GET")]);
  });

  test("what shows all that was sent is not read", async () => {
    const one = stack();
    await one.up(declared);
    await one.up({ ...declared, interval: 600 });
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET", "POST", "PATCH"]);
  });
});

describe("pause", () => {
  test.each(["pause", "paused", "is_paused", "paused_at", "hidden"] as const)(
    "shown as %s is set in the up that creates, and ends when it is removed",
    async (pauseShown) => {
      emulator.dialect = { pauseShown };
      const one = stack();
      await one.up({ ...home, pause: true });
      expect(only()).toMatchObject({ pause: true });
      await one.refresh();
      expect(await one.up({ ...home, pause: true })).toBe("same");
      await one.up(home);
      expect(only()).toMatchObject({ pause: false });
      await one.refresh();
      expect(await one.up(home)).toBe("same");
    },
  );

  test.each(["pause", "paused", "is_paused", "paused_at"] as const)(
    "shown as %s that a person ends is drift",
    async (pauseShown) => {
      emulator.dialect = { pauseShown };
      const one = stack();
      await one.up({ ...home, pause: true });
      emulator.monitors.edit(1, { pause: false });
      await one.refresh();
      expect(outputsOf(one)).toMatchObject({ pause: false });
      expect(await one.up({ ...home, pause: true })).toBe("update");
    },
  );

  test.each(["pause", "hidden"] as const)(
    "whose update fails keeps the id over a refresh, and the next up finishes (shown as %s)",
    async (pauseShown) => {
      emulator.dialect = { pauseShown };
      const one = stack("monitor", { "uptime:maxRetries": "0" });
      on("PATCH", answer(500));
      expect(await failureOf(one.up({ ...home, pause: true }))).toContain("status 500");
      expect(one.state?.id).toBe("1");
      // The error that keeps the id travels in an HTTP header, so it must be small.
      expect(outputsOf(one).attributes).toEqual({});
      emulator.fault = () => undefined;
      await one.refresh();
      expect(outputsOf(one).attributes).toMatchObject({ alert_channel_ids: [] });
      await one.up({ ...home, pause: true });
      expect(only()).toMatchObject({ pause: true });
      expect(emulator.writes().filter(({ method }) => method === "POST")).toHaveLength(1);
    },
  );
});

test.each<[string, Fault]>([
  ["refuses and names it", answer(422, { errors: { pause: ["must be boolean"] } })],
  ["refuses and names nothing", answer(422, "pause: provided string was not `true` or `false`")],
])(
  "pause is sent as true and false to a server that %s as 1 and 0, which is remembered",
  async (_, fault) => {
    const one = stack();
    on(({ body }) => body.some(([name, value]) => name === "pause" && /\d/.test(value)), fault);
    await one.up({ ...home, sslAlertDays: 7, pause: true });
    expect(only()).toMatchObject({ pause: true });
    emulator.forget();
    await one.up(home);
    expect(only()).toMatchObject({ pause: false });
    expect(bodies()).toEqual([expect.arrayContaining(["pause=false", "ssl_alert_days="])]);
  },
);

test("pause is not sent as a word to a server that does not store it as 1, and may take the word false for true", async () => {
  on(({ body }) => body.some(([name]) => name === "pause"), answer(204));
  await expect(stack().up({ ...home, pause: true })).rejects.toThrow("did not store");
  expect(bodies().flat()).not.toContain("pause=true");
});

test.each([{ pause: false }, {}])(
  "pause is not sent as false to a server that does not store it as 0, and may take the word for true (then %j)",
  async (then) => {
    const one = stack();
    await one.up({ ...home, pause: true });
    on(({ body }) => body.some(([name]) => name === "pause"), answer(204));
    await expect(one.up({ ...home, ...then })).rejects.toThrow("did not store");
    expect(bodies().flat()).not.toContain("pause=false");
  },
);

test("an update pauses no other monitor on a server that takes its time to pause one, and takes the word false for true", async () => {
  const program = new Program("dynamic", {});
  const [one, two] = [program.resource("monitor"), program.resource("monitor")];
  const other = { ...home, name: "Other", url: "https://other.example/", pause: false };
  await one.up(home);
  await two.up(other);
  emulator.fault = ({ method, path, body }) => {
    const [, pause] = body.find(([name]) => name === "pause") ?? [];
    if (method !== "PATCH" || pause === "0") return undefined;
    if (pause === "1") return { kind: "answer", effect: { afterMs: 4500 }, status: 202, body: {} };
    return answer(200, emulator.monitors.edit(path.split("/").at(-1) ?? "", { pause: true }));
  };
  await failureOf(one.up({ ...home, pause: true }));
  await two.up({ ...other, interval: 300 });
  expect(emulator.monitors.get(2)).toMatchObject({ interval: 300, pause: false });
});

describe("a refusal that has passed, and was not about the form,", () => {
  /** A server that is busy once, and stores nothing that comes in the fallback form but what `edit` makes of it. */
  const refuseOnce = (field: string, fallback: string, edit: object): void => {
    let isBusy = true;
    on("PATCH", ({ path, body }) => {
      if (isBusy) {
        isBusy = false;
        return answer(400, { message: "Busy." });
      }
      if (!body.some(([name, value]) => name === field && value === fallback)) return undefined;
      return answer(200, emulator.monitors.edit(path.split("/").at(-1) ?? "", { interval: 300, ...edit }));
    });
  };

  test.each([[false], [true]])(
    "pauses no monitor on a server that takes the word false for true (the refused update has pause %s)",
    async (isFirstPaused) => {
      const all = new Program("dynamic").resources();
      const inputsOf = (place: number) => ({ ...site(`m${place}`), pause: isFirstPaused && place === 0 });
      for (const [place, one] of all.entries()) await one.up({ ...inputsOf(place), interval: 60 });
      refuseOnce("pause", "false", { pause: true });
      for (const [place, one] of all.entries()) await one.up(inputsOf(place));
      expect(emulator.monitors.all().map(({ pause }) => pause)).toEqual([isFirstPaused, false, false]);
    },
  );

  test("pauses no monitor again after another update, which began before the form was forgotten", async () => {
    const [one, two, three] = new Program("dynamic").resources();
    await one.up({ ...site("one"), interval: 60, pause: false });
    await two.up({ ...site("two"), interval: 60 });
    await three.up({ ...site("three"), interval: 60, pause: false });
    refuseOnce("pause", "false", { pause: true });
    await one.up({ ...site("one"), pause: true });
    const { fault } = emulator;
    emulator.fault = (request) =>
      request.path.endsWith("/2") ? { kind: "delay", answerDelayMs: 20_000 } : fault?.(request);
    await Promise.all([two.up(site("two")), three.up({ ...site("three"), pause: false })]);
    emulator.forget();
    await one.up({ ...site("one"), pause: false });
    expect(bodies()).toEqual([expect.arrayContaining(["pause=0"])]);
  });

  test("keeps no list from being emptied on a server that only knows the usual form", async () => {
    const [one, two] = new Program("dynamic").resources();
    await one.up({ ...site("one"), interval: 60, alertChannelIds: [] });
    await two.up({ ...site("two"), interval: 60, alertChannelIds: [1] });
    refuseOnce("alert_channel_ids", "", {});
    await one.up({ ...site("one"), alertChannelIds: [] });
    await two.up({ ...site("two"), alertChannelIds: [] });
    expect(emulator.monitors.get(2)).toMatchObject({ alert_channel_ids: [] });
  });
});

test("pause that is not stored is told, and not that another form of it is refused, as by Laravel", async () => {
  const one = stack();
  await one.up(home);
  emulator.fault = ({ method, body }) => {
    const [, pause] = body.find(([name]) => name === "pause") ?? [];
    if (method !== "PATCH") return undefined;
    return pause === "1" ? answer(204) : answer(422, { errors: { pause: ["must be true or false"] } });
  };
  expect(await failureOf(one.up({ ...home, pause: true }))).toContain("did not store");
});

describe("attributes", () => {
  test("have what is not managed under the API's names, and follow a refresh with uptime:refreshAttributes", async () => {
    const one = stack("monitor", { "uptime:refreshAttributes": "true" });
    await one.up(home);
    emulator.monitors.edit(1, { uptime: 99.5, ssl_alert_days: 7, extra: { deep: [{ null: null }] } });
    await one.refresh();
    const shown = { uptime: 99.5, ssl_alert_days: 7, alert_channel_ids: [] };
    expect(outputsOf(one).attributes).toMatchObject({ ...shown, extra: { deep: [{ null: null }] } });
    expect(outputsOf(one).attributes).not.toHaveProperty("name");
    expect(await one.up(home)).toBe("same");
  });

  test("stay as they are in a refresh, except after an operation that failed half-way", async () => {
    const one = stack("monitor", { "uptime:maxRetries": "0" });
    on("PATCH", answer(500));
    await expect(one.up({ ...home, pause: true })).rejects.toThrow("status 500");
    emulator.fault = undefined;
    for (const uptime of [1, 2]) {
      emulator.monitors.edit(1, { uptime });
      await one.refresh();
      expect(outputsOf(one).attributes).toMatchObject({ uptime: 1 });
    }
  });

  test("keep any keys and numbers, except the engine's own marks", async () => {
    const one = stack("monitor", { "uptime:refreshAttributes": "true" });
    await one.up(home);
    const record =
      '{"id":1,"name":"Home","url":"https://example.com/","interval":60,"big":12345678901234567890,"most":9007199254740991,' +
      '"text":"12345678901234567890","nested":{"id":5,"urn":"u","__provider":"p","big":[-98765432109876543210, 1e3, 0.12345],' +
      '"quote\\"12345678901234567890":"\\\\","__proto__":{"polluted":true},"4dabf18193072939515e22adb298388d":"x"},' +
      '"unknown":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}';
    emulator.fault = () => answer(200, record);
    await one.refresh();
    const attributes = outputsOf(one).attributes as Record<string, Record<string, unknown>>;
    const digits = "12345678901234567890";
    expect(attributes).toMatchObject({
      big: digits,
      most: 9007199254740991,
      text: digits,
      unknown: "[unknown]",
    });
    expect(Object.entries(attributes.nested ?? {})).toEqual([
      ["id", 5],
      ["urn", "u"],
      ["__provider", "p"],
      ["big", ["-98765432109876543210", 1000, 0.12345]],
      ['quote"12345678901234567890', "\\"],
      ["__proto__", { polluted: true }],
      ["4dabf18193072939515e22adb298388d_", "x"],
    ]);
    expect({}).not.toHaveProperty("polluted");
    expect(await one.preview(home)).toBe("same");
  });
});

describe("refusals", () => {
  const nested = { interval: ["bad"], url: [], request_headers: [{ key: ["no"] }] };
  /** The same in a list, whose entries have the field and the words under these names. */
  const listed = (field: string, words: string, parts = ["interval", "requestHeaders[0].key"] as unknown[]) =>
    parts.map((part, index) => ({ [field]: part, [words]: ["bad", "no"][index] }));
  /** As JSON:API lists them. */
  const pointed = (...pointers: string[]) =>
    listed(
      "source",
      "detail",
      pointers.map((pointer) => ({ pointer })),
    );

  test.each([422, 400])("with status %i name the properties", async (status) => {
    const errors = { "request_headers.0.key": ["no"], interval: ["bad,", "worse"] };
    on("POST", answer(status, { message: "The given data was invalid.", errors }));
    const words =
      /\/api\/v1\/monitors returned status 4.*: requestHeaders\[0\]\.key: no; interval: bad, worse/;
    await expect(stack().up(home)).rejects.toThrow(words);
    expect(emulator.monitors.size).toBe(0);
  });

  test("with another status show the reasons for single fields too", async () => {
    on("POST", answer(404, { message: "Validation Error.", data: { alert_channel_ids: ["No channel 7."] } }));
    const words = /status 404 \(Validation Error\): alert_channel_ids: No channel 7\.$/;
    await expect(stack().up(home)).rejects.toThrow(words);
  });

  test("without an envelope name the properties too, and the ways out of a taken name", async () => {
    const errors = { name: ["domain with this name already exists."], not_found_url: ["Not a URL."] };
    on("POST", answer(400, errors));
    const one = new Program("dynamic").resource("domain");
    const failure = await failureOf(one.up({ name: "shop.example" }));
    expect(failure).toContain("name: domain with this name already exists; notFoundUrl: Not a URL.");
    expect(failure).toContain("If a domain with this name exists, set uptime:adoptExisting");
  });

  test.each<[string, object, string?]>([
    [
      "in data",
      { success: false, message: "Invalid.", data: { interval: ["bad"], "request_headers.0.key": ["no"] } },
    ],
    ["in an object without an envelope", nested, ""],
    ["in nested details", { message: "Invalid.", data: {}, detail: nested }],
    ["in nested errors", { message: "Invalid.", errors: nested }],
    [
      "in a list of errors",
      {
        message: "Invalid.",
        errors: [
          { type: "field", path: "interval", msg: "bad" },
          { path: "", field: "request_headers.0.key", message: "no" },
        ],
      },
    ],
    [
      "in a list beside one of words",
      { errors: ["Invalid."], fieldErrors: listed("field", "message") },
      ' (["Invalid."])',
    ],
    [
      "in Spring's list",
      {
        message: "Invalid.",
        errors: [
          { field: "interval", defaultMessage: "bad", rejectedValue: 60, arguments: [{ code: "interval" }] },
          { field: "requestHeaders[0].key", defaultMessage: "no", rejectedValue: "X" },
        ],
      },
    ],
    ["in nothing but a list, as Yii does,", listed("field", "message"), ""],
    [
      "in .NET's problem details",
      { title: "Invalid.", status: 422, errors: { Interval: ["bad"], "RequestHeaders[0].key": ["no"] } },
      "",
    ],
    [
      "in Strapi's details",
      {
        data: null,
        error: {
          ...{ status: 400, name: "ValidationError", message: "Invalid." },
          details: {
            errors: listed("path", "message", [["interval"], ["request_headers", "0", "key"]]),
          },
        },
      },
    ],
    [
      "in what Feathers says of Ajv's errors",
      {
        ...{ name: "BadRequest", message: "Invalid.", code: 400, className: "bad-request", errors: {} },
        data: listed("instancePath", "message", ["/interval", "/request_headers/0/key"]),
      },
    ],
    [
      "in pointers of LoopBack and Elysia",
      {
        error: {
          message: "Invalid.",
          details: listed("path", "message", ["/interval", "/body/request_headers/0/key"]),
        },
      },
    ],
    [
      "in what PocketBase says of each field",
      {
        ...{ status: 400, message: "Invalid." },
        data: {
          interval: { code: "in", message: "bad" },
          "request_headers.0.key": { code: "no", message: "no" },
        },
      },
    ],
    [
      "in what Litestar adds",
      { detail: "Invalid.", extra: listed("key", "message", ["interval", "request_headers.0.key"]) },
    ],
    ["in a string each", { errors: { interval: "bad", "request_headers.0.key": "no" } }, ""],
    ["in what Flask says of the form", { message: "Invalid.", errors: { form: nested } }],
    [
      "in Symfony's forms",
      {
        message: "Invalid.",
        errors: {
          children: {
            name: {},
            interval: { errors: ["bad"] },
            request_headers: { children: [{ children: { key: { errors: ["no"] }, value: {} } }] },
          },
        },
      },
    ],
    [
      "in the issues of Zod",
      {
        error: {
          name: "ZodError",
          issues: listed("path", "message", [["interval"], ["request_headers", 0, "key"]]),
        },
      },
      "",
    ],
    [
      "in the message of Zod",
      {
        success: false,
        error: {
          name: "ZodError",
          message: JSON.stringify(
            listed("path", "message", [["interval"], ["request_headers", 0, "key"]]),
            null,
            2,
          ),
        },
      },
      "",
    ],
    [
      "in what Zod and FastAPI say of parts of a request",
      {
        message: "Invalid.",
        errors: [
          { path: ["body", "interval"], message: "bad" },
          { loc: ["body", null, "request_headers", 0, "key"], msg: "no" },
        ],
      },
    ],
    [
      "beside one that names none",
      {
        errors: [
          { source: { pointer: "/data/attributes/interval" }, detail: "bad" },
          { message: "The quota is used up." },
          null,
          true,
          { property: { toString: 1 }, field: "request_headers.0.key", message: "no" },
        ],
      },
      " (The quota is used up)",
    ],
    [
      "in the errors of JSON:API",
      { errors: pointed("/data/attributes/interval", "/data/attributes/request_headers/0/key") },
      "",
    ],
    [
      "in Symfony's violations, or with a reason",
      {
        detail: "Invalid.",
        violations: [
          { propertyPath: "interval", message: "bad" },
          { field: "request_headers.0.key", reason: "no" },
        ],
      },
    ],
    [
      "in pointers without the first slash",
      { errors: pointed("data/attributes/interval", "request_headers/0/key") },
      "",
    ],
  ])("%s name the properties", async (_, body, whole = " (Invalid)") => {
    on("POST", answer(422, body));
    const words = `returned status 422${whole}: interval: bad; requestHeaders[0].key: no`;
    const failure = await failureOf(stack().up(home));
    expect(failure.slice(-words.length)).toBe(words);
  });

  test.each([
    ['{"error":"Not so."}', /status 422: Not so\.$/],
    ['{"detail":"Not so."}', /status 422: Not so\.$/],
    ['{"error":true,"detail":"Not so."}', /status 422: Not so\.$/],
    ['{"message":"Nope.","errors":[]}', /status 422: Nope\.$/],
    // Valibot.
    [
      '{"message":"Nope.","issues":[{"message":"No.","path":[{"key":"a"},{"key":0}]}]}',
      /status 422: Nope\.$/,
    ],
    ['{"errors":["One.","Two."]}', /status 422: \["One\.","Two\."\]$/],
    ["[]", /status 422: \[\]$/],
    ['{"message":"<br>","errors":["Plan."]}', /status 422: \["Plan\."\]$/],
    ['{"message":"Invalid.","errors":["Plan."]}', /status 422: Invalid; \["Plan\."\]$/],
    [
      '{"message":"Invalid.","errors":["Plan."],"debug":{"log":{"last":{"calls":[{"path":"/x","message":"ok"}]}}}}',
      /status 422: Invalid; \["Plan\."\]$/,
    ],
    [
      '{"error":{"message":"Invalid.","details":[{"field":"interval","error":"no"}]}}',
      /Invalid; \[\{"field":"interval","error":"no"\}\]$/,
    ],
    ['{"detail":[{"loc":["body"],"msg":"Empty."}]}', /status 422: \[\{"loc":\["body"\],"msg":"Empty\."\}\]$/],
    ['{"errors":["Plan."],"warnings":[{"field":"interval","message":"old"}]}', /status 422: \["Plan\."\]$/],
    ["<html><style>x{}</style><h1>Whoops</h1>\n<p>Bad</p></html>", /status 422: Whoops Bad$/],
    ["<HTML><STYLE>x{}</STYLE><H1>Whoops</H1>\n<P>Bad</P></HTML>", /status 422: Whoops Bad$/],
    ["", /status 422$/],
    ["{", /status 422: \{$/],
  ])("with the body %j are shown in the API's own words", async (body, message) => {
    on("POST", answer(422, body));
    await expect(stack().up(home)).rejects.toThrow(message);
  });
});

test("a list that is compressed is an error that names how", async () => {
  emulator.fault = () => answer(200, "\u001f\ufffd\b", { "content-encoding": "gzip" });
  await expect(stack().up(home)).rejects.toThrow(
    /compressed \(gzip\), although the request asks for no comp/,
  );
});

test.each([
  ["<html>Welcome</html>", /something that is not JSON: "Welcome"\. Check uptime:baseUrl/],
  ['"text"', /did not return a list of monitors: "text"/],
  ['{"data":[{"name":"no id"}]}', /did not return a list of monitors/],
  ['{"data":null,"content":"maintenance"}', /did not return a list of monitors/],
])("a list answered with %j is an error, and nothing is created", async (body, message) => {
  emulator.fault = () => answer(200, body);
  await expect(stack().up(home)).rejects.toThrow(message);
});

test("a field in ignoreChanges that the record shows as null is sent as its default, not as empty", async () => {
  const one = stack("monitor", {}, { ignoreChanges: ["alertCondition"] });
  await one.up(home);
  emulator.dialect = { extraFields: { alert_condition: null } };
  emulator.forget();
  await one.up({ ...home, interval: 300 });
  expect(emulator.writes().map(({ body }) => new Map(body).get("alert_condition"))).toEqual([
    "url_unavailable",
  ]);
});

describe("a server that shows null for the defaults", () => {
  const shown = { alert_condition: null, request_method: "", cache_buster: null };

  test("gets a monitor, whose refresh and second run change nothing", async () => {
    emulator.dialect = { extraFields: shown };
    const one = stack();
    await one.up(home);
    await one.refresh();
    expect(await one.preview(home)).toBe("same");
  });

  test.each(["imported", "adopted"])("has a record that can be %s", async (how) => {
    emulator.monitors.add(home);
    emulator.dialect = { extraFields: shown };
    const one = stack("monitor", { "uptime:adoptExisting": String(how === "adopted") });
    await one.up({ ...home, ...(how === "imported" && { importId: "1" }) });
    expect(one.state?.id).toBe("1");
    expect(emulator.monitors.size).toBe(1);
  });
});

test.each(
  fronts.flatMap((front) => [
    [front, "in camel case", (id: number, fields: object) => ({ id, ...fields })] as const,
    [front, "beside an ID as GORM writes it", (ID: number, fields: object) => ({ ID, ...fields })] as const,
    [front, "in attributes", (id: number, fields: object) => ({ id, attributes: fields })] as const,
    [
      front,
      "as JSON:API does",
      (id: number, fields: object) => ({ id, type: "monitors", attributes: fields }),
    ] as const,
  ]),
)("(%s) an edit of a field that the record shows %s is drift", async (front, _how, shown) => {
  const declared = { ...home, sslAlertDays: 7 };
  const program = new Program(front);
  const one = program.resource();
  await one.up(declared);
  const { id, ssl_alert_days: _, ...rest } = emulator.monitors.edit(1, {});
  on("GET", answer(200, { data: shown(id, { ...rest, sslAlertDays: 30 }) }));
  await one.refresh();
  program.nextRun();
  expect(await one.preview(declared)).toBe("update");
});

test("of the fields in ignoreChanges, an update sends only what the API resets otherwise", async () => {
  const one = stack("monitor", {}, { ignoreChanges: ["requestAuthUsername", "requestMethod"] });
  await one.up({ ...home, requestAuthUsername: "bob" });
  await one.up({ ...home, requestAuthUsername: "bob", interval: 300 });
  const names = emulator
    .writes()
    .at(-1)
    ?.body.map(([name]) => name);
  expect(names).toContain("request_method");
  expect(names).not.toContain("request_auth_username");
});

test("ignoreChanges keeps an edit by hand, also of a field that the API resets in an update", async () => {
  emulator.dialect = { resetOnUpdate: true };
  const one = stack("monitor", {}, { ignoreChanges: ["requestAuthUsername", "requestMethod"] });
  const declared = { ...home, requestAuthUsername: "bob", requestMethod: "POST" };
  await one.up(declared);
  expect(only()).toMatchObject({ request_auth_username: "bob", request_method: "POST" });
  emulator.monitors.edit(1, { request_auth_username: "by hand", request_method: "HEAD" });
  expect(await one.up({ ...declared, interval: 300 })).toBe("update");
  expect(only()).toMatchObject({ request_auth_username: "by hand", request_method: "HEAD", interval: 300 });
  await one.refresh();
  expect(await one.up({ ...declared, interval: 300, requestMethod: "PUT" })).toBe("same");
});

test.each(fronts)(
  "a field in ignoreChanges may be edited to anything by hand, and refreshed (%s)",
  async (front) => {
    const program = new Program(front);
    const one = program.resource("monitor", { ignoreChanges: ["alertCondition", "name"] });
    await one.up(home);
    const edited = { name: "By hand ", alert_condition: "url_text", alert_text_lookup: "ok" };
    emulator.monitors.edit(1, edited);
    await one.refresh();
    program.nextRun();
    expect(await one.up({ ...home, interval: 300 })).toBe("update");
    expect(only()).toMatchObject({ ...edited, interval: 300 });
    // What the program changes is refused as ever.
    program.nextRun();
    expect(await failureOf(one.preview({ ...home, alertTextLookup: " ok" }))).toContain(
      "must not begin or end",
    );
    expect(await failureOf(program.resource().preview({ ...home, name: "By hand " }))).toContain(
      "must not begin",
    );
  },
);

test("a domain that has another name in the API is neither read, updated nor deleted", async () => {
  const one = new Program("dynamic").resource("domain");
  await one.up({ name: "a.example" });
  emulator.domains.edit(1, { name: "b.example" });
  emulator.forget();
  const problem = /"b\.example".*"a\.example".*another record/;
  await expect(one.refresh()).rejects.toThrow(problem);
  await expect(one.up({ name: "a.example", homepageUrl: "https://a.example/" })).rejects.toThrow(problem);
  one.nextRun();
  await expect(one.destroy()).rejects.toThrow(problem);
  expect(emulator.writes()).toEqual([]);
});
