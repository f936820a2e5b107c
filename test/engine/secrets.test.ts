import { canary, leaksIn } from "../support/canary.cjs";
import { answer } from "../support/emulator";
import { sigKey } from "../support/marks";
import { home } from "../support/monitors";
import { fullTest, sample } from "../support/size";
import { imports, namesIn, recordOf, startStack, writesTo } from "../support/stack";
import type { StateResource } from "../support/workspace";

const token = canary("token");

const encrypted = { [sigKey]: expect.any(String) as string, ciphertext: expect.any(String) as string };

function expectEncrypted(resource: StateResource | undefined, ...keys: ("inputs" | "outputs")[]): void {
  for (const key of keys)
    expect(resource?.[key]).toMatchObject({ requestAuthPassword: encrypted, requestHeaders: encrypted });
}

test("secrets reach the API, and no output and no file", async () => {
  const program = (version: number) => `${imports}
    const secrets = (name) => ({
      requestAuthUsername: "user",
      requestAuthPassword: "${canary("password-")}" + name + '-"&<é-${version}',
      requestHeaders: [{ key: "X-Token", value: "${canary("header-")}" + name + '-"&<é-${version}' }, { key: "Accept", value: "*/*" }],
    });
    const plain = new Monitor("plain", site("plain", secrets("plain")));
    new Monitor("undeclared", site("undeclared"));
    new Monitor("removed", site("removed", ${version} === 1 ? secrets("removed") : {}));
    new Monitor("paused", site("paused", { ...secrets("paused"), pause: true }));
    new Monitor("refused", site("refused", secrets("refused")));
    // What a transform adds, nobody has marked.
    const transforms = [({ props, opts }) => ({ props: { ...props, ...secrets("transformed") }, opts })];
    new Monitor("transformed", site("transformed"), { transforms });
    const seen = Monitor.get("seen", "1");
    exports.password = plain.requestAuthPassword;
    exports.headers = plain.requestHeaders;
    exports.seen = pulumi.all([seen.requestAuthPassword, seen.requestHeaders]);
    exports.attributes = plain.attributes;`;
  const server = { apiKey: token, dialect: { password: "plain" } } as const;
  const { emulator, workspace } = await startStack({ program: program(1), env: {}, emulator: server });
  const byHand = {
    request_auth_password: canary("password-by-hand"),
    request_headers: [{ key: "X-Token", value: canary("header-by-hand") }],
  };
  emulator.monitors.add({ name: "seen", url: "https://seen.example/", interval: 60, ...byHand });
  const config = { "uptime:baseUrl": emulator.url, "uptime:logLevel": "debug" };
  await workspace.setConfig({ ...config, "uptime:apiKey": { value: token, secret: true } });
  const record = (name: string) => recordOf(emulator.monitors, name);
  const secretsOf = (name: string, version: number) => ({
    request_auth_password: `${canary(`password-${name}`)}-"&<é-${version}`,
    request_headers: [
      { key: "X-Token", value: `${canary(`header-${name}`)}-"&<é-${version}` },
      { key: "Accept", value: "*/*" },
    ],
  });

  // The API repeats what it does not like, in the ways in which servers do.
  emulator.fault = ({ method, path, body }) => {
    const form = new Map(body);
    if (method === "PATCH" && path.endsWith(String(record("paused")?.id)))
      return { kind: "answer", effect: false };
    if (method !== "POST" || form.get("name") !== "refused") return undefined;
    const password = form.get("request_auth_password") ?? "";
    const errors = {
      request_auth_password: [`${password} is too weak`, `${JSON.stringify(password)} is too weak`],
      "request_headers.0.value": [
        `${form.get("request_headers[0][value]")?.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;")} is too weak`,
      ],
    };
    return answer(422, { message: `Not ${encodeURIComponent(password)}.`, errors });
  };
  // What is printed and kept is looked through by the workspace itself.
  const failed = await workspace.failed("up", "--continue-on-error");
  expect(failed).toContain("requestAuthPassword");
  expect(failed).toMatch(/was created with the id \d+, but PATCH/);
  const [, diagnostics = ""] = failed.split("Diagnostics:");
  expect(diagnostics).toMatch(/^ +uptime: POST \/api\/v1\/monitors 422, \d+ ms/m);
  expect(diagnostics.match(/^ +uptime: /gm)).toHaveLength(emulator.requests.length);
  const kept = await workspace.resources();
  expect(kept).not.toHaveProperty("refused");
  expect(kept.paused?.id).toBe(String(record("paused")?.id));
  expect(record("paused")).toMatchObject({ pause: false });
  expectEncrypted(kept.plain, "inputs", "outputs");
  expectEncrypted(kept.paused, "inputs", "outputs");
  expectEncrypted(kept.transformed, "inputs", "outputs");
  expectEncrypted(kept.seen, "outputs");
  expect(record("plain")).toMatchObject(secretsOf("plain", 1));

  // The next `up` finishes what is half done, with no second record.
  emulator.fault = undefined;
  emulator.forget();
  await workspace.up();
  expect(namesIn(emulator.monitors).join(" ")).toBe(
    "paused plain refused removed seen transformed undeclared",
  );
  expect(record("paused")).toMatchObject({ pause: true });
  expect(writesTo(emulator).sort()).toEqual([
    `PATCH /api/v1/monitors/${String(record("paused")?.id)}`,
    "POST /api/v1/monitors",
  ]);

  // Other secrets, which the API takes and does not store.
  await workspace.write(program(2));
  emulator.monitors.edit(record("undeclared")?.id ?? 0, byHand);
  emulator.forget();
  const preview = await workspace.preview("--diff");
  expect(preview.output).toMatch(/~ 5 to update/);
  expect(preview.output).toMatch(/^ *uptime: GET \/api\/v1\/monitors\/1 200, /m);
  expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  emulator.dialect = { password: "plain", notStored: ["request_headers"] };
  const lost = await workspace.failed("up", "--continue-on-error");
  expect(lost).toContain("requestHeaders (what is there differs from what was sent)");
  expectEncrypted((await workspace.resources()).plain, "inputs", "outputs");

  emulator.dialect = { password: "plain" };
  await workspace.up();
  for (const name of ["plain", "paused", "refused", "transformed"])
    expect(record(name)).toMatchObject(secretsOf(name, 2));
  expect(record("removed")).toMatchObject({ request_auth_password: null, request_headers: [] });
  // Where none is declared any more, what is set by hand is drift, and a secret all the same.
  emulator.monitors.edit(record("removed")?.id ?? 0, byHand);
  await workspace.refresh("--diff");
  const refreshed = await workspace.resources();
  for (const name of ["plain", "paused", "refused", "transformed"])
    expectEncrypted(refreshed[name], "inputs", "outputs");
  const headers = { requestHeaders: encrypted };
  expect(refreshed.removed).toMatchObject({ inputs: headers, outputs: headers });
  // Of a record that is only read, the inputs are what the program says: nothing.
  expect(refreshed.seen?.outputs).toMatchObject(headers);
  expect(Object.keys(refreshed.seen?.inputs ?? {})).toEqual(["__provider"]);
  expect(refreshed.undeclared?.outputs?.attributes).not.toHaveProperty("request_headers");
  expect(refreshed.undeclared?.outputs?.attributes).not.toHaveProperty("request_auth_password");

  await workspace.up();
  expect(record("removed")).toMatchObject({ request_headers: [] });

  // A masked password is no drift, nor is one that is not shown.
  emulator.forget();
  for (const password of sample<("masked" | "null")[]>(["masked"], ["masked"], ["masked", "null"])) {
    emulator.dialect = { password };
    await workspace.preview("--refresh", "--diff", "--expect-no-changes");
  }
  expect(emulator.writes()).toEqual([]);
  expect((await workspace.pulumi("stack", "export")).output).toContain("requestHeaders");
  expect((await workspace.pulumi("stack", "output", "--json")).output).toContain("[secret]");
});

// Pulumi reads an import before the program's inputs are known, and then stores what it has read without marks.
test("a secret URL is adopted by the plugin, and not imported", async () => {
  const url = `https://example.com/hook?token=${canary("url-token")}`;
  const program = (option: string) => `
    const pulumi = require("@pulumi/pulumi");
    const { Monitor } = require("pulumi-uptime/native");
    const url = pulumi.secret(${JSON.stringify(url)});
    exports.url = new Monitor("home", { ...${JSON.stringify(home)}, url }, { ${option} }).url;`;
  const { emulator, workspace } = await startStack({ program: program('import: "1"') });
  emulator.dialect = { extraFields: { last_request: `GET ${url}` } };
  emulator.monitors.add({ ...home, url });
  const reason = "import of a monitor is not possible if the program marks url as a secret";
  expect(await workspace.failed("preview")).toContain(reason);
  const { code, output } = await workspace.run(["up", "--yes"]);
  expect([code, output]).toEqual([expect.any(Number), expect.stringContaining(reason)]);
  expect(code).not.toBe(0);
  expect(await workspace.resources()).toEqual({});

  await workspace.write(program(""));
  await workspace.setConfig({ "uptime:adoptExisting": "true" });
  await workspace.up("--diff");
  const attributes = { last_request: "(the server repeats a secret)" };
  expect(await workspace.resources()).toMatchObject({
    home: { id: "1", inputs: { url: encrypted }, outputs: { url: encrypted, attributes } },
  });
  expect(writesTo(emulator)).toEqual([]);
});

// Under `test:full` every workspace looks through its logs, for what holds here.
fullTest(
  "a log that Pulumi keeps has no key from the environment, and other secrets only if it is decrypted",
  async () => {
    const program = `
    const { Monitor } = require("pulumi-uptime/native");
    new Monitor("home", { ...${JSON.stringify(home)}, requestAuthPassword: "${canary("kept-password")}" });`;
    const { emulator, workspace } = await startStack({ program });
    await workspace.up();
    const [log, ...others] = await workspace.keptLogs();
    expect(others).toEqual([]);
    expect(leaksIn(log?.raw ?? "")).toEqual([]);
    expect(log?.text).toContain("Provider");
    // docs/security.md says so.
    expect(leaksIn(log?.text ?? "")).toEqual(["kept-password"]);
    expect(log?.text).not.toContain(emulator.apiKey);
  },
);
