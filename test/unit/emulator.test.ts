import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../support/folder";
import { defaultApiKey, type Dialect, Emulator, type EmulatorOptions } from "../../provider/emulator";
import { plainStored } from "../support/monitors";

const headers = { authorization: `Bearer ${defaultApiKey}`, accept: "application/json" };
const site = { name: "Site", url: "https://example.com", interval: "60" };
const running: Emulator[] = [];

async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await Emulator.start(options);
  running.push(emulator);
  return emulator;
}

afterEach(() => Promise.all(running.splice(0).map((emulator) => emulator.stop())));

interface Reply {
  status: number;
  headers: Headers;
  text: string;
  json: unknown;
}

type Form = Record<string, string> | [string, string][] | string;

async function call(emulator: Emulator, method: string, path: string, form?: Form, init: RequestInit = {}) {
  const body = form === undefined ? null : new URLSearchParams(form);
  const url = `${emulator.url}/api/v1${path}`;
  const response = await fetch(url, { method, body, headers, ...init });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const reply: Reply = {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
  return reply;
}

describe("what the API documents", () => {
  test("a monitor is stored with the documented defaults, shown, updated and deleted", async () => {
    const emulator = await start({ settled: true, now: () => new Date("2030-01-01T00:00:00Z") });
    const created = await call(emulator, "POST", "/monitors", site);
    const record = {
      id: 1,
      name: "Site",
      url: "https://example.com",
      interval: 60,
      ...plainStored,
      ...{ status: null, last_checked_at: null, response_time: null, uptime: null },
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-01T00:00:00.000Z",
    };
    expect(emulator.monitors.all()).toEqual([record]);
    const visible = { ...record, request_auth_password: undefined };
    expect([created.status, created.json]).toEqual([201, { data: { ...visible, pause: 0 } }]);
    expect((await call(emulator, "GET", "/monitors/1")).json).toEqual(created.json);

    const updated = await call(emulator, "PUT", "/monitors/1", "ssl_alert_days=7&pause=true");
    expect(updated.json).toEqual({ data: { ...visible, ssl_alert_days: 7, pause: 1 } });
    expect((await call(emulator, "DELETE", "/monitors/1")).status).toBe(204);
    expect((await call(emulator, "GET", "/monitors/1")).status).toBe(404);
    expect((await call(emulator, "POST", "/monitors", site)).json).toMatchObject({ data: { id: 2 } });
  });

  test("every field of a monitor is stored as what it means", async () => {
    const emulator = await start();
    const form =
      "name=A&url=u&interval=3600&alert_condition=url_text&alert_text_lookup=ok&alert_channel_ids[]=9" +
      "&alert_channel_ids[]=2&request_method=PATCH&request_headers[3][key]=X-A&request_headers[3][value]=1" +
      "&request_headers[0][key]=X-B&request_auth_username=me&request_auth_password=pw&cache_buster=1" +
      "&ssl_alert_days=0&domain_alert_days=60&maintenance_start_at=2028-02-29T23:59:59&maintenance_end_at=";
    expect((await call(emulator, "POST", "/monitors", form)).status).toBe(201);
    expect(emulator.monitors.get("1")).toMatchObject({
      ...{ name: "A", url: "u", interval: 3600, alert_condition: "url_text", alert_text_lookup: "ok" },
      ...{ alert_channel_ids: [9, 2], request_method: "PATCH", cache_buster: 1, pause: false },
      request_headers: [
        { key: "X-A", value: "1" },
        { key: "X-B", value: "" },
      ],
      ...{
        request_auth_username: "me",
        request_auth_password: "pw",
        ssl_alert_days: 0,
        domain_alert_days: 60,
      },
      ...{ maintenance_start_at: "2028-02-29T23:59:59", maintenance_end_at: null },
    });
  });

  test.each([
    ["alert_text_lookup=", { alert_text_lookup: null }],
    ["ssl_alert_days=", { ssl_alert_days: null }],
    ["maintenance_start_at=", { maintenance_start_at: null }],
    ["alert_condition=&request_method=", { alert_condition: "url_unavailable", request_method: "GET" }],
    ["cache_buster=", { cache_buster: 0 }],
    ["alert_channel_ids[]=", { alert_channel_ids: [] }],
    ["alert_channel_ids=", { alert_channel_ids: [] }],
    ["request_headers[0][key]=&request_headers[0][value]=", { request_headers: [] }],
    ["request_headers=", { request_headers: [] }],
    ["pause=0", { pause: false }],
    ["pause=false", { pause: false }],
  ])("an update with %s empties the field and leaves the others", async (form, cleared) => {
    const emulator = await start();
    const full = {
      ...{ name: "A", url: "u", interval: 60, alert_condition: "url_text", alert_text_lookup: "t" },
      ...{ request_method: "PUT", cache_buster: 1, ssl_alert_days: 7, pause: true, alert_channel_ids: [1] },
      ...{ maintenance_start_at: "2030-01-01T00:00:00", request_headers: [{ key: "a", value: "b" }] },
    };
    const before = emulator.monitors.add(full);
    expect((await call(emulator, "PATCH", "/monitors/1", form)).status).toBe(200);
    const { updated_at, ...rest } = before;
    expect(emulator.monitors.get(1)).toMatchObject({ ...rest, ...cleared });
    expect(typeof updated_at).toBe("string");
  });

  test("the name of a domain is ignored on update", async () => {
    const emulator = await start({ firstId: 100 });
    emulator.domains.add({ name: "example.com" });
    await call(emulator, "PUT", "/domains/100", "name=other.com&homepage_url=https://example.com");
    expect(emulator.domains.get(100)).toMatchObject({
      ...{ id: 100, name: "example.com", homepage_url: "https://example.com", not_found_url: null },
    });
  });
});

describe("what is refused", () => {
  test.each([
    ["an unknown field", "colour=red", "colour"],
    ["the list's filter", "status_page_id=1", "status_page_id"],
    ["pause on create", "pause=0", "pause"],
    ["an interval that is not offered", "interval=61", "interval"],
    ["an interval that is not a whole number", "interval=60.0", "interval"],
    ["an empty interval", "interval=", "interval"],
    ["an empty name", "name=", "name"],
    ["an unknown condition", "alert_condition=down", "alert_condition"],
    ["a method in lower case", "request_method=get", "request_method"],
    ["a cache buster that is a word", "cache_buster=true", "cache_buster"],
    ["alert days that are not offered", "ssl_alert_days=5", "ssl_alert_days"],
    ["a date with a blank", "maintenance_start_at=2030-01-01 00:00:00", "maintenance_start_at"],
    ["a date with a zone", "maintenance_end_at=2030-01-01T00:00:00Z", "maintenance_end_at"],
    ["an impossible date", "maintenance_end_at=2030-02-30T00:00:00", "maintenance_end_at"],
    ["an impossible hour", "maintenance_end_at=2030-02-20T24:00:00", "maintenance_end_at"],
    ["a channel that is not a number", "alert_channel_ids[]=1&alert_channel_ids[]=x", "alert_channel_ids.1"],
    ["an empty channel among others", "alert_channel_ids[]=&alert_channel_ids[]=1", "alert_channel_ids.0"],
    ["channels as a text", "alert_channel_ids=1", "alert_channel_ids"],
    ["channels with an index", "alert_channel_ids[0]=1", "alert_channel_ids[0]"],
    ["a header without a key", "request_headers[0][value]=1", "request_headers.0.key"],
    ["a header of another shape", "request_headers[0][name]=1", "request_headers[0][name]"],
    ["a header with an index that is none", "request_headers[a][key]=1", "request_headers[a][key]"],
    ["a list where there is none", "alert_text_lookup[]=1", "alert_text_lookup[]"],
    ["a field that is sent twice", "alert_text_lookup=1&alert_text_lookup=2", "alert_text_lookup"],
  ])("%s, by its name on the wire", async (_, part, field) => {
    const emulator = await start();
    const form = new URLSearchParams(site);
    for (const name of new URLSearchParams(part).keys()) form.delete(name);
    const reply = await call(emulator, "POST", "/monitors", `${form.toString()}&${part}`);
    expect(reply.status).toBe(422);
    expect(reply.json).toEqual({
      message: expect.any(String) as string,
      errors: { [field]: [expect.stringContaining(field) as string] },
    });
    expect(emulator.monitors.size).toBe(0);
  });

  test("a create without its required fields names them all, an update needs none", async () => {
    const emulator = await start();
    const reply = await call(emulator, "POST", "/monitors", "cache_buster=1");
    expect(reply.json).toEqual({
      message: "The name field is required. (and 2 more errors)",
      errors: {
        name: ["The name field is required."],
        url: ["The url field is required."],
        interval: ["The interval field is required."],
      },
    });
    emulator.monitors.add(site);
    expect((await call(emulator, "PATCH", "/monitors/1", "")).status).toBe(200);
    expect((await call(emulator, "PATCH", "/monitors/1", "url=")).status).toBe(422);
    expect((await call(emulator, "PATCH", "/monitors/1", "pause=")).status).toBe(422);
  });

  test.each([
    ["a request without a key", "GET", "/monitors", { accept: "application/json" }, 401],
    ["a wrong key", "GET", "/monitors", { ...headers, authorization: "Bearer other" }, 401],
    ["a GET without Accept", "GET", "/monitors", { authorization: headers.authorization }, 406],
    ["a GET that accepts anything", "GET", "/monitors/1", { ...headers, accept: "*/*" }, 406],
    ["JSON", "POST", "/monitors", { ...headers, "content-type": "application/json" }, 415],
    [
      "a form without its content type",
      "PUT",
      "/monitors/1",
      { ...headers, "content-type": "text/plain" },
      415,
    ],
    ["an unknown route", "GET", "/monitor", headers, 404],
    ["a slash at the end", "GET", "/monitors/", headers, 404],
    ["an id that is no number", "GET", "/monitors/one", headers, 404],
    ["an unknown id", "DELETE", "/monitors/7", headers, 404],
    ["a method that is not offered", "DELETE", "/monitors", headers, 405],
    ["a create at an id", "POST", "/monitors/1", headers, 405],
    ["a query on one record", "GET", "/monitors/1?page=1", headers, 422],
  ])("%s", async (_, method, path, sent, status) => {
    const emulator = await start();
    emulator.monitors.add(site);
    const body = method === "POST" || method === "PUT" ? "{}" : null;
    const reply = await call(emulator, method, path, undefined, { headers: sent, body });
    expect(reply.status).toBe(status);
    expect(reply.json).toHaveProperty("message");
  });

  test.each(["per_page=20", "per_page=", "sort=up", "sort_by=interval", "search_by=id", "page=0", "limit=5"])(
    "a list with %s",
    async (query) => {
      const emulator = await start();
      const reply = await call(emulator, "GET", `/monitors?${query}`);
      expect([reply.status, reply.json]).toMatchObject([
        422,
        { errors: { [query.split("=")[0] ?? ""]: {} } },
      ]);
    },
  );
});

describe("lists", () => {
  async function names(emulator: Emulator, query: string): Promise<unknown[]> {
    const { json } = await call(emulator, "GET", `/monitors?${query}`);
    return (json as { data: { name: unknown }[] }).data.map(({ name }) => name);
  }

  test("newest first by default, sorted, searched and filtered as asked", async () => {
    const emulator = await start({ dialect: { paging: "none" } });
    emulator.monitors.add({ name: "b", url: "http://one", status_page_id: 4 });
    emulator.monitors.add({ name: "Ab", url: "http://two" });
    emulator.monitors.add({ name: "c", url: "http://three/b" });
    expect(await names(emulator, "")).toEqual(["c", "Ab", "b"]);
    expect(await names(emulator, "sort=asc")).toEqual(["b", "Ab", "c"]);
    expect(await names(emulator, "sort_by=name&sort=asc")).toEqual(["Ab", "b", "c"]);
    expect(await names(emulator, "sort_by=url")).toEqual(["Ab", "c", "b"]);
    expect(await names(emulator, "search=B")).toEqual(["Ab", "b"]);
    expect(await names(emulator, "search=b&search_by=url")).toEqual(["c"]);
    expect(await names(emulator, "status_page_id=4")).toEqual(["b"]);
    expect((await call(emulator, "GET", "/domains?search_by=url")).status).toBe(422);
  });

  test("the last page has no next one, and the one after it is empty", async () => {
    const emulator = await start({ dialect: { extraFields: {}, hidden: ["created_at", "updated_at"] } });
    for (let count = 0; count < 12; count++) emulator.domains.add({ name: `d${count}` });
    const last = await call(emulator, "GET", "/domains?page=2");
    expect(last.json).toMatchObject({ data: [{ id: 2 }, { id: 1 }], links: { next: null } });
    expect((await call(emulator, "GET", "/domains?page=3")).json).toMatchObject({ data: [] });
  });
});

describe("dialects", () => {
  const stored = {
    name: `A & "B" <'c'>`,
    url: "HTTPS://User@Example.COM?q=A",
    interval: 60,
    alert_channel_ids: [1, 2],
    request_headers: [
      { key: "x-api-key", value: "1&2" },
      { key: "B", value: "" },
    ],
    request_auth_password: "secret",
    cache_buster: 1,
    ssl_alert_days: 7,
    maintenance_start_at: "2030-01-31T22:00:00",
    pause: true,
    updated_at: "then",
  };
  test.each<[Partial<Dialect>, Record<string, unknown>]>([
    [{ ids: "string" }, { id: "1" }],
    [{ numbers: "string" }, { interval: "60", ssl_alert_days: "7", domain_alert_days: null }],
    [{ booleans: "number" }, { cache_buster: 1, pause: 1 }],
    [{ booleans: "string" }, { cache_buster: "1", pause: "1" }],
    [{ booleans: "boolean" }, { cache_buster: true, pause: true }],
    [{ headers: "map" }, { request_headers: { "x-api-key": "1&2", B: "" } }],
    [{ headers: "emptyListMap" }, { request_headers: { "x-api-key": "1&2", B: "" } }],
    [{ channels: "strings" }, { alert_channel_ids: ["1", "2"] }],
    [
      { channels: "objects", shuffle: true },
      {
        alert_channel_ids: [
          { id: 2, name: "Channel 2" },
          { id: 1, name: "Channel 1" },
        ],
      },
    ],
    [{ shuffle: true, headers: "list" }, { request_headers: [{ key: "B" }, { key: "x-api-key" }] }],
    [{ titleCaseHeaders: true }, { request_headers: [{ key: "X-Api-Key" }, { key: "B" }] }],
    [{ dates: "T" }, { maintenance_start_at: "2030-01-31T22:00:00", maintenance_end_at: null }],
    [{ dates: "space" }, { maintenance_start_at: "2030-01-31 22:00:00" }],
    [{ dates: "fraction" }, { maintenance_start_at: "2030-01-31T22:00:00.000000Z" }],
    [{ dates: "Z" }, { maintenance_start_at: "2030-01-31T22:00:00Z" }],
    [{ dates: "+00:00" }, { maintenance_start_at: "2030-01-31T22:00:00+00:00" }],
    [{ dates: "+02:00" }, { maintenance_start_at: "2030-01-31T22:00:00+02:00" }],
    [{ pauseShown: "paused" }, { paused: 1, pause: undefined }],
    [{ pauseShown: "paused_at" }, { paused_at: "then", pause: undefined }],
    [{ pauseShown: "hidden" }, { pause: undefined }],
    [{ password: "hidden" }, { request_auth_password: undefined }],
    [{ password: "masked" }, { request_auth_password: "********" }],
    [{ password: "plain" }, { request_auth_password: "secret" }],
    [{ password: "null" }, { request_auth_password: null }],
    [{ emptyAs: "empty" }, { alert_text_lookup: "", ssl_alert_days: 7 }],
    [{ emptyAs: "absent" }, { alert_text_lookup: undefined, ssl_alert_days: 7 }],
    [{ escapeHtml: true }, { name: "A &amp; &quot;B&quot; &lt;&#039;c&#039;&gt;" }],
    [{ urlStyle: "asSent" }, { url: "HTTPS://User@Example.COM?q=A" }],
    [{ urlStyle: "normalised" }, { url: "https://User@example.com/?q=A" }],
    [{ hidden: ["url", "uptime"] }, { url: undefined, uptime: undefined }],
    [{ extraFields: { team: { id: 1 }, tag: null } }, { team: { id: 1 }, tag: null }],
  ])("%j", async (dialect, expected) => {
    const emulator = await start({ dialect: { ...dialect, record: "bare" } });
    emulator.monitors.add(stored);
    const { json } = await call(emulator, "GET", "/monitors/1");
    expect(json).toMatchObject(JSON.parse(JSON.stringify(expected)) as object);
    for (const [name, value] of Object.entries(expected))
      if (value === undefined) expect(json).not.toHaveProperty(name);
  });

  test.each<[Partial<Dialect>, string, number, unknown]>([
    [{ record: "data" }, "POST", 201, { data: { id: 2, name: "new" } }],
    [{ record: "bare" }, "POST", 201, { id: 2, name: "new" }],
    [{ record: "named" }, "POST", 201, { domain: { id: 2, name: "new" } }],
    [{ createStatus: 200, createAnswer: "id", record: "bare" }, "POST", 200, { id: 2 }],
    [{ createAnswer: "empty" }, "POST", 201, ""],
    [{ createStatus: 204 }, "POST", 204, ""],
    [{ updateAnswer: "record" }, "PUT", 200, { data: { id: 1, name: "old" } }],
    [{ updateAnswer: "empty" }, "PUT", 200, ""],
    [{ updateAnswer: "message" }, "PUT", 200, { message: "The domain was updated." }],
    [{ deleteAnswer: "empty204" }, "DELETE", 204, ""],
    [{ deleteAnswer: "empty200" }, "DELETE", 200, ""],
    [{ deleteAnswer: "deleted" }, "DELETE", 200, { deleted: true }],
    [{ deleteAnswer: "record" }, "DELETE", 200, { data: { id: 1, name: "old" } }],
  ])("the answer of a write: %j %s", async (dialect, method, status, expected) => {
    const emulator = await start({ dialect });
    emulator.domains.add({ name: "old" });
    const path = method === "POST" ? "/domains" : "/domains/1";
    const reply = await call(emulator, method, path, method === "POST" ? "name=new" : "");
    expect(reply.status).toBe(status);
    if (expected === "") expect(reply.text).toBe("");
    else expect(reply.json).toMatchObject(expected as object);
  });

  test("names of domains are unique, or not, and stored in lower case if asked", async () => {
    const emulator = await start();
    expect((await call(emulator, "POST", "/domains", "name=A.com")).status).toBe(201);
    expect((await call(emulator, "POST", "/domains", "name=a.com")).json).toMatchObject({
      errors: { name: ["The name has already been taken."] },
    });
    emulator.dialect = { uniqueDomainNames: false, lowerCaseNames: true };
    expect((await call(emulator, "POST", "/domains", "name=A.com")).status).toBe(201);
    expect(emulator.domains.all().map(({ name }) => name)).toEqual(["A.com", "a.com"]);
  });

  test("the dialect changes while the emulator runs, and one that does not exist is an error", async () => {
    const emulator = await start({ dialect: { record: "bare" } });
    emulator.domains.add({ name: "a" });
    emulator.dialect.ids = "string";
    expect((await call(emulator, "GET", "/domains/1")).json).toMatchObject({ id: "1" });
    emulator.dialect = { record: "named" };
    expect((await call(emulator, "GET", "/domains/1")).json).toMatchObject({ domain: { id: 1 } });
    const wrong: object = { record: "xml", colour: 1, hidden: "name" };
    expect(() => {
      emulator.dialect = wrong;
    }).toThrow(
      'record must be one of "data", "bare", "named"; colour is not an option of the dialect; hidden must be a list',
    );
  });
});

test("a monitor has a new check in every answer but the first, and nothing else of it changes, unless it is settled", async () => {
  const checks = ["status", "last_checked_at", "response_time", "uptime"];
  for (const settled of [false, true]) {
    const emulator = await start({ settled });
    const created = await call(emulator, "POST", "/monitors", site);
    expect(created.json).toMatchObject({ data: { status: null, last_checked_at: null, uptime: null } });
    const reads = [];
    for (let count = 0; count < 5; count++) {
      const { json } = await call(emulator, "GET", "/monitors/1");
      reads.push((json as { data: Record<string, unknown> }).data);
    }
    expect(new Set(reads.map((one) => JSON.stringify(one))).size).toBe(settled ? 1 : 5);
    for (const check of checks) for (const one of reads) one[check] = null;
    expect(new Set(reads.map((one) => JSON.stringify(one))).size).toBe(1);
  }
});

describe("strange answers", () => {
  test.each<[Partial<Dialect>, string, string, number, unknown]>([
    [
      { envelope: "ownId" },
      "GET",
      "/domains/1",
      200,
      { id: 900_001, status: "ok", data: { id: 1, name: "old" } },
    ],
    [
      { envelope: "jsonApi" },
      ...(["GET", "/domains/1", 200] as const),
      { data: { type: "domains", id: "1", attributes: { name: "old" } } },
    ],
    [
      { envelope: "jsonApi", listBrief: true, paging: "none" },
      ...(["GET", "/domains", 200] as const),
      { data: [{ type: "domains", id: "1", attributes: { name: "old" } }] },
    ],
    [{ accepted: 202 }, "POST", "/domains", 202, undefined],
    [{ accepted: 204 }, "POST", "/domains", 204, undefined],
    [{ accepted: 202 }, "PUT", "/domains/1", 202, undefined],
    [{ accepted: 204 }, "PATCH", "/domains/1", 204, undefined],
    [{ behindLastPage: 404 }, "GET", "/domains?page=2", 404, { message: "Invalid page." }],
  ])("%j: %s %s", async (dialect, method, path, status, expected) => {
    const emulator = await start({ dialect });
    emulator.domains.add({ name: "old" });
    const form = method === "GET" ? undefined : method === "POST" ? "name=new" : "homepage_url=u";
    const reply = await call(emulator, method, path, form);
    expect(reply.status).toBe(status);
    if (expected === undefined) expect(reply.text).toBe("");
    else expect(reply.json).toMatchObject(expected as object);
    if (method === "POST") expect(emulator.domains.size).toBe(2);
    if (method.startsWith("P") && path !== "/domains")
      expect(emulator.domains.get(1)).toMatchObject({ homepage_url: "u" });
  });

  test.each([
    ["record", "{url}/api/v1/domains/1"],
    ["path", "/p/api/v1/domains/1"],
    ["job", "{url}/api/v1/jobs/700001"],
  ] as const)("Location names the %s: %s", async (location, expected) => {
    const emulator = await start({
      dialect: { createLocation: true, location, accepted: 202 },
      pathPrefix: "p",
    });
    const reply = await call(emulator, "POST", "/domains", "name=a");
    expect(reply.headers.get("location")).toBe(expected.replace("{url}", emulator.url));
  });

  test("a create of what is there answers the record that is there", async () => {
    const emulator = await start({ dialect: { firstOrCreate: true } });
    emulator.monitors.add({ ...site, interval: 300 });
    const again = await call(emulator, "POST", "/monitors", site);
    expect([again.status, again.json]).toMatchObject([200, { data: { id: 1, interval: 300 } }]);
    const other = await call(emulator, "POST", "/monitors", { ...site, url: "https://other.example" });
    expect([other.status, other.json]).toMatchObject([201, { data: { id: 2 } }]);
    emulator.domains.add({ name: "a" });
    expect((await call(emulator, "POST", "/domains", "name=a")).status).toBe(200);
    expect([emulator.monitors.size, emulator.domains.size]).toEqual([2, 1]);
  });

  test("lists in a record are JSON text, and the pause is a Unix time", async () => {
    const dialect = { listsAsText: true, pauseShown: "paused_at", pausedAt: "unix", record: "bare" } as const;
    const emulator = await start({ dialect, now: () => new Date("2030-01-01T00:00:00Z") });
    emulator.monitors.add({ ...site, alert_channel_ids: [1], request_headers: [{ key: "a", value: "b" }] });
    emulator.monitors.add({ ...site, pause: true });
    expect((await call(emulator, "GET", "/monitors/1")).json).toMatchObject({
      ...{ alert_channel_ids: "[1]", request_headers: '[{"key":"a","value":"b"}]', paused_at: null },
    });
    expect((await call(emulator, "GET", "/monitors/2")).json).toMatchObject({
      ...{ alert_channel_ids: "[]", paused_at: Date.parse("2030-01-01T00:00:00Z") / 1000 },
    });
    emulator.dialect = { ...dialect, headers: "map" };
    expect((await call(emulator, "GET", "/monitors/1")).json).toMatchObject({ request_headers: '{"a":"b"}' });
  });
});

describe("the file", () => {
  test("keeps records and the next id over a restart", async () => {
    const file = join(newFolder(), "state.json");
    const first = await start({ file });
    await call(first, "POST", "/domains", "name=a");
    await call(first, "POST", "/domains", "name=b");
    await call(first, "DELETE", "/domains/2");
    first.monitors.add({ ...site, request_headers: [{ key: "a", value: "b" }] });
    const [domains, monitors] = [first.domains.all(), first.monitors.all()];
    await first.stop();
    const second = await start({ file });
    expect([second.domains.all(), second.monitors.all()]).toEqual([domains, monitors]);
    expect(second.domains.add().id).toBe(3);
  });

  test.each(["{", "[]", '{"domains":{},"monitors":{}}'])(
    "of another content is refused: %s",
    async (content) => {
      const file = join(newFolder(), "other.json");
      writeFileSync(file, content);
      await expect(start({ file })).rejects.toThrow("is not a file of the emulator");
      expect(readFileSync(file, "utf8")).toBe(content);
    },
  );
});
