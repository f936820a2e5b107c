import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newFolder } from "../support/folder";
import { home } from "../support/monitors";
import { answer } from "../support/emulator";
import { host, Proxy } from "../support/proxy";
import { recordOf, startStack, writesTo, type Stack } from "../support/stack";

const repository = join(__dirname, "..", "..");
const corpus = join(repository, "test", "corpus");
const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const versions = readdirSync(corpus);
const fronts = ["dynamic", "native"] as const;
type Front = (typeof fronts)[number];

/** What a version left: its state, and the records of the server. */
interface Left {
  state: Awaited<ReturnType<Stack["workspace"]["exportState"]>>;
  records: object;
}

let proxy: Proxy;
afterEach(() => proxy.stop());

/** A server with two accounts, whose addresses are the same in each run, because state remembers them. */
async function start(front: Front, program: string, file?: string): Promise<Stack> {
  const accounts = { eu: { baseUrl: `http://eu.${host}` } };
  const stack = await startStack({
    program,
    emulator: {
      hosts: ["", "eu.", "own."].map((account) => account + host),
      now: () => new Date("2030-01-01T00:00:00Z"),
      ...(file && { file }),
    },
    config: {
      "uptime:baseUrl": `http://${host}`,
      "uptime:allowHttp": "true",
      "uptime:accounts": JSON.stringify(accounts),
    },
  });
  const { emulator, workspace } = stack;
  proxy = await Proxy.start(emulator.url);
  Object.assign(workspace.env, {
    ...{ HTTP_PROXY: proxy.url, UPTIME_API_KEY: emulator.apiKey, UPTIME_API_KEY_EU: emulator.apiKey },
    ...{ PULUMI_RUN_PROGRAM: "true", CORPUS_FRONT: front },
  });
  return stack;
}

/** With UPDATE_CORPUS=1: what this version leaves, for all later ones, by the newest program that was recorded. */
async function record(version: string, front: Front): Promise<void> {
  // Until the first release, the corpus is of a commit.
  const released = versions.filter((name) => name.includes("."));
  released.sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const newest = released.at(-1) ?? versions[0] ?? "";
  const program = read(corpus, newest, "program.js");
  const { emulator, workspace } = await start(front, program);
  emulator.domains.add({ name: "imported.example", homepage_url: "https://hand.example/" });
  emulator.domains.add({ name: "adopted.example" });
  const headers = { request_headers: [{ key: "X-Token", value: "token of the corpus" }] };
  const names = { Home: headers, Ignored: { interval: 900 }, Adopted: {}, Child: {}, "Adopted child": {} };
  const hand = front === "native" && { "By hand": { ssl_alert_days: 7 } };
  for (const [name, more] of Object.entries({ ...names, ...hand }))
    emulator.monitors.add({ ...home, url: "https://shop.example/", name, ...more });

  const run = (number: number): string => (workspace.env.CORPUS_RUN = String(number));
  await workspace.setConfig({ "uptime:adoptExisting": "true" });
  run(1);
  await workspace.up();
  run(2);
  await workspace.up();
  await workspace.pulumi("config", "rm", "uptime:adoptExisting");
  emulator.fault = ({ method }) => (method === "PATCH" ? answer(422) : undefined);
  run(3);
  await workspace.failed("up");
  emulator.fault = undefined;
  const options = ["--yes", "--protect=false", "--generate-code=false"];
  if (front === "native") await workspace.pulumi("import", "uptime:index:Monitor", "hand", "6", ...options);

  mkdirSync(join(corpus, version), { recursive: true });
  writeFileSync(join(corpus, version, "program.js"), program);
  const records = { domains: emulator.domains.save(), monitors: emulator.monitors.save() };
  const left = { records, state: await workspace.exportState() };
  writeFileSync(join(corpus, version, `${front}.json`), textOf(left));
}

/** JSON with a line for each record and resource, without what says nothing of the version. */
function textOf(left: Left): string {
  const omitted = ["created", "modified", "sourcePosition", "stackTrace"];
  const text = JSON.stringify(left, (key, value: unknown) => (omitted.includes(key) ? undefined : value), 1);
  return `${text.replace(/\n {5,}/g, " ").replace(/\n {4}(?=[}\]])/g, " ")}\n`;
}

if (process.env.UPDATE_CORPUS === "1")
  test.each(fronts)("the corpus gets the state that this version leaves on the %s front", async (front) => {
    const { version } = JSON.parse(read(repository, "package.json")) as { version: string };
    await record(version, front);
  });

/** The claim of each resource that has one. */
const claimsIn = (resources: Awaited<ReturnType<Stack["workspace"]["resources"]>>) =>
  Object.fromEntries(Object.entries(resources).map(([name, { outputs }]) => [name, outputs?.__claim]));

describe.each(versions)("the state of %s", (version) => {
  test.each(fronts)(
    "on the %s front has no changes, and can be refreshed, updated and destroyed",
    async (front) => {
      const program = read(corpus, version, "program.js");
      const { state, records } = JSON.parse(read(corpus, version, `${front}.json`)) as Left;
      const folder = newFolder();
      const [stateFile, recordsFile] = [join(folder, "state.json"), join(folder, "records.json")];
      writeFileSync(stateFile, JSON.stringify(state));
      writeFileSync(recordsFile, JSON.stringify(records));
      const { emulator, workspace } = await start(front, program, recordsFile);
      await workspace.pulumi("stack", "import", "--file", stateFile);
      const claims = claimsIn(await workspace.resources());

      // What the run did not come to when it ended is done now, and nothing else.
      const [partial, old] = [
        recordOf(emulator.monitors, "Partial"),
        recordOf(emulator.domains, "old.example"),
      ];
      const left = [`PATCH /api/v1/monitors/${partial?.id}`, `DELETE /api/v1/domains/${old?.id}`];
      const others = () => emulator.monitors.all().filter(({ id }) => id !== partial?.id);
      const before = others();
      await workspace.up("--refresh");
      expect(writesTo(emulator)).toEqual(left);
      expect(others()).toEqual(before);

      await workspace.write(program.replaceAll("interval: 60", "interval: 180"));
      await workspace.up();
      const intervals = emulator.monitors.all().map(({ interval }) => interval);
      expect(new Set(intervals)).toEqual(new Set([180, 300, 900, 1800]));
      for (const secret of ["token of the corpus", "password of the corpus"])
        expect(await workspace.stateText()).not.toContain(secret);
      expect(claimsIn(await workspace.resources())).toEqual(claims);

      await workspace.destroy();
      expect([...emulator.domains.all(), ...emulator.monitors.all()]).toEqual([]);
    },
  );
});
