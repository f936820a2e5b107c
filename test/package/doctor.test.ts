import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { runCommand } from "../../provider/cli/commands";
import type { ProgramReport } from "../../provider/cli/doctor/program";
import { programFindings } from "../../provider/cli/doctor/program-findings";
import { NamesakeFinder } from "../../provider/cli/doctor/namesakes";
import { errorsIn } from "../../provider/cli/shared/preview";
import { commandSettings } from "../../provider/cli/shared/setting-options";
import { dynamicType } from "../../provider/common/pulumi";
import { monitor } from "../../provider/definitions/monitor";
import type { Dialect } from "../../provider/emulator";
import { Session } from "../../provider/lifecycle/session";
import { cli, emulator, folder, type Outcome, unset, withCli, withStack } from "../support/cli";
import { answer, startEmulator } from "../support/emulator";

withCli();
beforeEach(() => {
  emulator.monitors.add({ name: "Home", url: "https://example.com/", interval: 60 });
});

const doctor = (...args: string[]): Promise<Outcome> => doctorWith({}, ...args);
const doctorWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(emulator, folder, ["doctor", ...args], { env });
/** Runs it without a server's settings in the environment. */
const doctorWithout = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(unset, folder, ["doctor", ...args], { env });
const write = (file: string, content: string, mode = 0o666): void =>
  writeFileSync(join(folder, file), content, { mode });

test.each<[Partial<Dialect>, RegExp]>([
  [{}, /monitors: 1 record\n$/],
  [{ paging: "bare", list: "bare", record: "bare" }, /monitors: 1 record\n$/],
  [{ listBrief: true }, /lists leave out interval, .*, so records are read one by one/],
  [{ hidden: ["request_headers"] }, /record 1 does not show requestHeaders; a field that is never shown/],
])("reports how the server answers: %j", async (dialect, said) => {
  emulator.dialect = dialect;
  const { code, stdout, stderr } = await doctor();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(said);
  expect(stdout).toContain("ok       domains: no records yet\n");
  expect(stdout).not.toContain(emulator.apiKey);
  expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
});

test("lists the channels that monitors use, and records that look the same", async () => {
  const shop = { name: "shop", url: "https://shop.example/", interval: 60 };
  for (const ids of [[7], [7, 8], [9, 7]]) emulator.monitors.add({ ...shop, alert_channel_ids: ids });
  emulator.monitors.edit(4, { url: "HTTPS://Shop.example" });
  const { code, stdout } = await doctor();
  expect(code).toBe(0);
  expect(stdout).toContain(
    "ok       monitors: the alertChannelIds in use: 7 (3 monitors), 8 (1 monitor), 9 (1 monitor)\n",
  );
  expect(stdout).toContain("warning  monitors: records with the same name and url: 2 and 3 and 4\n");
});

/** What is said of a program that creates monitors, each of which is like a record; or of one whose preview fails. */
function findingsOf(more: Partial<ProgramReport>, like = {}, titles: string[] = []) {
  const namesakes = [
    {
      id: "9",
      differs: [],
      owner: undefined,
      adoptExisting: false,
      adoptSetting: "uptime:adoptExisting",
      ...like,
    },
  ];
  const planned = titles.map((title) => ({
    title,
    operation: "create" as const,
    record: undefined,
    namesakes,
  }));
  const lists = { refused: [], errors: [], unchecked: [], withoutChannels: [], twins: [] };
  return programFindings({ resources: 2, usesStackSettings: true, ...lists, planned, ...more });
}

test("says of two equal resources that only one can adopt a record", () => {
  const titles = ["Monitor a", "Monitor b"];
  const twins = [{ same: "name and url", resources: titles }];
  expect(findingsOf({ twins }, { adoptExisting: true }, titles)).toEqual([
    { code: "program-plan", level: "ok", text: "Monitor a: adopts record 9." },
    { code: "program-plan", level: "ok", text: "Monitor b: adopts record 9." },
    {
      code: "program-twins",
      level: "warning",
      text: "Several new resources have the same name and url: Monitor a, Monitor b. If they are to adopt a record, only one of them can.",
    },
    { code: "program", level: "ok", text: "The program declares 2 resources." },
  ]);
});

test("says of a program without changes that there is nothing to do", () => {
  const [finding] = findingsOf({});
  expect(finding?.text).toBe("The program declares 2 resources, and there is nothing to do.");
});

test.each([
  [[], "To adopt it, name its id with the option import, or set"],
  [["interval"], "To adopt it, first declare what is there; then name its id with the option import, or set"],
])("says how to adopt a record that differs in %j", (differs, advice) => {
  const texts = findingsOf({}, { differs }, ["Monitor a"]).map(({ text }) => text);
  expect(texts.join()).toContain(advice);
});

test("does not advise adoptExisting, which refuses several equal records, if there are several", () => {
  const adoptSetting = "adoptExisting of the provider eu";
  const one = { differs: [], owner: undefined, adoptExisting: false, adoptSetting };
  const namesakes = ["8", "9"].map((id) => ({ id, ...one }));
  const planned = [{ title: "Monitor a", operation: "create" as const, record: undefined, namesakes }];
  const texts = findingsOf({ planned }).map(({ text }) => text);
  expect(texts.join()).toContain("record 8 is equal; record 9 is equal. To adopt one, name its id");
  expect(texts.join()).toContain("adoptExisting of the provider eu refuses several that are equal");
});

test("--program shows why a preview failed, without a stack trace", () => {
  const errors = ["Error: There is no token\n    at Object.<anonymous> (index.ts:2:1)"];
  const texts = findingsOf({ errors }).map(({ text }) => text);
  expect(texts).toEqual(["The preview failed: Error: There is no token"]);
});

test("an error of a program has no colors, which Pulumi's SDK for Node.js gives the frames of its stack", () => {
  const message =
    "error: Error: no token\n\u001b[90m    at Module._load (node:internal/loader:1:2)\u001b[39m\n";
  const found = errorsIn({ steps: [], diagnostics: [{ message, severity: "error" }] });
  expect(found).toEqual(["Error: no token\n    at Module._load (node:internal/loader:1:2)"]);
});

test("a preview that has failed without a reason may violate a policy: Pulumi leaves that out of its JSON", () => {
  const errorsOf = (...messages: string[]) =>
    errorsIn({ steps: [], diagnostics: messages.map((message) => ({ message, severity: "error" })) });
  const reason = "error: Preview failed: resource a has a problem\n";
  expect(errorsOf("error: preview failed", reason)).toEqual(["resource a has a problem"]);
  expect(errorsOf("error: preview failed")).toEqual([
    "Pulumi does not say why. With --json it leaves out what violates a policy: run `pulumi preview` without it.",
  ]);
  expect(errorsOf()).toEqual([]);
});

test("names the resource that has a record like a new one only if it is of the same account", async () => {
  const env = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
  const session = new Session();
  const settings = await commandSettings({}, { env, session });
  const type = dynamicType(monitor);
  const outputs = { name: "Home", url: "https://example.com/" };
  const provider = "urn:pulumi:a::b::pulumi:providers:pulumi-nodejs::default::id";
  const resource = { urn: `urn:pulumi:a::b::${type}::web`, type, id: "1" };
  const ownerFor = async (account?: string) => {
    const deployment = { resources: [{ ...resource, outputs: { ...outputs, account } }] };
    const finder = new NamesakeFinder({ version: 3, deployment }, settings, session);
    const [found] = await finder.find({ definition: monitor, provider, inputs: { values: outputs } });
    return found?.owner;
  };
  expect([await ownerFor(), await ownerFor("eu")]).toEqual(["Monitor web", undefined]);
});

test("shows neither name nor URL of records that look the same, which a program may have as secrets", async () => {
  const twin = { name: "canary-name", url: "https://me:s3cret@canary.example/", interval: 60 };
  for (const one of [twin, twin]) emulator.monitors.add(one);
  const { stdout } = await doctor();
  expect(stdout).toContain("records with the same name and url: 2 and 3\n");
  expect(stdout).not.toMatch(/s3cret|canary/);
});

test("shows no API key that records repeat, in a channel's name, in an encoding or in what looks the same", async () => {
  const name = Buffer.from(`for ${emulator.apiKey}`).toString("base64");
  const twin = { name, url: "https://a.example/", interval: 60 };
  for (const one of [twin, twin]) emulator.monitors.add(one);
  const { stdout } = await doctor();
  expect(stdout).not.toContain(name);
  const record = { ...twin, id: 1, alert_channel_ids: [{ id: 4, name: `Ops ${emulator.apiKey}` }] };
  emulator.fault = ({ path }) => {
    if (path.endsWith("/domains")) return answer(200, { data: [] });
    return answer(200, { data: path.endsWith("/monitors") ? [record] : record });
  };
  expect((await doctor()).stdout).toContain("the alertChannelIds in use: 4 (1 monitor)\n");
});

test("reports what is wrong, with exit code 1", async () => {
  emulator.apiKey = "another";
  const refused = await cli({ url: emulator.url, apiKey: "s3cret" }, folder, ["doctor"]);
  expect(refused).toMatchObject({ code: 1, stderr: "Some checks failed; see above.\n" });
  // Once, although there are two kinds of record.
  expect(refused.stdout.match(/^failed .*$/gm)).toEqual([
    expect.stringMatching(/^failed {3}GET .* status 401.*UPTIME_API_KEY/),
  ]);
  expect(refused.stdout).not.toContain("s3cret");
  const without = await doctorWithout({});
  expect(without.code).toBe(1);
  expect(without.stdout).toMatch(
    /failed .*uptime:baseUrl is not set.*uptime:apiKey is not set.* has no Pulumi\.yaml, so settings come only from/,
  );
  emulator.fault = () => answer(200, "<h1>Welcome</h1>");
  expect((await doctor()).stdout).toMatch(/failed .*not JSON: "Welcome"/);
  emulator.fault = () => answer(200, { hello: "you" });
  expect((await doctor()).stdout).toMatch(/failed .*did not return a list of domains.*Check UPTIME_BASE_URL/);
});

test("asks the second server also if the first one refuses the key", async () => {
  const other = await startEmulator({ apiKey: "other-key" });
  const { code, stdout } = await doctor("--base-url", other.url, "--monitors-base-url", emulator.url);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^failed {3}GET .*\/domains.* status 401.*$/m);
  expect(stdout).toContain("monitors: 1 record\n");
});

test("tells what it has found before it asks the server, and asks one that refuses connections only for seconds", async () => {
  const told: string[] = [];
  const context = { cwd: folder, env: { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey } };
  const stream = { write: (text: string) => told.push(text) };
  let toldBefore = "";
  emulator.fault = () => {
    toldBefore ||= told.join("");
    return undefined;
  };
  expect(await runCommand(["doctor"], { ...context, stdout: stream, stderr: stream })).toBe(0);
  expect(toldBefore).toMatch(/^ok {7}pulumi-uptime .*\n[^]*^ok {7}The API key comes from UPTIME_API_KEY\n$/m);
  await emulator.stop();
  const { code, stdout } = await doctor();
  expect(code).toBe(1);
  expect(stdout.match(/^failed .*$/gm)).toEqual([
    expect.stringMatching(/GET .*\/domains failed: the connection was refused\. Check UPTIME_BASE_URL/),
  ]);
}, 30_000);

test("shows on a terminal what it waits for, and asks a second server if the first refuses connections", async () => {
  const there = emulator.url;
  const gone = await startEmulator();
  await gone.stop();
  const env = { UPTIME_MONITORS_BASE_URL: there };
  const { stdout, stderr } = await cli({ url: gone.url, apiKey: gone.apiKey }, folder, ["doctor"], {
    env,
    isTTY: true,
  });
  expect(stdout).toMatch(/domains failed: the connection was refused[^]*monitors: 1 record\n$/);
  expect(stderr).toContain("Reading domains …");
});

test("checks every kind of record, because a key may have rights to one only", async () => {
  emulator.fault = ({ path }) => (path.includes("/domains") ? answer(403) : undefined);
  const { code, stdout } = await doctor();
  expect(code).toBe(1);
  expect(stdout.match(/^failed .*$/gm)).toEqual([expect.stringMatching(/domains.* status 403: No\./)]);
  expect(stdout).toContain("ok       monitors: 1 record\n");
});

test.each([
  ["Pulumi CLI", "3.99.0", false],
  ["Pulumi CLI", "3.200.0", true],
  ["@pulumi/pulumi", "3.150.0", false],
  ["@pulumi/pulumi", "3.200.0", true],
])("reports whether the project's %s is recent enough: %s", async (name, version, isRecent) => {
  const env = withStack(folder, {});
  mkdirSync(join(folder, "node_modules/@pulumi/pulumi"), { recursive: true });
  if (name === "Pulumi CLI") write(join("bin", "pulumi"), `#!/bin/sh\necho v${version}\n`);
  else write("node_modules/@pulumi/pulumi/package.json", JSON.stringify({ version }));
  const { code, stdout } = await doctorWith(env);
  expect(code).toBe(isRecent ? 0 : 1);
  const old = `failed   ${name} ${version} is too old: install 3.200.0 or later\n`;
  expect(stdout).toContain(isRecent ? `ok       ${name} ${version}\n` : old);
});

test("takes the project's folder from --program or from --cwd, not from both", async () => {
  expect(await doctor("--program", "site", "--cwd", folder)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("'--cwd <dir>' cannot be used with option '--program <dir>'") as string,
  });
});

test("compares no program, which has the stack's address, with the records at another one", async () => {
  emulator.forget();
  for (const option of ["--base-url", "--monitors-base-url"])
    expect(await doctor("--program", ".", option, emulator.url)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`cannot be used with option '${option} <url>'`) as string,
    });
  expect(emulator.requests).toEqual([]);
});

test("refuses a folder that does not exist", async () => {
  const stderr = `${join(folder, "nowhere")} does not exist.\n`;
  expect(await doctor("--cwd", "nowhere")).toEqual({ code: 1, stdout: "", stderr });
});

test("refuses plain http, and warns of it if it is allowed", async () => {
  const plain = await doctor("--base-url", "http://192.0.2.1:9");
  expect(plain.stdout).toMatch(/failed .* --base-url must begin with https/);
  for (const host of ["uptime.invalid", "localhost.invalid"]) {
    const allowed = await doctor("--base-url", `http://${host}`, "--allow-http", "--max-retries", "0");
    expect(allowed.stdout).toContain(`warning  --base-url is http://${host}: plain http exposes the API key`);
  }
});

test("uses colours on a terminal, unless it is asked not to", async () => {
  const on = (env: NodeJS.ProcessEnv) => cli(emulator, folder, ["doctor"], { isTTY: true, env });
  expect((await on({})).stdout).toContain("\u001b[32mok");
  expect((await on({ NO_COLOR: "1" })).stdout).not.toContain("\u001b[32m");
  const dumb = await on({ TERM: "dumb" });
  expect(dumb.stdout + dumb.stderr).not.toContain("\u001b");
});

describe("in a project", () => {
  const withAccounts = (accounts: object): NodeJS.ProcessEnv =>
    withStack(folder, { "uptime:accounts": JSON.stringify(accounts) });

  beforeEach(() => write("Pulumi.yaml", "name: mine\nruntime: nodejs\n"));

  test("reads the settings of the selected stack, and warns of a key in plain text", async () => {
    const env = withStack(folder, { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey });
    const elsewhere = cli(unset, __dirname, ["doctor", "--cwd", folder], { env });
    for (const { code, stdout } of [await doctorWithout(env), await elsewhere]) {
      expect(code).toBe(0);
      expect(stdout).toContain("ok       The API key comes from uptime:apiKey\n");
      expect(stdout.split("uptime:baseUrl is http")).toHaveLength(2);
      expect(stdout).toMatch(
        /warning {2}uptime:apiKey is set in plain text.*config set --secret uptime:apiKey/,
      );
    }
    const calls = readFileSync(join(folder, "bin", "calls"), "utf8").split("\n");
    expect(calls.filter((call) => call.startsWith("config "))).toHaveLength(2);
  });

  test("does not show the name of an account that looks like a key", async () => {
    const accounts = { "misplaced-0123456789": { baseUrl: emulator.url, apiKey: emulator.apiKey } };
    const { code, stdout } = await doctorWithout(withAccounts(accounts));
    expect(code).toBe(0);
    expect(stdout).toContain("Account [not shown]: monitors: 1 record\n");
    expect(stdout).not.toContain("misplaced");
  });

  test("shows no key of an account that it checks later", async () => {
    const { url: baseUrl, apiKey } = emulator;
    const accounts = { eu: { baseUrl, apiKey }, us: { baseUrl, apiKey: "expired-key-of-us" } };
    for (let twin = 0; twin < 2; twin++)
      emulator.monitors.add({ name: "expired-key-of-us", url: "https://example.com/", interval: 60 });
    const { stdout } = await doctorWithout(withAccounts(accounts));
    expect(stdout).toContain("Account eu: monitors: records with the same name and url: 2 and 3\n");
    expect(stdout).not.toContain("expired-key-of-us");
  });

  test("warns of settings that it does not know, and says what was meant", async () => {
    const set = { "uptime:baseurl": emulator.url, "uptime:timeout": "5", "other:baseURL": "1" };
    const { code, stdout } = await doctorWithout(withStack(folder, set));
    expect(code).toBe(1);
    expect(stdout).toContain(
      "warning  pulumi-uptime does not know these settings: uptime:baseurl (did you mean uptime:baseUrl?), " +
        "uptime:timeout (did you mean uptime:timeoutSeconds?).\n",
    );
    expect(stdout).toMatch(/^failed .*uptime:baseUrl is not set/m);
    write("Pulumi.yaml", "name: uptime\nruntime: nodejs\n");
    expect((await doctorWith(withStack(folder, set))).stdout).not.toContain("does not know");
  });

  test("checks every account of the stack, and the one without a name if it has a key or is the only one", async () => {
    const theirs = await startEmulator({ apiKey: "their-key" });
    const baseUrl = theirs.url;
    const [eu, us] = ["their-key", "expired"].map((apiKey) => ({ baseUrl, apiKey }));
    const accounts = { eu, us, void: { baseUrl } };
    const named = await doctorWithout(withAccounts(accounts));
    expect(named.code).toBe(1);
    expect(named.stdout).toContain("ok       Account eu: monitors: no records yet\n");
    expect(named.stdout).toMatch(/^failed {3}Account us: GET .* status 401/m);
    expect(named.stdout).toMatch(/^failed {3}.*uptime:accounts\.void\.apiKey is not set/m);
    expect(named.stdout).not.toContain("uptime:apiKey is not set");
    const right = withAccounts({ eu: accounts.eu });
    expect(await doctorWithout(right)).toMatchObject({ code: 0, stderr: "" });
    expect((await doctorWith(right)).stdout).toMatch(
      /^ok {7}monitors: 1 record\n[^]*^ok {7}Account eu: monitors: no records yet$/m,
    );
  });

  test("--program runs no preview of a stack whose state holds other code", async () => {
    const type = "pulumi-nodejs:dynamic/uptime:Monitor";
    const __provider = "exports.handler=()=>require('evil')";
    const urn = `urn:pulumi:test::monitors::${type}::home`;
    const env = withStack(folder, { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey }, [
      { urn, type, id: "1", inputs: { __provider }, outputs: { __provider } },
    ]);
    const { code, stdout } = await doctorWith(env, "--program", ".");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed {3}Monitor home: The provider code in state is not this package's/m);
    const deployment = { resources: [], snippets: [{ code: "evil" }] };
    write(join("bin", "state.json"), JSON.stringify({ version: 4, deployment }));
    expect((await doctorWith(env, "--program", ".")).stdout).toMatch(/^failed {3}.* has "snippets", and/m);
    expect(readFileSync(join(folder, "bin", "calls"), "utf8")).not.toContain("preview");
  });

  test("warns if there is no stack and uses the environment, but fails with --stack or --program", async () => {
    const env = withStack(folder, {});
    write(join("bin", "pulumi"), "#!/bin/sh\necho error: no stack selected >&2; exit 255\n", 0o755);
    const without = await doctorWithout(env);
    expect(without.code).toBe(1);
    // What is missing may be set there, so it is not said beside the cause.
    expect(without.stdout).toMatch(/^failed {3}The project's stack cannot be read.*no stack selected\.?\n$/m);
    expect(without.stdout).not.toContain("is not set");
    const there = await doctorWith(env);
    expect([there.code, there.stdout]).toEqual([
      0,
      expect.stringMatching(/^warning {2}The project's stack cannot be read.*\nok {7}UPTIME_BASE_URL/m),
    ]);
    expect((await doctorWithout(env, "--stack")).stdout).toMatch(/^failed .*no stack selected/m);
    for (const given of [env, { PATH: "" }]) {
      const program = await doctorWith(given, "--program", ".");
      expect(program.code).toBe(1);
      expect(program.stdout).toMatch(
        /^failed .*(no stack selected|CLI is not on PATH).*runs `pulumi preview`, which needs the Pulumi CLI and a stack/m,
      );
    }
  });

  test("says what to do about the empty file that a killed run may leave", async () => {
    const env = withStack(folder, {});
    const error = "error: failed to load checkpoint: EOF";
    write(join("bin", "pulumi"), `#!/bin/sh\necho ${error} >&2; exit 255\n`, 0o755);
    expect((await doctorWithout(env, "--stack")).stdout).toMatch(
      /load checkpoint: EOF\. A killed run has left an empty file .*-name '\*\.attrs' -size 0 -delete`/,
    );
  });

  test("says by which signal the Pulumi CLI was ended", async () => {
    const env = withStack(folder, {});
    write(join("bin", "pulumi"), "#!/bin/sh\nkill -9 $$\n", 0o755);
    expect((await doctorWithout(env, "--stack")).stdout).toMatch(
      /^failed {3}`pulumi config --show-secrets` in .* failed: it ended with SIGKILL$/m,
    );
  });

  test("ignores a project in a folder above, which Pulumi would find", async () => {
    const env = withStack(folder, { "uptime:apiKey": "of-the-project-above" });
    mkdirSync(join(folder, "below"));
    const below = (...args: string[]): Promise<Outcome> =>
      cli(emulator, join(folder, "below"), ["doctor", ...args], { env });
    const { code, stdout } = await below();
    expect([code, stdout]).toEqual([0, expect.stringContaining("comes from UPTIME_API_KEY")]);
    for (const args of [["--stack"], ["--program", "."]])
      expect((await below(...args)).stdout).toMatch(
        /^failed .*below has no Pulumi\.yaml, so there is no stack\./m,
      );
  });

  test("needs no settings if every resource has an explicit provider", async () => {
    const type = "uptime:index:Monitor";
    const one = (name: string, provider: string) => ({
      urn: `urn:pulumi:test::mine::${type}::${name}`,
      type,
      id: "1",
      provider: `urn:pulumi:test::mine::pulumi:providers:uptime::${provider}::5c1e`,
      outputs: {},
    });
    const of = (...providers: string[]): Promise<Outcome> =>
      doctorWithout(
        withStack(
          folder,
          {},
          providers.map((provider, index) => one(`m${index}`, provider)),
        ),
      );
    const { code, stdout } = await of("eu", "us");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "ok       The stack has no settings, and needs none: every resource has an explicit",
    );
    for (const providers of [[], ["eu", "default_1_0_0"]]) {
      const needed = await of(...providers);
      expect([needed.code, needed.stdout]).toEqual([1, expect.stringContaining("uptime:baseUrl is not set")]);
    }
  });

  test("asks for no Node.js SDK in a project in another language", async () => {
    write("Pulumi.yaml", "name: mine\nruntime: yaml\n");
    const { stdout } = await doctorWith(withStack(folder, {}));
    expect(stdout).not.toContain("@pulumi/pulumi");
  });
});
