import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newFolder } from "../support/folder";
import { home } from "../support/monitors";
import { startStack } from "../support/stack";

const repository = join(__dirname, "..", "..");
const corpus = join(repository, "test", "corpus");
const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const { version } = JSON.parse(read(repository, "package.json")) as { version: string };

/** What is recorded of a version: the name of its folder, and what its program imports. */
const fronts = { [version]: "pulumi-uptime", [`${version}-native`]: "pulumi-uptime/native" };

/**
 * The program of the newest version, which declares every kind of thing that state holds: all fields, none, emptied ones,
 * secrets, options, imports, adoptions, a record only read. A new field is declared in it by hand before it is recorded.
 */
const [newest = ""] = readdirSync(corpus)
  .filter((name) => name.endsWith("-native"))
  .sort((one, other) => other.localeCompare(one, "en", { numeric: true }));
const programOf = (front: string, removedLater: string) =>
  read(corpus, newest, "program.js")
    .replace(/require\("pulumi-uptime[^"]*"\)/, `require("${front}")`)
    .replace(/("Emptied".*interval: 600,) /, `$1 ${removedLater}`);

/** The records before the first run. */
const domainsByHand = [
  { name: "imported.example", homepage_url: "https://hand.example/" },
  { name: "adopted.example" },
];
const monitorsByHand = [
  { name: "Home", request_headers: [{ key: "X-Token", value: "token of the corpus" }] },
  { name: "Ignored", interval: 900 },
  { name: "Adopted" },
  { name: "Child" },
];

/** With UPDATE_CORPUS=1: what this version leaves behind, for all later ones. */
async function record(name: string, front: string): Promise<void> {
  const folder = join(corpus, name);
  const removedLater = "requestAuthUsername: 'probe', sslAlertDays: 14, alertChannelIds: [3],";
  const { emulator, workspace } = await startStack({
    program: programOf(front, removedLater),
    emulator: { now: () => new Date("2030-01-01T00:00:00Z") },
    config: { "uptime:adoptExisting": "true" },
  });
  for (const domain of domainsByHand) emulator.domains.add(domain);
  for (const monitor of monitorsByHand)
    emulator.monitors.add({ ...home, url: "https://hand.example/", ...monitor });
  await workspace.up();
  const program = programOf(front, "");
  await workspace.write(program);
  await workspace.up();
  mkdirSync(folder, { recursive: true });
  const write = (file: string, content: unknown) => {
    writeFileSync(join(folder, file), `${JSON.stringify(content, withoutSources, 2)}\n`);
  };
  write("state.json", await workspace.exportState());
  write("records.json", { domains: emulator.domains.save(), monitors: emulator.monitors.save() });
  write("address.json", emulator.url);
  writeFileSync(join(folder, "program.js"), program);
}

/** Where a program's files are says nothing of a version. */
const withoutSources = (key: string, value: unknown) =>
  key === "sourcePosition" || key === "stackTrace" ? undefined : value;

test("the corpus has this version's state", async () => {
  if (process.env.UPDATE_CORPUS === "1")
    for (const [name, front] of Object.entries(fronts)) await record(name, front);
  // If this fails: UPDATE_CORPUS=1 npm test -- test/engine/upgrade.test.ts
  expect(readdirSync(corpus)).toEqual(expect.arrayContaining(Object.keys(fronts)));
});

// Of one version there may be several: what it left with the plugin, or at another time.
test.each(readdirSync(corpus))(
  "state of version %s has no changes, and can be refreshed, updated and destroyed",
  async (earlier) => {
    const folder = join(corpus, earlier);
    const program = read(folder, "program.js");
    // The emulator writes into its file, and the corpus stays as it is.
    const file = join(newFolder(), "records.json");
    copyFileSync(join(folder, "records.json"), file);
    const { emulator, workspace } = await startStack({
      program,
      emulator: { file },
      config: { "uptime:movedFrom": JSON.parse(read(folder, "address.json")) as string },
    });
    workspace.env.PULUMI_RUN_PROGRAM = "true";
    const before = emulator.monitors.all();
    await workspace.pulumi("stack", "import", "--file", join(folder, "state.json"));
    await workspace.up("--refresh", "--expect-no-changes");
    expect(emulator.writes()).toEqual([]);
    expect(emulator.monitors.all()).toEqual(before);

    // Three times the interval, of all but those that ignore it.
    const edited = program.replaceAll("interval: 60", "interval: 180");
    await workspace.write(edited.replace("protect: true", "protect: false"));
    await workspace.up();
    const intervals = emulator.monitors.all().map(({ interval }) => interval);
    expect(intervals).toEqual(before.map(({ interval }) => later[String(interval)] ?? interval));
    const state = await workspace.stateText();
    for (const secret of ["token of the corpus", "password of the corpus"])
      expect(state).not.toContain(secret);

    await workspace.destroy();
    expect([...emulator.domains.all(), ...emulator.monitors.all()]).toEqual([]);
  },
);

/** What the edited program makes of an interval: "interval: 600" holds "interval: 60" too. */
const later: Readonly<Record<string, number>> = { 60: 180, 600: 1800 };
