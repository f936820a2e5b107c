import { hasPassword } from "../../provider/common/url";
import type { Fault, ReceivedRequest } from "../../provider/emulator";
import type { Properties } from "../support/calls";
import type { ModelResource } from "../support/model";
import { fronts, Program } from "../support/program";
import { isList, lists, posts } from "../support/sent";
import { answer, emulator, failureOf, on, withServer } from "../support/server";
import { canary } from "../support/canary.cjs";
import { home } from "../support/monitors";

const key = canary("key-of-the-account");
const password = canary("password");
const token = canary("token");
const requestHeaders = [{ key: "X-Token", value: token }];
const declared = { ...home, requestAuthPassword: password, requestHeaders };

/** What a server may show beside the fields that the API's documentation has. */
const extraFields = {
  badge_url: `https://status.example/badge?key=${key}`,
  quotas: { [key]: 5 },
  check: {
    header_name: "X-Token",
    headers: [{ name: "X-Token", content: token }],
    command: `curl -H "X-Token: ${token}" -u me:${password}`,
    auth: { user: "me", pass: password },
    basic: { user: "me", password: canary("nested-password") },
    request_headers: { "X-Other": canary("other-token") },
    request_auth_password: canary("other-password"),
  },
};

withServer({ apiKey: key, dialect: { extraFields } });

const settings = { "uptime:apiKey": key, "uptime:refreshAttributes": "true" };

/** What state says beside what the program has declared. */
function attributesOf(one: ModelResource): Record<string, unknown> {
  return (one.state?.outputs.attributes ?? {}) as Record<string, unknown>;
}

describe.each(fronts)("the key and the secrets of a resource (%s)", (front) => {
  test.each<[string, (one: ModelResource) => Promise<unknown>]>([
    ["a create", (one) => one.up(declared)],
    ["an update", (one) => one.up(declared).then(() => one.up({ ...declared, interval: 300 }))],
    [
      "a refresh",
      async (one) => {
        emulator.dialect = {};
        await one.up(declared);
        emulator.dialect = { extraFields };
        await one.refresh();
      },
    ],
    [
      "an adoption",
      async (one) => {
        emulator.monitors.add({ ...home, request_headers: [{ key: "X-Token", value: token }] });
        await one.up(declared);
        expect(posts()).toBe(0);
      },
    ],
  ])("are not in the attributes after %s; values that contain one are replaced", async (_, operation) => {
    const one = new Program(front, { ...settings, "uptime:adoptExisting": "true" }).resource();
    await operation(one);
    const attributes = JSON.stringify(attributesOf(one));
    const others = [canary("other"), canary("nested-password")];
    const absent = [key, password, token, ...others, "status.example", "curl"];
    for (const text of absent) expect(attributes).not.toContain(text);
    // Names of headers are no secret, and what holds none stays as it is.
    expect(attributesOf(one)).toMatchObject({ check: { header_name: "X-Token", auth: { user: "me" } } });
    expect(attributes).not.toMatch(/"request_(headers|auth_password)"/);
  });

  describe("that no program has declared", () => {
    const header = canary("header-set-by-hand");
    const byHand = canary("password-set-by-hand");
    const check = { basic: `bob:${byHand}`, header_name: "X-Token", curl: `curl -H "X-Token: ${header}"` };
    const request_headers = [{ key: "X-Token", value: header }];
    const camelCase = canary("password-in-camel-case");
    const shown = { request_headers, request_auth_password: byHand, requestAuthPassword: camelCase, check };
    const record = { ...home, ...shown };
    const adopted = (one: ModelResource) => one.up(home).then(() => one.state);

    test.each<[string, (program: Program, id: string) => Promise<{ outputs: Properties } | undefined>]>([
      ["an adoption", (program) => adopted(program.resource())],
      [
        "an import",
        async ({ providers: { monitor } }, id) =>
          monitor.import?.("urn:pulumi:test::shop::uptime:index:Monitor::home", id, home) ??
          monitor.create("urn", { ...home, importId: id, __options: { owner: "home" } }),
      ],
      ["what is only read", ({ providers }, id) => providers.monitor.read("urn", id, {}, {})],
    ])("are only in the fields of those names after %s", async (_, operation) => {
      const id = String(emulator.monitors.add(record).id);
      const program = new Program(front, { ...settings, "uptime:adoptExisting": "true" });
      const attributes = (await operation(program, id))?.outputs.attributes;
      for (const secret of [key, header, byHand, camelCase])
        expect(JSON.stringify(attributes)).not.toContain(secret);
      expect(attributes).toMatchObject({ check: { header_name: "X-Token" } });
      expect(posts()).toBe(0);
    });
  });

  describe("that were in state before", () => {
    const replaced = canary("password-before");
    const byHand = canary("header-by-hand");
    const shown = { last_request: `curl -u bob:${replaced} -H "X-Token: ${byHand}"`, checks: 7 };

    test.each<[string, (one: ModelResource) => Promise<unknown>]>([
      ["an update", (one) => one.up(declared)],
      [
        "an update that fails after it was sent",
        async (one) => {
          on("PATCH", answer(200, {}));
          await failureOf(one.up(declared));
          expect(one.state?.unfinished).toBe(true);
        },
      ],
      [
        "a refresh",
        (one) => {
          emulator.monitors.edit(1, { request_headers: [] });
          return one.refresh();
        },
      ],
    ])("are not in the attributes after %s", async (_, operation) => {
      const one = new Program(front, settings).resource();
      await one.up({ ...declared, requestAuthPassword: replaced });
      emulator.monitors.edit(1, { request_headers: [{ key: "X-Token", value: byHand }] });
      await one.refresh();
      emulator.dialect = { extraFields: shown };
      await operation(one);
      const others = expect.objectContaining({ checks: 7 }) as unknown;
      expect(attributesOf(one)).toEqual(one.state?.unfinished ? {} : others);
      for (const secret of [replaced, byHand])
        expect(JSON.stringify(attributesOf(one))).not.toContain(secret);
    });
  });

  test("stay if the program has declared them", async () => {
    const one = new Program(front, settings).resource();
    await one.up({ ...declared, name: `Home of ${token}` });
    expect(one.state?.outputs).toMatchObject({ ...declared, name: `Home of ${token}` });
  });

  test.each<[string, number, unknown]>([
    ["a value of another field", 200, { id: 1, ...home, interval: password }],
    ["the id of another record", 200, { ...home, id: password }],
    ["an answer that is no record", 200, { id: 1, stored: password }],
    ["the name of a field", 422, { errors: { [`headers.${token}`]: ["is too long"] } }],
    ["a field that is refused", 400, { errors: { name: [`is not ${token}`] } }],
    ["a field that is refused in an object", 422, { errors: { name: [{ message: token }] } }],
    ["JSON without a message", 422, { detail: { request: token } }],
    ["a page", 422, `<html><style>x</style><p>${encodeURIComponent(token)}</p>`],
    ["a message that is cut", 422, { message: ".".repeat(290) + token }],
    ["a quote in a server error", 500, { message: `"${password}" is weak, says the owner of ${key}` }],
  ])("are in no error if the server repeats them as %s", async (_, status, body) => {
    const one = new Program(front, settings).resource();
    await one.up(declared);
    on(status === 200 ? "GET" : "PATCH", answer(status, body));
    const failure = await failureOf(status === 200 ? one.refresh() : one.up({ ...declared, interval: 300 }));
    expect(failure).toContain("(the server repeats a secret)");
    // Nor is the beginning of one that is cut.
    for (const secret of [key, password, token]) expect(failure).not.toContain(secret.slice(0, -4));
  });

  const shown = ({ method, path }: ReceivedRequest): Fault | undefined => {
    const id = path.split("/").at(-1) ?? "";
    return method === "GET" && id.includes(key) ? answer(200, { ...home, id }) : undefined;
  };
  const listed = (...ids: string[]) => answer(200, { data: ids.map((id) => ({ ...home, id })) });

  /** A server that makes a record whose id is the key, and then answers with a status to its address. */
  const madeAnd =
    (status: number) =>
    ({ method, path }: ReceivedRequest): Fault | undefined =>
      method === "POST" ? answer(201, { id: key }) : path.endsWith(key) ? answer(status) : undefined;

  test.each<[string, (request: ReceivedRequest, lists: number) => Fault | undefined]>([
    ["of a new record that cannot be read", madeAnd(500)],
    ["of a new record that does not exist", madeAnd(404)],
    [
      "of a record that was there before",
      (request) => {
        if (request.method === "POST") return answer(201, { ...home, id: key });
        return isList(request) ? answer(200, [{ ...home, name: "Other", id: key }]) : undefined;
      },
    ],
    [
      "of several records to adopt",
      (request) => (isList(request) ? listed(`${key}-1`, `${key}-2`) : undefined),
    ],
    [
      "of several new records",
      (request, lists) => {
        if (request.method === "POST") return { kind: "cut", effect: false };
        return isList(request) ? (lists === 1 ? listed() : listed(`${key}-1`, `${key}-2`)) : undefined;
      },
    ],
  ])("are in no error if the server makes an id of them, as that %s", async (_, fault) => {
    const one = new Program(front, { ...settings, "uptime:adoptExisting": "true" }).resource();
    emulator.fault = (request) => fault(request, lists()) ?? shown(request);
    const failure = await failureOf(one.up(declared));
    expect(failure).toContain("(the server repeats a secret)");
    expect(failure).not.toContain(key);
  });

  test.each<[string, number, (record: Record<string, unknown>) => object]>([
    ["a list", 200, (record) => ({ sites: [{ ...record, auth: { pass: canary("nested-of-others") } }] })],
    ["a record", 200, (record) => ({ item: { ...record, auth: { pass: canary("nested-of-others") } } })],
    ["JSON text", 200, (record) => ({ statusCode: 200, body: JSON.stringify(record) })],
    ["a refusal", 422, (record) => ({ record })],
    ["a refusal that has it as JSON text", 422, (record) => ({ body: JSON.stringify([record]) })],
    ["a message that is JSON text", 422, (record) => ({ message: JSON.stringify({ record }) })],
    ["a refusal that is a list", 422, (record) => [record]],
    [
      "a refusal with the names of .NET",
      422,
      ({ request_auth_password: RequestAuthPassword, request_headers: RequestHeaders, ...others }) => ({
        record: { ...others, RequestAuthPassword, RequestHeaders },
      }),
    ],
  ])("of others are not in an error that quotes %s in an unknown form", async (_, status, bodyOf) => {
    const [one, other] = new Program(front, settings).resources();
    await one.up(home);
    one.nextRun();
    const [byHand, inHeader] = [canary("password-of-others"), canary("header-of-others")];
    const request_headers = [{ key: "X-A", value: inHeader }];
    const record = { id: 1, ...home, name: "Theirs", request_auth_password: byHand, request_headers };
    on("GET", answer(status, bodyOf(record)));
    for (const failure of [await failureOf(one.refresh()), await failureOf(other.up(home))]) {
      // Of a list, only the names are shown.
      expect(failure).toContain(status === 200 ? '"name":"…"' : "Theirs");
      for (const secret of [byHand, inHeader, canary("nested-of-others")])
        expect(failure).not.toContain(secret);
    }
  });

  test("of others are not in an error that quotes JSON behind something else", async () => {
    const shown = `<br />Warning: no such index<br />\n${JSON.stringify([{ id: 1, request_auth_password: canary("after-html") }])}`;
    on("GET", answer(200, shown));
    const failure = await failureOf(new Program(front, settings).resource().up(home));
    expect(failure).toContain('something that is not JSON: "Warning: no such index …"');
    on("GET", answer(403, shown));
    expect(await failureOf(new Program(front, settings).resource().up(home))).toContain("no such index …");
    expect(failure).not.toContain(canary("after-html"));
  });

  test.each<[string, string, (secret: string) => unknown]>([
    ["ends where JSON seems to begin in a secret", "{{", (secret) => `<p>${secret} is too weak</p>`],
    [
      "shows the path in a JSON pointer with dots",
      "/x/attributes/",
      (secret) => ({ errors: [{ source: { pointer: `/data/attributes/${secret}/0` }, detail: "no" }] }),
    ],
    [
      "shows numbers as indexes",
      ".12.",
      (secret) => ({ errors: { [`name.${secret}`]: ["no"], [secret]: ["no"] } }),
    ],
  ])("are not in an error that %s", async (_, middle, bodyOf) => {
    const requestAuthPassword = `${canary("in-front")}${middle}${canary("behind")}`;
    on("POST", answer(422, bodyOf(requestAuthPassword)));
    const program = new Program(front, settings).resource();
    const failure = await failureOf(program.up({ ...home, requestAuthUsername: "me", requestAuthPassword }));
    expect(failure).toContain("(the server repeats a secret)");
    for (const part of ["in-front", "behind"]) expect(failure).not.toContain(canary(part));
  });

  test("are not in an error about an ignored field that an update sends as the server shows it", async () => {
    const one = new Program(front, settings).resource("monitor", { ignoreChanges: ["alertCondition"] });
    await one.up(home);
    const shows = (alert_condition: string): Fault =>
      answer(200, { ...emulator.monitors.all()[0], alert_condition });
    emulator.forget();
    emulator.fault = () => shows(emulator.writes().length === 0 ? key : "url_unavailable");
    const failure = await failureOf(one.up({ ...home, interval: 300 }));
    expect(failure).toContain("alertCondition was sent as (the server repeats a secret)");
    expect(failure).not.toContain(key);
  });

  test.each<[string, (request: ReceivedRequest) => Fault | undefined]>([
    [
      "found as an id",
      (request) => {
        if (request.method === "POST") return { kind: "cut", effect: false };
        return isList(request) && lists() > 1 ? listed(key) : shown(request);
      },
    ],
    ["a part of an id", ({ method }) => (method === "POST" ? answer(201, { id: `1-${token}` }) : undefined)],
  ])("are not in the log if they are %s", async (_, fault) => {
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const one = new Program(front, { ...settings, "uptime:logLevel": "debug" }, { print }).resource();
    emulator.fault = fault;
    await failureOf(one.up(declared));
    expect(lines.join()).toMatch(/GET \/api\/v1\/monitors\/\[id\] /);
    for (const secret of [key, token]) expect(lines.join()).not.toContain(secret);
  });
});

test.each([
  "https://u:s3cr/et@a.example/",
  "https://u:s3#cret@a.example",
  "https:/u:s3cret@a.example",
  "https:u:s3cret@a.example",
  "see https://u:s3cret@a.example/",
  "https://a.example/?then=https://u:s3cret@b.example/",
])("%s is a URL with a password, although it may not be one that can be parsed", (url) => {
  expect(hasPassword(url)).toBe(true);
});

test.each([
  "Checkout 12:30:00 @ eu",
  '{"ok":true,"db":"up","contact":"ops@shop.example"}',
  "https://a.example/@me",
  "see https://u@a.example/",
  "see https://a.example:8080/a",
])("%s is no URL with a password", (text) => {
  expect(hasPassword(text)).toBe(false);
});
