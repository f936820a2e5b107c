import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { join } from "node:path";

import { defaultApiKey, type Dialect, type Emulator } from "../../provider/emulator";
import { startEmulator } from "../support/emulator";
import { newFolder } from "../support/folder";
import { plainStored } from "../support/monitors";

// Tests of the provider see a rule or a dialect of the API only if the emulator has it.

const headers = { authorization: `Bearer ${defaultApiKey}`, accept: "application/json" };
const required = "name=Site&url=https://example.com&interval=60";
const site = { name: "Site", url: "https://example.com", interval: 60 };

/** Sends a request such as `PATCH /monitors/1 pause=1`; returns the status and what the body holds. */
async function ask(
  emulator: Emulator,
  request: string,
  init: RequestInit = {},
): Promise<[number, Record<string, unknown>, Headers]> {
  const [, method = "", path = "", form] = /^(\S+) (\S+)(?: (.*))?$/.exec(request) ?? [];
  const body = form === undefined ? null : new URLSearchParams(form);
  const response = await fetch(`${emulator.url}/api/v1${path}`, { method, body, headers, ...init });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const shown = isJson ? (JSON.parse(text) as Record<string, unknown>) : { text };
  return [response.status, shown, response.headers];
}

test("a monitor is stored with the documented defaults, shown, updated and deleted", async () => {
  const emulator = await startEmulator({ settled: true, now: () => new Date("2030-01-01T00:00:00Z") });
  const [status, created] = await ask(emulator, `POST /monitors ${required}`);
  const record = {
    id: 1,
    ...site,
    ...plainStored,
    ...{ status: null, last_checked_at: null, response_time: null, uptime: null },
    created_at: "2030-01-01T00:00:00.000Z",
    updated_at: "2030-01-01T00:00:00.000Z",
  };
  expect(emulator.monitors.all()).toEqual([record]);
  const visible = { ...record, request_auth_password: undefined };
  expect([status, created]).toEqual([201, { data: { ...visible, pause: 0 } }]);
  expect((await ask(emulator, "GET /monitors/1"))[1]).toEqual(created);
  const [, updated] = await ask(emulator, "PUT /monitors/1 ssl_alert_days=7&pause=true");
  expect(updated).toEqual({ data: { ...visible, ssl_alert_days: 7, pause: 1 } });
  expect((await ask(emulator, "DELETE /monitors/1"))[0]).toBe(204);
  expect((await ask(emulator, "GET /monitors/1"))[0]).toBe(404);
  expect((await ask(emulator, `POST /monitors ${required}`))[1]).toMatchObject({ data: { id: 2 } });
});

test("a record that is only marked as deleted has the time of the emulator's clock", async () => {
  const at = "2030-01-01T00:00:00.000Z";
  const emulator = await startEmulator({ dialect: { deletion: "marked" }, now: () => new Date(at) });
  await ask(emulator, `POST /monitors ${required}`);
  await ask(emulator, "DELETE /monitors/1");
  expect(emulator.monitors.get(1)).toMatchObject({ deleted_at: at, updated_at: at });
});

test("every field of a monitor is stored as a value of its type", async () => {
  const emulator = await startEmulator();
  const form =
    "name=A&url=u&interval=3600&alert_condition=url_text&alert_text_lookup=ok&alert_channel_ids[]=9" +
    "&alert_channel_ids[]=2&request_method=PATCH&request_headers[3][key]=X-A&request_headers[3][value]=1" +
    "&request_headers[0][key]=X-B&request_auth_username=me&request_auth_password=pw&cache_buster=1" +
    "&ssl_alert_days=0&domain_alert_days=60&maintenance_start_at=2028-02-29T23:59:59&maintenance_end_at=";
  expect((await ask(emulator, `POST /monitors ${form}`))[0]).toBe(201);
  expect(emulator.monitors.get("1")).toMatchObject({
    ...{ name: "A", url: "u", interval: 3600, alert_condition: "url_text", alert_text_lookup: "ok" },
    ...{ alert_channel_ids: [9, 2], request_method: "PATCH", cache_buster: 1, pause: false },
    request_headers: [
      { key: "X-A", value: "1" },
      { key: "X-B", value: "" },
    ],
    ...{ request_auth_username: "me", request_auth_password: "pw" },
    ...{ ssl_alert_days: 0, domain_alert_days: 60 },
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
  const emulator = await startEmulator();
  const { updated_at: _, ...before } = emulator.monitors.add({
    ...{ name: "A", url: "u", interval: 60, alert_condition: "url_text", alert_text_lookup: "t" },
    ...{ request_method: "PUT", cache_buster: 1, ssl_alert_days: 7, pause: true, alert_channel_ids: [1] },
    ...{ maintenance_start_at: "2030-01-01T00:00:00", request_headers: [{ key: "a", value: "b" }] },
  });
  expect((await ask(emulator, `PATCH /monitors/1 ${form}`))[0]).toBe(200);
  expect(emulator.monitors.get(1)).toMatchObject({ ...before, ...cleared });
});

test.each([
  ["refused", 422],
  ["ignored", 200],
] as const)("an empty value for alert days is %s", async (emptyDays, status) => {
  const emulator = await startEmulator({ dialect: { emptyDays } });
  emulator.monitors.add({ name: "A", url: "u", interval: 60, ssl_alert_days: 7 });
  expect((await ask(emulator, "PATCH /monitors/1 ssl_alert_days="))[0]).toBe(status);
  expect(emulator.monitors.get(1)).toMatchObject({ ssl_alert_days: 7 });
});

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
])("%s is refused, naming the field as it was sent", async (_, part, field) => {
  const emulator = await startEmulator();
  const form = new URLSearchParams(required);
  for (const name of new URLSearchParams(part).keys()) form.delete(name);
  const errors = { [field]: [expect.stringContaining(field)] };
  const [status, answer] = await ask(emulator, `POST /monitors ${form.toString()}&${part}`);
  expect([status, answer]).toEqual([422, { message: expect.any(String) as string, errors }]);
  expect(emulator.monitors.size).toBe(0);
});

test("a create names all required fields that are missing, an update needs none", async () => {
  const emulator = await startEmulator();
  const errors = Object.fromEntries(
    ["name", "url", "interval"].map((name) => [name, [`The ${name} field is required.`]]),
  );
  const message = "The name field is required. (and 2 more errors)";
  expect((await ask(emulator, "POST /monitors cache_buster=1"))[1]).toEqual({ message, errors });
  emulator.monitors.add(site);
  for (const [form, status] of Object.entries({ "": 200, "url=": 422, "pause=": 422 }))
    expect((await ask(emulator, `PATCH /monitors/1 ${form}`))[0]).toBe(status);
});

test.each<[string, number, Record<string, string>]>([
  ["GET /monitors", 401, { authorization: "" }],
  ["GET /monitors", 401, { authorization: "Bearer other" }],
  ["GET /monitors", 406, { accept: "" }],
  ["GET /monitors/1", 406, { accept: "*/*" }],
  ["POST /monitors {}", 415, { "content-type": "application/json" }],
  ["PUT /monitors/1 {}", 415, { "content-type": "text/plain" }],
  ["GET /monitor", 404, {}],
  ["GET /monitors/", 404, {}],
  ["GET /monitors/one", 404, {}],
  ["DELETE /monitors/7", 404, {}],
  ["DELETE /monitors", 405, {}],
  ["POST /monitors/1 name=a", 405, {}],
  ["GET /monitors/1?page=1", 422, {}],
  ...["per_page=20", "per_page=", "sort=up", "sort_by=interval", "search_by=id", "page=0", "limit=5"].map(
    (query): [string, number, Record<string, string>] => [`GET /monitors?${query}`, 422, {}],
  ),
  ["GET /domains?search_by=url", 422, {}],
])("%s is answered %i with the headers %j", async (request, expected, more) => {
  const emulator = await startEmulator();
  emulator.monitors.add(site);
  const [status, answer] = await ask(emulator, request, { headers: { ...headers, ...more } });
  const told = { message: expect.any(String) as string };
  expect([status, answer]).toEqual([expected, expect.objectContaining(told)]);
});

test("the last page has no next one, and the one after it is empty", async () => {
  const emulator = await startEmulator();
  for (let count = 0; count < 12; count++) emulator.domains.add({ name: `d${count}` });
  const last = { data: [{ id: 2 }, { id: 1 }], links: { next: null } };
  expect((await ask(emulator, "GET /domains?page=2"))[1]).toMatchObject(last);
  expect((await ask(emulator, "GET /domains?page=3"))[1]).toMatchObject({ data: [] });
});

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
  updated_at: "2030-01-01T00:00:00.000Z",
};
const channels = [1, 2].map((id) => ({ id, name: `Channel ${id}` }));

test.each<[Partial<Dialect>, Record<string, unknown>]>([
  [{ ids: "string" }, { id: "1" }],
  [{ numbers: "string" }, { interval: "60", ssl_alert_days: "7", domain_alert_days: null }],
  [{ booleans: "number" }, { cache_buster: 1, pause: 1 }],
  [{ booleans: "string" }, { cache_buster: "1", pause: "1" }],
  [{ booleans: "boolean" }, { cache_buster: true, pause: true }],
  [{ headers: "map" }, { request_headers: { "x-api-key": "1&2", B: "" } }],
  [{ headers: "emptyListMap" }, { request_headers: { "x-api-key": "1&2", B: "" } }],
  [{ channels: "strings" }, { alert_channel_ids: ["1", "2"] }],
  [{ channels: "objects", shuffle: true }, { alert_channel_ids: [...channels].reverse() }],
  [{ shuffle: true, headers: "list" }, { request_headers: [{ key: "B" }, { key: "x-api-key" }] }],
  [{ titleCaseHeaders: true }, { request_headers: [{ key: "X-Api-Key" }, { key: "B" }] }],
  [
    { listsAsText: true },
    { alert_channel_ids: "[1,2]", request_headers: expect.stringMatching(/^\[\{"key"/) },
  ],
  [{ listsAsText: true, headers: "map" }, { request_headers: '{"x-api-key":"1&2","B":""}' }],
  [{ dates: "T" }, { maintenance_start_at: "2030-01-31T22:00:00", maintenance_end_at: null }],
  [{ dates: "space" }, { maintenance_start_at: "2030-01-31 22:00:00" }],
  [{ dates: "fraction" }, { maintenance_start_at: "2030-01-31T22:00:00.000000Z" }],
  [{ dates: "Z" }, { maintenance_start_at: "2030-01-31T22:00:00Z" }],
  [{ dates: "+00:00" }, { maintenance_start_at: "2030-01-31T22:00:00+00:00" }],
  [{ dates: "+02:00" }, { maintenance_start_at: "2030-01-31T22:00:00+02:00" }],
  [{ pauseShown: "paused" }, { paused: 1, pause: undefined }],
  [{ pauseShown: "paused_at" }, { paused_at: stored.updated_at, pause: undefined }],
  [{ pauseShown: "paused_at", pausedAt: "unix" }, { paused_at: Date.UTC(2030, 0, 1) / 1000 }],
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
])("a record is shown in the dialect %j", async (dialect, expected) => {
  const emulator = await startEmulator({ dialect: { ...dialect, record: "bare" } });
  emulator.monitors.add(stored);
  const [, shown] = await ask(emulator, "GET /monitors/1");
  for (const [name, value] of Object.entries(expected))
    if (value === undefined) expect(shown).not.toHaveProperty(name);
    else expect(shown).toMatchObject({ [name]: value });
});

const empty = { text: "" };
const jsonApi = { type: "domains", id: "1", attributes: { name: "old" } };

test.each<[Partial<Dialect>, string, number, object]>([
  [{ record: "data" }, "POST /domains name=new", 201, { data: { id: 2, name: "new" } }],
  [{ record: "bare" }, "POST /domains name=new", 201, { id: 2, name: "new" }],
  [{ record: "named" }, "POST /domains name=new", 201, { domain: { id: 2, name: "new" } }],
  [{ createStatus: 200, createAnswer: "id", record: "bare" }, "POST /domains name=new", 200, { id: 2 }],
  [{ createAnswer: "empty" }, "POST /domains name=new", 201, empty],
  [{ createStatus: 204 }, "POST /domains name=new", 204, empty],
  [{ accepted: 202 }, "POST /domains name=new", 202, empty],
  [{ accepted: 204 }, "POST /domains name=new", 204, empty],
  [{ firstOrCreate: true }, "POST /domains name=old", 200, { data: { id: 1 } }],
  [{ firstOrCreate: true }, "POST /domains name=new", 201, { data: { id: 2 } }],
  [{}, "POST /domains name=OLD", 422, { errors: { name: ["The name has already been taken."] } }],
  [
    { uniqueDomainNames: false, lowerCaseNames: true },
    "POST /domains name=OLD",
    201,
    { data: { name: "old" } },
  ],
  // The name of a domain is ignored in an update.
  [{ updateAnswer: "record" }, "PUT /domains/1 name=new", 200, { data: { id: 1, name: "old" } }],
  [{ updateAnswer: "empty" }, "PUT /domains/1 homepage_url=u", 200, empty],
  [{ updateAnswer: "message" }, "PUT /domains/1 homepage_url=u", 200, { message: "The domain was updated." }],
  [{ accepted: 202 }, "PUT /domains/1 homepage_url=u", 202, empty],
  [{ accepted: 204 }, "PATCH /domains/1 homepage_url=u", 204, empty],
  [{ deleteAnswer: "empty204" }, "DELETE /domains/1", 204, empty],
  [{ deleteAnswer: "empty200" }, "DELETE /domains/1", 200, empty],
  [{ deleteAnswer: "deleted" }, "DELETE /domains/1", 200, { deleted: true }],
  [{ deleteAnswer: "record" }, "DELETE /domains/1", 200, { data: { id: 1, name: "old" } }],
  [{ envelope: "ownId" }, "GET /domains/1", 200, { id: 900_001, status: "ok", data: { id: 1, name: "old" } }],
  [{ envelope: "jsonApi" }, "GET /domains/1", 200, { data: jsonApi }],
  [{ envelope: "jsonApi", listBrief: true, paging: "none" }, "GET /domains", 200, { data: [jsonApi] }],
  [{ behindLastPage: 404 }, "GET /domains?page=2", 404, { message: "Invalid page." }],
])("in the dialect %j, %s is answered %i", async (dialect, request, expected, body) => {
  const emulator = await startEmulator({ dialect });
  emulator.domains.add({ name: "old" });
  const [status, answer] = await ask(emulator, request);
  expect(status).toBe(expected);
  expect(answer).toMatchObject(body);
  const [id, stored] = request.startsWith("POST") ? [2, { name: "new" }] : [1, { homepage_url: "u" }];
  if (/^POST.*=new|=u$/.test(request)) expect(emulator.domains.get(id)).toMatchObject(stored);
});

test.each([
  ["record", "{url}/api/v1/domains/1"],
  ["path", "/p/api/v1/domains/1"],
  ["job", "{url}/api/v1/jobs/700001"],
] as const)("Location names the %s: %s", async (location, expected) => {
  const dialect = { createLocation: true, location, accepted: 202 } as const;
  const emulator = await startEmulator({ dialect, pathPrefix: "p" });
  const [, , answered] = await ask(emulator, "POST /domains name=a");
  expect(answered.get("location")).toBe(expected.replace("{url}", emulator.url));
});

test("the dialect can be changed at any time, and an unknown one is an error", async () => {
  const emulator = await startEmulator({ dialect: { record: "bare" } });
  emulator.domains.add({ name: "a" });
  emulator.dialect.ids = "string";
  expect((await ask(emulator, "GET /domains/1"))[1]).toMatchObject({ id: "1" });
  emulator.dialect = { record: "named" };
  expect((await ask(emulator, "GET /domains/1"))[1]).toMatchObject({ domain: { id: 1 } });
  const wrong: object = { record: "xml", colour: 1, hidden: "name" };
  expect(() => (emulator.dialect = wrong)).toThrow(
    'record must be one of "data", "bare", "named"; colour is not an option of the dialect; hidden must be a list',
  );
});

test.each([true, false])(
  "every answer shows a monitor with a new check, unless the emulator is settled: %j",
  async (settled) => {
    const emulator = await startEmulator({ settled });
    const [, created] = await ask(emulator, `POST /monitors ${required}`);
    expect(created).toMatchObject({ data: { status: null, last_checked_at: null, uptime: null } });
    const reads: Record<string, unknown>[] = [];
    for (let count = 0; count < 5; count++)
      reads.push((await ask(emulator, "GET /monitors/1"))[1].data as Record<string, unknown>);
    const different = (): number => new Set(reads.map((one) => JSON.stringify(one))).size;
    expect(different()).toBe(settled ? 1 : 5);
    for (const one of reads)
      Object.assign(one, { status: null, last_checked_at: null, response_time: null, uptime: null });
    expect(different()).toBe(1);
  },
);

test("the file keeps records and the next id over a restart", async () => {
  const file = join(newFolder(), "state.json");
  const first = await startEmulator({ file });
  for (const request of ["POST /domains name=a", "POST /domains name=b", "DELETE /domains/2"])
    await ask(first, request);
  first.monitors.add({ ...site, request_headers: [{ key: "a", value: "b" }] });
  await first.stop();
  const second = await startEmulator({ file });
  const all = ({ domains, monitors }: Emulator) => [domains.all(), monitors.all()];
  expect(all(second)).toEqual(all(first));
  expect(second.domains.add().id).toBe(3);
});

test("the file can be read by its owner only, and is written through no link", async () => {
  const folder = newFolder();
  const [file, victim] = [join(folder, "state.json"), join(folder, "victim")];
  writeFileSync(victim, "untouched");
  symlinkSync(victim, `${file}.part`);
  const emulator = await startEmulator({ file });
  emulator.domains.add({ name: "a" });
  await emulator.stop();
  expect(readFileSync(file, "utf8")).toContain('"name":"a"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(victim, "utf8")).toBe("untouched");
});

test.each(["{", "[]", '{"domains":{},"monitors":{}}'])(
  "a file with other content is refused: %s",
  async (content) => {
    const file = join(newFolder(), "other.json");
    writeFileSync(file, content);
    await expect(startEmulator({ file })).rejects.toThrow("is not a file of the emulator");
    expect(readFileSync(file, "utf8")).toBe(content);
  },
);

test.each([
  ["127.0.0.1:8080", 200],
  ["localhost", 200],
  ["proxied.example", 200],
  ["evil.example", 421],
  ["127.0.0.1.evil.example:80", 421],
])("a request for the host %s is answered %i", async (host, expected) => {
  const emulator = await startEmulator({ hosts: ["proxied.example"] });
  const status = await new Promise((resolve, reject) => {
    send(`${emulator.url}/api/v1/domains`, { headers: { ...headers, host } }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on("error", reject)
      .end();
  });
  expect(status).toBe(expected);
});

test("a body above a mebibyte is refused before it is read to its end, whatever the key", async () => {
  const emulator = await startEmulator();
  const large = { ...headers, authorization: "Bearer other", "content-length": 2 ** 30 };
  const status = await new Promise((resolve, reject) => {
    const request = send(`${emulator.url}/api/v1/domains`, { method: "POST", headers: large }, (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.on("error", reject).write("a".repeat(2 ** 20 + 1));
  });
  expect(status).toBe(413);
  expect(emulator.requests).toEqual([]);
});
