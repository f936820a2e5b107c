import { cli } from "./cli";
import type { Outcome } from "./cli";
import { Emulator } from "./emulator";
import type { Dialect } from "./emulator";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await Emulator.start();
  emulator.monitors.add({ name: "Home", url: "https://example.com/", interval: 60 });
});
afterEach(() => emulator.stop());

const doctor = (...args: string[]): Promise<Outcome> => cli(emulator, __dirname, ["doctor", ...args]);

test.each<[Partial<Dialect>, RegExp]>([
  [{}, /the list can be read; it is under `data`, and `links\.next` tells/],
  [{ paging: "nextPageUrl" }, /`next_page_url` tells of the next page/],
  [{ paging: "meta", record: "named" }, /`meta` tells which page it is[^]*a record is under `monitor`/],
  [
    { paging: "bare", list: "bare", record: "bare" },
    /it is bare, and nothing tells of further pages[^]*a record is bare/,
  ],
  [{ listBrief: true }, /lists leave out interval, .*, so records are read one by one/],
  [{ hidden: ["request_headers"] }, /the record 1 does not show requestHeaders; what is never shown/],
])("says how the install answers: %j", async (dialect, said) => {
  emulator.dialect = dialect;
  const { code, stdout, stderr } = await doctor();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(said);
  expect(stdout).toContain("ok       domains: there are none yet\n");
  expect(stdout).not.toContain(emulator.apiKey);
  expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
});

test("says what is wrong: code 1", async () => {
  emulator.apiKey = "another";
  const refused = await cli({ url: emulator.url, apiKey: "s3cret" }, __dirname, ["doctor"]);
  expect(refused).toMatchObject({ code: 1, stderr: "Not all is well; see above.\n" });
  expect(refused.stdout).toMatch(/failed {3}GET .* status 401.*UPTIME_API_KEY/);
  expect(refused.stdout).not.toContain("s3cret");
  const unset = await cli({ url: "", apiKey: "" }, __dirname, ["doctor"]);
  expect(unset).toMatchObject({ code: 1 });
  expect(unset.stdout).toMatch(/failed .*uptime:baseUrl is not set.*uptime:apiKey is not set/);
  emulator.fault = () => ({ kind: "answer", effect: false, status: 200, body: "<h1>Welcome</h1>" });
  expect((await doctor()).stdout).toMatch(/failed .*not JSON: "Welcome"/);
});

test("warns of a clock that differs, and of http without encryption", async () => {
  emulator.fault = () => ({
    kind: "answer",
    effect: false,
    status: 200,
    headers: { date: new Date(Date.now() - 600_000).toUTCString() },
    body: { data: [] },
  });
  const { code, stdout } = await doctor("--json");
  expect(code).toBe(0);
  const { findings } = JSON.parse(stdout) as { findings: { level: string; text: string }[] };
  expect(findings.filter(({ level }) => level === "warning").map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringMatching(/clock is (59\d|60\d) seconds ahead of the server's/)]),
  );
  const plain = await doctor(
    "--base-url",
    "http://192.0.2.1:9",
    "--max-retries",
    "0",
    "--timeout-seconds",
    "1",
  );
  expect(plain.stdout).toMatch(/failed .*must begin with https/);
  const allowed = await doctor("--base-url", "http://uptime.invalid", "--allow-http", "--max-retries", "0");
  expect(allowed.stdout).toMatch(
    /warning {2}uptime:baseUrl is http:\/\/uptime\.invalid: everybody on the way/,
  );
});

test("uses colours on a terminal, unless it is asked not to", async () => {
  const on = (env: NodeJS.ProcessEnv) => cli(emulator, __dirname, ["doctor"], { isTTY: true, env });
  expect((await on({})).stdout).toContain("\u001b[32mok");
  expect((await on({ NO_COLOR: "1" })).stdout).not.toContain("\u001b[32m");
});
