import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { anyCharacter } from "../support/arbitraries";
import { cli, type Outcome } from "../support/cli";
import { newFolder } from "../support/folder";
import { shortHash } from "../../provider/cli/shared/state-code";
import { unknown } from "../support/marks";
import { assertProperty } from "../support/property";
import { sample } from "../support/size";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const type = "pulumi-nodejs:dynamic/uptime:Monitor";
const urnOf = (name: string): string => `urn:pulumi:prod::team::${type}::${name}`;
const inputs = (name: string, more: Record<string, unknown> = {}) => ({
  __provider: "code",
  name,
  url: `https://${name}.example/`,
  interval: 60,
  requestHeaders: "[secret]",
  ...more,
});
const step = (op: string, name: string, before?: object, after?: object) => ({
  op,
  urn: urnOf(name),
  ...(before && { oldState: { urn: urnOf(name), type, inputs: before, outputs: before } }),
  ...(after && { newState: { urn: urnOf(name), type, inputs: after } }),
});
const drifted = (name: string, inApi: unknown, property = "interval", inState: unknown = 60) => ({
  urn: urnOf(name),
  type,
  name,
  id: "7",
  outcome: "changed",
  properties: [{ property, inState, inApi, secret: false }],
});

/** As Pulumi prints it: of what stays as it is, only the stack is a step, and all are counted. */
const stack = { op: "same", urn: "urn:pulumi:prod::team::pulumi:pulumi:Stack::team-prod" };

/** What Pulumi prints: its counts include the stack, and a replacement is one of its three steps. */
function preview(steps: readonly object[], same = 1): object {
  const changeSummary: Record<string, number> = { same };
  for (const { op } of steps as { op: string }[])
    if (!/^(create|delete)-replace/.test(op)) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  const isListed = steps.some((one) => (one as { op: string }).op === "create-replacement");
  const parts = (steps as { op: string }[]).flatMap((one) =>
    one.op === "replace" && !isListed ? [{ ...one, op: "create-replacement" }] : [],
  );
  return { steps: [stack, ...steps, ...parts], changeSummary };
}

function write(file: string, content: unknown): void {
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
}

const comment = (...args: string[]): Promise<Outcome> => commentWith({}, ...args);
const commentWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(
    { url: "", apiKey: "" },
    folder,
    [
      ..."comment --preview preview.json --preview-log preview.log".split(" "),
      ..."--drift drift.json --doctor doctor.json".split(" "),
      ...args,
    ],
    { env },
  );
/** The comment's first line. */
const marker = ({ stdout }: Outcome): string => stdout.split("\n")[0] ?? "";

const noDrift = { checked: 4, drifted: [], errors: [], servers: [], code: [] };

/** A team's thousand monitors: drift in 20, changes of the program in 30, some of them long. */
function writeLargeStack(edited = 20): void {
  const long = "lorem ipsum ".repeat(300);
  const steps = Array.from({ length: 30 }, (_, index) => {
    const name = `monitor-${index}`;
    if (index < 15) return step("update", name, inputs(name), inputs(name, { interval: 300 + index }));
    if (index < 20)
      return step("update", name, inputs(name), inputs(name, { alertTextLookup: `${long}${index}` }));
    if (index < 25) return step("create", name, undefined, inputs(name));
    return step("delete", name, inputs(name));
  });
  const changeSummary = { create: 5, update: 20, delete: 5, same: 971 };
  write("preview.json", { steps: [stack, ...steps], changeSummary });
  write("drift.json", {
    ...noDrift,
    checked: 1000,
    drifted: Array.from({ length: edited }, (_, index) => drifted(`monitor-${100 + index}`, 900 + index)),
    servers: ["https://uptime.example.com"],
  });
}

test("a comment for 1000 monitors, 30 changed and 20 drifted, shows every change within GitHub's limit", async () => {
  writeLargeStack();
  const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
  const run = "https://ci.example/my%20run/7?a=b";
  const outcome = await comment("--title", "prod", "--commit", commit, "--run-url", run);
  const { code, stdout, stderr } = outcome;
  expect([code, stderr]).toEqual([0, ""]);
  expect(Buffer.byteLength(stdout)).toBeLessThan(65_536);
  const lines = stdout.split("\n");
  expect(marker(outcome)).toMatch(
    new RegExp(
      `^<!-- pulumi-uptime comment v2 title=prod commit=${commit} digest=[\\da-f]{32} changes=[\\w+/]{1000} -->$`,
    ),
  );
  expect(lines.slice(1, 9)).toEqual([
    "",
    "### `prod`: what merging this changes",
    "",
    "server `https://uptime.example.com` · commit `0a1b2c3d4e` · [log](<https://ci.example/my%20run/7?a=b>)",
    "",
    "**Merging this deletes 5 resources, creates 5 and updates 40, 950 unchanged.**",
    "",
    "Drift: 1000 resources compared, 20 drifted.",
  ]);
  for (let index = 0; index < 15; index++) {
    expect(lines).toContain(`! Monitor monitor-${index}`);
    expect(lines).toContain(`!     interval: 60 => ${300 + index}`);
  }
  // The beginning of a long value.
  expect(lines).toContain(
    `!     alertTextLookup: "${"lorem ipsum ".repeat(10).slice(0, 119)}… (3,604 characters)`,
  );
  for (let index = 20; index < 25; index++) expect(lines).toContain(`+ Monitor monitor-${index}`);
  for (let index = 25; index < 30; index++) expect(lines).toContain(`- Monitor monitor-${index}`);
  for (let index = 0; index < 20; index++)
    expect(lines).toContain(
      `| \`Monitor monitor-${100 + index}\` | \`7\` | \`interval\` | \`60\` | \`${900 + index}\` |`,
    );
  expect(stdout).not.toContain("… and ");
  expect(stdout).not.toContain("monitor-500");
  const places = ["#### Deleted (5)", "#### Created (5)", "#### Updated (20)", "#### Edited by hand"].map(
    (text) => stdout.indexOf(text),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});

test("what does not fit is cut between two lines, and the comment says how many; without a limit all is there", async () => {
  writeLargeStack();
  const { stdout } = await comment("--limit", "2000");
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(2000);
  const shown = stdout.match(/^[!+-] Monitor \S+$/gm) ?? [];
  expect(shown.length).toBeGreaterThan(0);
  const rows = stdout.match(/^\| `Monitor .*\|$/gm) ?? [];
  const more = [...stdout.matchAll(/^… and (\d+) more, in the log$/gm)].map(([, count]) => Number(count));
  expect(shown.length + rows.length + more.reduce((a, b) => a + b, 0)).toBe(50);
  expect((stdout.match(/```/g)?.length ?? 1) % 2).toBe(0);
  const full = await comment("--limit", "0");
  expect(full.stdout).not.toContain("… and ");
  expect(full.stdout).toContain("lorem ipsum ".repeat(300));
});

test.each(["create", "delete", "update", "replace"])(
  "a thousand of them are all named within GitHub's limit: %s",
  async (op) => {
    const names = Array.from({ length: 1000 }, (_, index) => `team-checkout-service-${index}`);
    write(
      "preview.json",
      preview(
        names.map((name) => {
          const found = inputs(name, { alertTextLookup: "x".repeat(80) });
          return step(
            op,
            name,
            op === "create" ? undefined : inputs(name),
            op === "delete" ? undefined : found,
          );
        }),
      ),
    );
    write("drift.json", { ...noDrift, drifted: names.map((name) => drifted(name, 900)) });
    const { stdout } = await comment();
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(65_536);
    const named = new Set(stdout.match(/(?<=^[!+-] Monitor )\S+/gm));
    expect(names.filter((name) => !named.has(name))).toEqual([]);
    // The drift gets what is left.
    expect(stdout).toMatch(/^… and \d+ more, in the log$/m);
  },
);

test("values come before the drift, and names of other packages and imports before both", async () => {
  const names = Array.from({ length: 400 }, (_, index) => `service-${index}`);
  const found = inputs("a", { alertTextLookup: "x".repeat(80) });
  const imports = names.map((name, index) =>
    step("create", `hand-${name}`, undefined, inputs(name, { importId: String(index) })),
  );
  const others = names.map((name) => bucket("create", {}, `${bucketUrn}-${name}`));
  const updates = names.map((name) => step("update", name, inputs("a"), found));
  write("preview.json", preview([...updates, ...others, ...imports]));
  write("drift.json", { ...noDrift, drifted: names.map((name) => drifted(name, 900)) });
  const { stdout } = await comment();
  const bytes = Buffer.byteLength(stdout);
  expect(bytes).toBeLessThanOrEqual(65_536);
  expect(bytes).toBeGreaterThan(65_000);
  const count = (pattern: RegExp): number => stdout.match(pattern)?.length ?? 0;
  expect(count(/^[!+] (Monitor|aws:s3\/bucket:Bucket) \S+/gm)).toBe(1200);
  // The values are cut at the limit, so nothing is left for the drift.
  const shown = count(/alertTextLookup: /g);
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(400);
  expect(stdout).toContain("sets these back\n\n… and 400 more, in the log\n");
  // Without the values there is room for rows.
  write("preview.json", preview([...others, ...imports]));
  const fewer = (await comment()).stdout;
  const rows = fewer.match(/^\| `Monitor service-\d+` \|.*\|$/gm) ?? [];
  expect(fewer.match(/^\| `Monitor/gm)).toHaveLength(rows.length);
  expect(rows.length).toBeGreaterThan(0);
  const [, left = 0] = /^… and (\d+) more, in the log$/m.exec(fewer) ?? [];
  expect(rows.length + Number(left)).toBe(400);
});

test("a thousand rows of drift leave room for the values of 30 changes", async () => {
  writeLargeStack(1000);
  const { stdout } = await comment();
  expect(Buffer.byteLength(stdout)).toBeGreaterThan(64_000);
  for (let index = 0; index < 15; index++) expect(stdout).toContain(`interval: 60 => ${300 + index}\n`);
});

test("no comment exceeds its limit or leaves a code block open", async () => {
  await assertProperty(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter, maxLength: 3000 })),
        { maxLength: 40 },
      ),
      fc.integer({ min: 3000, max: 20_000 }),
      async (values, limit) => {
        write("preview.json", {
          steps: values.map(([name, text], index) =>
            step("update", `${index}${name}`, inputs("a"), inputs("a", { alertTextLookup: text, url: name })),
          ),
        });
        write("drift.json", {
          ...noDrift,
          checked: values.length,
          drifted: values.map(([name, text]) => drifted(name, text, "name", name)),
        });
        const { code, stdout } = await comment("--limit", String(limit));
        expect(code).toBe(0);
        expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(limit);
        expect(stdout.isWellFormed()).toBe(true);
        const outsideCode = stdout.replace(/^(`{3,})\w*\n(?:[^]*?\n)?\1$/gm, "");
        expect(outsideCode).not.toMatch(/^`{3,}/m);
      },
    ),
    { numRuns: sample(2, 50, 2000) },
  );
});

test("a value of any length and any number of backticks is shown", async () => {
  const text = "`a".repeat(150_000);
  write("preview.json", preview([step("create", "a", undefined, inputs("a", { alertTextLookup: text }))]));
  const { code, stdout } = await comment("--limit", "0");
  expect(code).toBe(0);
  expect(stdout).toContain(text);
});

test("a long value is cut, with its length", async () => {
  const long = (end: string) => inputs("a", { alertTextLookup: "a".repeat(500) + end });
  write("preview.json", preview([step("update", "a", long("OLD"), long("N"))]));
  const { stdout } = await comment();
  expect(stdout).toMatch(
    /^! {5}alertTextLookup: "a{119}… \(505 characters\) => "a{119}… \(503 characters\)$/m,
  );
});

test("changes are in the order of names, whatever the engine's order", async () => {
  const names = ["m10", "m2", "a", "m1"];
  const made = names.map((name) => step("create", name, undefined, inputs(name)));
  write("preview.json", preview(made));
  const { stdout } = await comment();
  expect(stdout.match(/^\+ Monitor .*$/gm)).toEqual(
    ["a", "m1", "m2", "m10"].map((name) => `+ Monitor ${name}`),
  );
});

test("a create shows what it sets, and no defaults", async () => {
  const more = {
    alertCondition: "url_unavailable",
    requestMethod: "GET",
    cacheBuster: false,
    sslAlertDays: 14,
  };
  write("preview.json", preview([step("create", "a", undefined, inputs("a", { ...more, account: "eu" }))]));
  const { stdout } = await comment();
  expect(stdout).toContain(
    ["+ Monitor a of eu", '+     name: "a"', '+     url: "https://a.example/"', "+     interval: 60"].join(
      "\n",
    ),
  );
  expect(stdout).toContain("+     sslAlertDays: 14\n");
  expect(stdout).not.toMatch(/alertCondition|requestMethod|cacheBuster/);
});

const bucketUrn = "urn:pulumi:prod::team::aws:s3/bucket:Bucket::logs";
const bucket = (op: string, more: object = {}, urn = bucketUrn) => {
  const state = { type: "aws:s3/bucket:Bucket", inputs: { tags: "a", ...more } };
  return { op, urn, ...(op === "delete" ? { oldState: state } : { newState: state }) };
};

test("replacements, deletes and creates come first, other packages are named, and imports come last", async () => {
  const imports = Array.from({ length: 100 }, (_, index) =>
    step("create", `hand-${index}`, undefined, inputs(`hand-${index}`, { importId: String(index) })),
  );
  const made = step("create", "made", undefined, inputs("made"));
  write(
    "preview.json",
    preview([...imports, made, bucket("create"), bucket("delete", {}, `${bucketUrn}-old`)]),
  );
  write("drift.json", { ...noDrift, drifted: [drifted("edited", 900)] });
  const { stdout } = await comment();
  expect(stdout).toContain(
    "**Merging this deletes 1 resource, creates 2, updates 1 and imports 100, 0 unchanged.**",
  );
  expect(stdout).toContain("#### Deleted (1)\n\n```diff\n- aws:s3/bucket:Bucket logs-old\n```\n");
  expect(stdout).toContain("#### Created (1)\n\n```diff\n+ Monitor made\n");
  expect(stdout).toContain(
    "#### Of other packages: 1 to create\n\n```diff\n+ aws:s3/bucket:Bucket logs\n```\n",
  );
  expect(stdout).toContain(
    "#### Imported (100): nothing is written\n\n```diff\n" +
      '+ Monitor hand-0: record 0, "hand-0", "https://hand-0.example/"\n+ Monitor hand-1',
  );
  const places = [
    "Bucket logs-old",
    "Monitor made",
    "Monitor edited",
    "Bucket logs\n",
    "Monitor hand-0:",
  ].map((text) => stdout.indexOf(text));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("replacements, changed secrets and drift in state are shown as such", async () => {
  const moved = step("replace", "moved", inputs("moved"), inputs("moved", { url: "https://new.example/" }));
  const withId = { ...moved, oldState: { ...moved.oldState, id: "7" } };
  write(
    "preview.json",
    preview([
      withId,
      { ...withId, op: "create-replacement" },
      { ...withId, op: "delete-replaced" },
      step("update", "secret", inputs("secret"), inputs("secret")),
      {
        ...step("update", "edited", inputs("edited"), inputs("edited")),
        oldState: { type, inputs: inputs("edited"), outputs: inputs("edited", { interval: 900 }) },
      },
    ]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain("**Merging this replaces 1 resource and updates 2, 0 unchanged.**");
  expect(stdout).toContain(
    "#### Replaced (1): the old record is deleted, with its history and id\n\n```diff\n" +
      '! Monitor moved: record 7, "moved", "https://moved.example/"\n' +
      '!     url: "https://moved.example/" => "https://new.example/"\n',
  );
  expect(stdout).toContain("! Monitor secret\n!     requestHeaders (secret), or an option of the resource\n");
  expect(stdout).toContain("! Monitor edited\n!     interval: 900 => 60\n");
  expect(stdout).not.toContain("__provider");
  const first = { ...withId, oldState: { ...withId.oldState, pendingReplacement: true } };
  write("preview.json", preview([first]));
  expect((await comment()).stdout).toContain('"https://moved.example/"; it is deleted first\n');
});

test("for native resources, an import names its record, a changed secret its property, and a provider is named", async () => {
  const native = (op: string, name: string, before?: object, after?: object) =>
    JSON.parse(JSON.stringify(step(op, name, before, after)).replaceAll(type, "uptime:index:Monitor")) as {
      newState: object;
    };
  const secret = { requestAuthPassword: "[secret]" };
  const imported = native("import", "hand", undefined, inputs("hand"));
  const updated = native(
    "update",
    "home",
    inputs("home", secret),
    inputs("home", { ...secret, interval: 300 }),
  );
  const detailedDiff = {
    interval: { kind: "update" },
    requestAuthPassword: { kind: "update", inputDiff: true },
    "requestHeaders[0].value": { kind: "update", inputDiff: true },
    "requestHeaders[1]": { kind: "add", inputDiff: true },
  };
  const provider = "urn:pulumi:prod::team::pulumi:providers:uptime::eu::0a1b";
  write(
    "preview.json",
    preview([
      { ...imported, op: "import", newState: { ...imported.newState, importID: "eu/42" } },
      { ...updated, op: "update", newState: { ...updated.newState, provider }, detailedDiff },
    ]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain('+ Monitor hand: record eu/42, "hand", "https://hand.example/"\n');
  expect(stdout).toContain(
    "! Monitor home of eu\n!     interval: 60 => 300\n!     requestAuthPassword: [secret] => [secret]\n" +
      "!     requestHeaders: [secret] => [secret]\n",
  );
});

test("a delete names its record, also one that an earlier run has left, and one that stays", async () => {
  const lost = (secret?: string, more: object = {}) => {
    const deleted = step("delete", "shop", inputs("shop", secret ? { url: secret } : {}));
    return { ...deleted, oldState: { ...deleted.oldState, id: "155", ...more } };
  };
  write("preview.json", preview([lost()]));
  expect((await comment()).stdout).toContain('- Monitor shop: record 155, "shop", "https://shop.example/"\n');
  const leftover = { ...lost(), op: "delete-replaced" };
  write(
    "preview.json",
    preview([lost("[secret]", { retainOnDelete: true }), { ...leftover, urn: urnOf("old") }]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain('- Monitor shop: record 155, "shop"; the record stays (retainOnDelete)\n');
  expect(stdout).toContain(
    '- Monitor old: record 155, "shop", "https://shop.example/"; an earlier run has replaced it\n',
  );
  expect(stdout).toContain("**Merging this deletes 2 resources, ");
});

test("one sentence says what a merge does to the program's changes and the drift together", async () => {
  const gone = {
    ...drifted("gone", 900),
    outcome: "gone",
    properties: [{ property: "name", inState: "G", secret: false }],
  };
  const edits = [drifted("both", 900), drifted("edited", 900), gone];
  write(
    "preview.json",
    preview([step("update", "both", inputs("both"), inputs("both", { pause: true }))], 11),
  );
  write("drift.json", { ...noDrift, drifted: edits });
  const { stdout } = await comment();
  expect(stdout).toContain("**Merging this creates 1 resource (1 again) and updates 2, 8 unchanged.**");
  expect(stdout).toContain("#### Edited by hand: merging this sets these back\n");
  expect(stdout).toContain('| `Monitor gone` | `7` | `(gone)` | `"G"` | `is made again, with a new id` |');
  write("preview.json", preview([], 11));
  write("drift.json", noDrift);
  expect((await comment()).stdout).toContain("**Merging this changes nothing, 10 unchanged.**");
});

test("a record that is gone and that the program still imports is not said to be made again", async () => {
  const gone = (name: string) => ({ ...drifted(name, null), outcome: "gone" });
  const same = (name: string, more: Record<string, unknown>, importID?: string) => {
    const one = step("same", name, inputs(name, more), inputs(name, more));
    return { ...one, newState: { ...one.newState, ...(importID && { importID }) } };
  };
  const removed = { importId: "7" };
  const update = step(
    "update",
    "changed",
    inputs("changed", removed),
    inputs("changed", { ...removed, pause: true }),
  );
  write(
    "preview.json",
    preview([
      same("dynamic", removed),
      same("native", {}, "eu/7"),
      update,
      // The program imports another record, or none any more.
      same("other", { importId: "8" }),
      step("same", "free", inputs("free", removed), inputs("free")),
    ]),
  );
  const names = ["changed", "dynamic", "free", "native", "other"];
  write("drift.json", { ...noDrift, drifted: names.map(gone) });
  const { code, stdout } = await comment();
  expect(code).toBe(0);
  expect(stdout).toContain(
    "**Merging this creates 2 resources (2 again) and cannot create 3, 0 unchanged.**",
  );
  expect(stdout).toContain(
    "#### Before you merge\n\n- The program has the option `import` for `Monitor dynamic, Monitor native, Monitor changed`, and the " +
      "record is gone, so the apply will fail. Remove the option first: then the record is made again.\n",
  );
  const fails = stdout
    .split("\n")
    .filter((line) => line.includes("`cannot be imported again: the apply fails`"));
  expect(fails.map((line) => /Monitor (\w+)/.exec(line)?.[1])).toEqual(["changed", "dynamic", "native"]);
});

test("drift of a record that the change deletes is not said to be set back", async () => {
  const gone = {
    ...drifted("gone", null),
    outcome: "gone",
    properties: [{ property: "name", inState: "G", secret: false }],
  };
  const deletes = ["edited", "gone"].map((name) => step("delete", name, inputs(name, {})));
  write("preview.json", preview(deletes));
  write("drift.json", { ...noDrift, drifted: [drifted("edited", 900), gone] });
  const { stdout } = await comment();
  expect(stdout).toContain("**Merging this deletes 2 resources");
  expect(stdout).toContain("| `Monitor edited` | `7` | `interval` | `60` | `900; the record is deleted` |");
  expect(stdout).toContain('| `Monitor gone` | `7` | `(gone)` | `"G"` | `leaves the state too` |');
});

test("a change of a value that was edited by hand shows that value, because it is lost", async () => {
  const secret = {
    ...drifted("c", null, "requestHeaders"),
    properties: [{ property: "requestHeaders", secret: true }],
  };
  const change = (name: string, op = "update") =>
    step(op, name, inputs(name), inputs(name, { interval: 120, pause: true }));
  const updated = change("c");
  const newState = { ...updated.newState, type: "uptime:index:Monitor" };
  write(
    "preview.json",
    preview([
      change("a"),
      change("b", "replace"),
      { ...updated, newState, detailedDiff: { "requestHeaders[0].value": { kind: "update" } } },
    ]),
  );
  write("drift.json", { ...noDrift, drifted: [drifted("a", 900), drifted("b", 900), secret] });
  const { stdout } = await comment();
  for (const name of ["a", "b"])
    expect(stdout).toContain(`! Monitor ${name}\n!     interval: 900 (by hand) => 120\n!     pause: true\n`);
  expect(stdout).toContain(
    "!     interval: 60 => 120\n!     pause: true\n!     requestHeaders: [secret] (by hand) => [secret]\n",
  );
  // It is not set back to what state has.
  expect(stdout).toContain("| `Monitor a` | `7` | `interval` | `60` | `900; becomes 120` |");
  expect(stdout).toContain("| `Monitor b` | `7` | `interval` | `60` | `900; the record is deleted` |");
  expect(stdout).toContain(
    "| `Monitor c` | `7` | `requestHeaders` | `[secret]` | `[secret], differs; becomes [secret]` |",
  );
});

test("a change of protect or retainOnDelete is listed, also if nothing else changes", async () => {
  const declared = inputs("a");
  const withOptions = (op: string, before: object, after: object, more: object = {}) => {
    const one = step(op, "a", declared, { ...declared, ...more });
    return {
      ...one,
      oldState: { ...one.oldState, id: "7", ...before },
      newState: { ...one.newState, ...after },
    };
  };
  const isProtected = { protect: true };
  const other = {
    ...bucket("same"),
    oldState: { type: "aws:s3/bucket:Bucket", id: "logs-1a", ...isProtected },
  };
  write(
    "preview.json",
    preview([withOptions("same", isProtected, {}), other, withOptions("same", {}, {})], 5),
  );
  const { stdout } = await comment();
  // Pulumi counts the steps as `same`.
  expect(stdout).toContain("**Merging this updates 2 resources, 5 unchanged.**");
  expect(stdout).toContain(
    '#### Updated (1)\n\n```diff\n! Monitor a: record 7, "a", "https://a.example/"\n!     option protect: true => false\n```\n',
  );
  expect(stdout).toContain("! aws:s3/bucket:Bucket logs\n!     option protect: true => false\n");
  write("preview.json", preview([withOptions("update", {}, { retainOnDelete: true }, { interval: 120 })]));
  expect((await comment()).stdout).toContain(
    "!     interval: 60 => 120\n!     requestHeaders (secret) may change too\n!     option retainOnDelete: false => true\n",
  );
  // Beside a secret, which may have changed too.
  write("preview.json", preview([withOptions("update", isProtected, {})]));
  expect((await comment()).stdout).toContain(
    "!     requestHeaders (secret), or an option of the resource\n!     option protect: true => false\n",
  );
});

test("a delete, replacement or import of another package's resource names its id", async () => {
  const replaced = bucket("replace", {}, `${bucketUrn}-new`);
  const imported = {
    op: "import",
    urn: `${bucketUrn}-old`,
    newState: { type: "aws:s3/bucket:Bucket", importID: "logs-7f" },
  };
  write(
    "preview.json",
    preview([
      { ...bucket("delete"), oldState: { type: "aws:s3/bucket:Bucket", id: "logs-1a2b" } },
      { ...replaced, oldState: { type: "aws:s3/bucket:Bucket", id: "logs-3c" } },
      imported,
      {
        ...bucket("update", {}, `${bucketUrn}-kept`),
        oldState: { type: "aws:s3/bucket:Bucket", id: "logs-5e" },
      },
    ]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain("\n- aws:s3/bucket:Bucket logs: id logs-1a2b\n");
  expect(stdout).toContain("\n+ aws:s3/bucket:Bucket logs-old: id logs-7f\n");
  expect(stdout).toContain("\n! aws:s3/bucket:Bucket logs-new: id logs-3c\n");
  expect(stdout).toContain("\n! aws:s3/bucket:Bucket logs-kept\n");
});

test("what to do before a merge comes before the changes, unless it is long", async () => {
  const warnings = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ code: "x", level: "warning", text: `Warning ${index}.` }));
  write("preview.json", preview([step("delete", "a", inputs("a"))]));
  const places = async (count: number): Promise<number[]> => {
    write("doctor.json", { findings: warnings(count) });
    const { stdout } = await comment();
    return ["**Merging this", "#### Before you merge", "#### Deleted"].map((text) => stdout.indexOf(text));
  };
  const [effect = 0, notes = 0, deleted = 0] = await places(10);
  expect([effect, notes, deleted]).toEqual([effect, notes, deleted].toSorted((a, b) => a - b));
  const [, many = 0, before = 0] = await places(11);
  expect(many).toBeGreaterThan(before);
});

test("a delete that the option protect would stop is marked", async () => {
  const deleted = step("delete", "shop", inputs("shop", {}));
  const oldState = { ...deleted.oldState, id: "155", protect: true };
  write("preview.json", preview([{ ...deleted, oldState }]));
  expect((await comment()).stdout).toMatch(/^- Monitor shop: record 155, .*; it is protected$/m);
});

test("drift names the record and its account, and without a preview the comment is about drift only", async () => {
  write("drift.json", {
    ...noDrift,
    drifted: [{ ...drifted("home", 900), account: "eu", record: "Home | page" }],
  });
  const { stdout } = await comment();
  expect(stdout).toMatch(/^<!-- pulumi-uptime comment v2 title= -->\n\n### Drift\n/);
  expect(stdout).toContain(
    "#### Edited by hand: the next `pulumi up --refresh --run-program` sets these back",
  );
  expect(stdout).toContain('| `Monitor home of eu` | `7 "Home \\| page"` | `interval` | `60` | `900` |');
});

test("a preview is found below the lines of a wrapper, and one that is cut short is reported", async () => {
  const planned = preview([step("create", "made", undefined, inputs("made"))]);
  const text = JSON.stringify(planned, undefined, 2);
  write("preview.json", `\n> team@ preview\n> pulumi preview --json\n\n${text}\n`);
  const whole = await comment();
  expect(whole.stdout).toContain("+ Monitor made\n");

  write("preview.json", text.slice(0, -20));
  write("preview.log", "line\n".repeat(1000));
  const cut = await comment();
  expect(cut.stdout).toContain("### The preview failed");
  expect(cut.stdout).toContain('`pulumi preview --json` printed no whole result: { "steps": [');
  expect(cut.stdout).toContain("… and 961 more lines\n");
  expect(cut.stdout.split("\n").length).toBeLessThan(60);
});

test.each(["{}", '{"steps":null}', '{"steps":[],"changeSummary":{}}'])(
  "a preview that could not begin, and prints %s, has failed",
  async (printed) => {
    write("preview.json", printed);
    write("preview.log", "error: could not find the plugin\n");
    write("drift.json", noDrift);
    const { code, stdout, stderr } = await comment("--reviewed", "");
    expect(code).toBe(1);
    expect(stderr).toContain("It is not known what would be done: the preview failed");
    expect(stdout).toMatch(/^<!-- pulumi-uptime comment v2 title= -->\n\n### The preview failed\n/);
    expect(stdout).toContain(`printed no whole result: ${printed}\nerror: could not find the plugin\n`);
    expect(stdout).not.toContain("unchanged");
    write("preview.json", preview([]));
    expect((await comment("--reviewed", "")).stdout).toContain(
      "**Merging this changes nothing, 0 unchanged.**",
    );
  },
);

test("an error that YAML's host only prints is one; what another program prints is none", async () => {
  const printed = (...messages: string[]) => ({
    ...preview([]),
    diagnostics: messages.map((message) => ({ message, severity: "info#err" })),
  });
  write("drift.json", noDrift);
  write(
    "preview.json",
    printed('\u001b[31mError\u001b[0m: resource "nothing" not found\n\n', "  on line 4:\n\n"),
  );
  const failed = await comment("--reviewed", "");
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('```\nError: resource "nothing" not found\n  on line 4:\n```');
  expect(failed.stdout).toContain("**It is not known what merging this changes.**");
  write("preview.json", printed("Error: a cache is missing\n", "\u001b[33mWarning\u001b[0m: old\n"));
  expect(await comment("--reviewed", "")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("**Merging this changes nothing, 0 unchanged.**") as string,
  });
});

test("events in place of a preview name the variable that makes Pulumi print them", async () => {
  const events = ["preludeEvent", "summaryEvent"].map((name, sequence) => ({
    sequence,
    timestamp: 1,
    [name]: {},
  }));
  write("preview.json", events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const { stdout } = await comment();
  expect(stdout).toContain("### The preview failed");
  expect(stdout).toContain("run it without PULUMI_ENABLE_STREAMING_JSON_PREVIEW.");
});

test("a failed preview claims nothing of the program; failed checks and errors come first, then warnings", async () => {
  const message = "error: Monitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n";
  const diagnostics = [{ urn: urnOf("b"), message, severity: "error" }];
  // Pulumi prints the steps that it has planned before it failed.
  const planned = [step("create", "a", undefined, inputs("a")), step("delete", "c", inputs("c", {}))];
  write("preview.json", { steps: planned, diagnostics });
  write("drift.json", { ...noDrift, drifted: [drifted("d", 900)] });
  const { stdout } = await comment("--title", "prod");
  expect(stdout).not.toMatch(/Monitor [ac]|merging this sets|#### (Created|Deleted)/);
  expect(stdout).toContain("`Monitor d`");
  write("preview.json", { steps: [], diagnostics });
  write("drift.json", "");
  const failed = await comment("--title", "prod");
  expect(failed.stdout).toMatch(
    /^<!-- pulumi-uptime comment v2 title=prod -->\n\n### `prod`: the preview failed\n/,
  );
  expect(failed.stdout).toContain(
    "```\nMonitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n```",
  );
  expect(failed.stdout).toContain("**It is not known what merging this changes.**");
  expect(failed.stdout).not.toContain("unchanged");
  expect(failed.stdout).toContain("Drift: it could not be looked for; see the log.");

  write("preview.json", "");
  write("preview.log", "error: no stack named 'prod' found\n");
  expect((await comment()).stdout).toContain("```\nerror: no stack named 'prod' found\n```");

  rmSync(join(folder, "preview.json"));
  rmSync(join(folder, "drift.json"));
  const findings = [
    { code: "api-key", level: "ok", text: "fine" },
    { code: "monitors-list", level: "failed", text: "GET /api/v1/monitors was answered with status 401" },
    { code: "program-channels", level: "warning", text: "Nobody is told." },
  ];
  write("doctor.json", { findings });
  const checks = await comment();
  expect(checks.stdout).toBe(
    "<!-- pulumi-uptime comment v2 title= -->\n\n### Some checks failed\n\n- `GET /api/v1/monitors was answered with status 401`\n\n" +
      "#### Before you merge\n\n- `Nobody is told.`\n",
  );
  rmSync(join(folder, "doctor.json"));
  expect(await comment()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing to comment on") as string,
  });
  expect(await comment("--limit", "10")).toMatchObject({ code: 1, stdout: "" });
});

test("steps that are not known, or hidden, are an error", async () => {
  write("drift.json", noDrift);
  write("preview.json", { steps: [stack, { op: "shred", urn: urnOf("a") }] });
  expect((await comment()).stdout).toContain(
    "The preview has the operation shred, which pulumi-uptime does not know",
  );
  write("preview.json", { steps: [stack, step("replace", "a", inputs("a"), inputs("a"))] });
  const hidden = await comment("--reviewed", "");
  expect(hidden.stdout).toContain("The preview was made without --show-replacement-steps");
  expect(hidden.stderr).toContain("It is not known what would be done: the preview failed");
});

describe("what was reviewed is what runs", () => {
  const changes = [
    step("update", "a", inputs("a"), inputs("a", { interval: 300, sslAlertDays: 14 })),
    step("create", "b", undefined, inputs("b", { importId: "7" })),
    step("delete", "c", inputs("c")),
    step("create", "d", undefined, inputs("d", { url: unknown, requestAuthPassword: "[secret]" })),
    bucket("create"),
  ];
  const edits = [drifted("e", 900), drifted("f", "Edited", "name", "F")];
  const report = (found: readonly object[] = edits, more: object = {}) => ({
    ...noDrift,
    drifted: found,
    ...more,
  });
  const run = async (
    steps: readonly object[],
    drift: object = report(),
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Outcome> => {
    write("preview.json", preview(steps));
    write("drift.json", drift);
    return commentWith(env, ...args);
  };
  const hashesOf = async (...of: Parameters<typeof run>): Promise<string[]> =>
    / changes=(\S*) -->$/.exec(marker(await run(...of)))?.[1]?.match(/.{10}/g) ?? [];
  const digestOf = async (...[steps, drift]: Parameters<typeof run>): Promise<string> =>
    (await run(steps, drift, ["--digest"])).stdout.trim();
  const changed = (at: number, present: object): object[] =>
    changes.map((one, index) => (index === at ? present : one));

  /** With the keys of each object in the opposite order, which makes no difference to JSON. */
  const turned = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, one]) => [key, turned(one)]),
        )
      : value;
  const timed = (time: string) =>
    JSON.parse(
      JSON.stringify(changes).replaceAll('"type":', `"created":"${time}","modified":"${time}","type":`),
    ) as object[];

  test.each<[string, readonly object[], readonly object[]]>([
    ["the order of steps", changes.toReversed(), edits],
    ["the order of properties", changes.map((one) => turned(one) as object), edits],
    ["the order of drift", changes, edits.toReversed()],
    ["times", timed("2026-01-02T03:04:05Z"), edits],
    ["what is hidden", changed(2, step("delete", "c", inputs("c", { __provider: "other" }))), edits],
    ["values of other packages", changed(4, bucket("create", { tags: "b" })), edits],
    ["properties of other packages", changed(4, bucket("create", { acl: "public" })), edits],
    ["what does not change", [...changes, step("same", "x", inputs("x"), inputs("x"))], edits],
  ])("the hashes and the digest do not depend on %s", async (_, steps, found) => {
    const hashes = await hashesOf(changes);
    // Of the program four, and what an apply may leave of three of them, with their secrets or without; other packages, and drift.
    expect(hashes).toHaveLength(12);
    expect(await hashesOf(steps, report(found))).toEqual(hashes);
    expect(await digestOf(steps, report(found))).toBe(await digestOf(changes));
  });

  const update = inputs("a", { interval: 300, sslAlertDays: 14 });
  const withState = (state: object) => {
    const one = step("update", "a", inputs("a"), update);
    return { ...one, newState: { ...one.newState, ...state } };
  };
  test.each<[string, readonly object[]]>([
    ["another value", changed(0, step("update", "a", inputs("a"), { ...update, interval: 600 }))],
    ["another value before", changed(0, step("update", "a", inputs("a", { interval: 180 }), update))],
    ["another property", changed(0, step("update", "a", inputs("a"), { ...update, pause: true }))],
    ["another operation", changed(0, step("delete", "a", inputs("a")))],
    ["another option", changed(0, withState({ protect: true }))],
    ["the option retainOnDelete", changed(0, withState({ retainOnDelete: true }))],
    ["another resource", changed(2, step("delete", "x", inputs("c")))],
    ["another record", changed(1, step("create", "b", undefined, inputs("b", { importId: "8" })))],
    ["a value that is known now", changed(3, step("create", "d", undefined, inputs("d")))],
    ["another package's operation", changed(4, bucket("delete"))],
    ["another package's resource", changed(4, bucket("create", {}, `${bucketUrn}-2`))],
    [
      "a change of options alone",
      [...changes, { ...step("same", "x", inputs("x"), inputs("x")), oldState: { type, protect: true } }],
    ],
    ["a change more", [...changes, step("delete", "x", inputs("x"))]],
    ["what an earlier run has left", [...changes, step("delete-replaced", "x", inputs("x"))]],
  ])("one hash changes with %s, and that of what an apply may leave of it", async (_, steps) => {
    const [before, digest] = [await hashesOf(changes), await digestOf(changes)];
    const after = (await hashesOf(steps)).filter((hash) => !before.includes(hash));
    expect(after.length).toBeGreaterThan(0);
    expect(after.length).toBeLessThanOrEqual(3);
    expect(await digestOf(steps)).not.toBe(digest);
  });

  test("the id of what another package deletes, and the options that change, count", async () => {
    const unprotected = (id: string, before: object) => {
      const state = { type: "aws:s3/bucket:Bucket", id };
      return { op: "same", urn: bucketUrn, oldState: { ...state, ...before }, newState: state };
    };
    const deleted = (id: string) => ({ ...bucket("delete"), oldState: { type: "aws:s3/bucket:Bucket", id } });
    const all = [
      unprotected("a", { protect: true }),
      unprotected("a", { retainOnDelete: true }),
      { ...unprotected("a", {}), op: "update" },
      deleted("a"),
      deleted("b"),
    ];
    const words = new Set<string>();
    for (const one of all) words.add(await digestOf([one], report([])));
    expect(words.size).toBe(all.length);
    // An edit by hand has a hash of its own, whether or not the program changes the same value.
    const apart = [
      ...(await hashesOf(changes, report([]))),
      ...(await hashesOf([], report([drifted("a", 900)]))),
    ];
    expect(new Set(await hashesOf(changes, report([drifted("a", 900)])))).toEqual(new Set(apart));
  });

  test("one hash changes with other drift", async () => {
    const [before, digest] = [await hashesOf(changes), await digestOf(changes)];
    const other = report([drifted("e", 901), ...edits.slice(1)]);
    expect((await hashesOf(changes, other)).filter((hash) => !before.includes(hash))).toHaveLength(1);
    expect(await digestOf(changes, other)).not.toBe(digest);
  });

  /** The comment on a pull request, as a platform returns it. */
  const commentOn = async (steps: readonly object[], drift?: object, more: object = {}): Promise<object> => ({
    body: (await run(steps, drift, ["--commit", "0a1b"])).stdout.replaceAll("\n", "\r\n"),
    ...more,
  });
  const others = {
    body: "Looks good.\n<!-- pulumi-uptime comment v2 title= digest=0 changes=0123456789 -->",
  };

  test.each<[string, readonly object[], readonly object[]]>([
    ["the same", changes, edits],
    ["a part of it, because a run has failed in the middle", changes.slice(2), edits.slice(1)],
    ["no drift any more", changes, []],
    ["nothing to do any more", [], []],
  ])("an apply may do what was reviewed: %s", async (_, steps, found) => {
    write("comments.json", [others, await commentOn(changes, report(), { pull: 12, head: "0a1b" })]);
    const { code, stderr } = await run(steps, report(found), ["--reviewed", "comments.json"]);
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("a reviewed replacement covers the delete that a run has left, of the same record only", async () => {
    const replace = step("replace", "a", inputs("a"), update);
    write("comment.md", (await run([replace, step("create-replacement", "a", inputs("a"), update)])).stdout);
    const left = step("delete-replaced", "a", inputs("a"));
    expect(await run([left], report([]), ["--reviewed", "comment.md"])).toMatchObject({ code: 0 });
    const { oldState, ...rest } = left;
    const other = { ...rest, oldState: { ...oldState, id: "another" } };
    for (const one of [other, step("delete-replaced", "b", inputs("b")), step("delete", "a", inputs("a"))])
      expect(await run([one], report([]), ["--reviewed", "comment.md"])).toMatchObject({ code: 1 });
  });

  test("an apply may do what several pull requests have shown, and a comment may be a file of its own", async () => {
    write("comments.json", [
      await commentOn(changes.slice(0, 2), report([])),
      await commentOn(changes.slice(2)),
    ]);
    expect(await run(changes, report(), ["--reviewed", "comments.json"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    write("comment.md", (await run(changes)).stdout);
    expect(await run(changes, report(), ["--reviewed", "comment.md"])).toMatchObject({ code: 0 });
    expect(await run(changes, report([drifted("x", 1)]), ["--reviewed", "comment.md"])).toMatchObject({
      code: 1,
    });
  });

  const byHand =
    /To go on: a comment that shows it, and is reviewed, or if all that is listed above is right, a run by hand with the digest [\da-f]{32}\.\n$/;

  test.each<[string, string | (() => Promise<object[]>), RegExp]>([
    [
      "nothing was reviewed",
      "",
      /^Nothing is applied\. Nothing of this was reviewed\. There is no comment of a preview\. /,
    ],
    [
      "only others have commented",
      () => Promise.resolve([others]),
      /reviewed\. No comment on team\/prod has a preview's changes in its first line\. /,
    ],
    [
      "an older commit was reviewed",
      async () => [await commentOn(changes, report(), { pull: 12, head: "ffff" })],
      /reviewed\. The comment on pull request 12 is of commit 0a1b, and the pull request's head is ffff\. /,
    ],
    [
      "a forged comment names no commit",
      async () => {
        const forged = await commentOn(changes, report(), { pull: 12, head: "ffff" });
        const { body, ...rest } = forged as { body: string };
        return [{ ...rest, body: body.replace(/commit=\S+/, "commit=##[error]x") }];
      },
      /The comment on pull request 12 is of commit \(unknown\), and/,
    ],
    [
      "the preview had failed",
      async () => [await commentOn([{ op: "shred", urn: urnOf("a") }], report(), { pull: 12 })],
      /reviewed\. The comment on pull request 12 is of a preview that failed\. /,
    ],
    [
      "some was not reviewed",
      async () => [await commentOn(changes.slice(0, 3), report(edits.slice(1)))],
      /^Nothing is applied\. 3 of 7 changes were not reviewed: Monitor d: create, aws:s3\/bucket:Bucket logs: create, Monitor e: edited by hand\. /,
    ],
  ])("an apply stops and says why: %s", async (_, given, reason) => {
    if (typeof given !== "string") write("comments.json", await given());
    const reviewed = typeof given === "string" ? given : "comments.json";
    const { code, stdout, stderr } = await run(changes, report(), ["--reviewed", reviewed]);
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(byHand);
    // What would be done is listed all the same.
    expect(stdout).toContain("- Monitor c\n");
  });

  test("the digest of a stop allows exactly this run, deletes too; pasted with what was around it", async () => {
    const stop = (await run(changes, report(), ["--reviewed", ""])).stderr;
    const [, digest = ""] = /digest ([\da-f]{32})/.exec(stop) ?? [];
    expect(digest).toBe(await digestOf(changes));
    for (const given of [digest, ` ${digest.toUpperCase()}.\n`])
      expect(await run(changes, report(), ["--reviewed", given, "--max-deletes", "0"])).toMatchObject({
        code: 0,
      });
    const other = await run(changes.slice(1), report(), ["--reviewed", digest]);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(`The digest ${digest} is that of other changes than those listed above.`);
    expect(await digestOf([], report([]))).toBe("none");
    expect(await run([], report([]), ["--reviewed", ""])).toMatchObject({ code: 0 });
    expect(await run(changes, report(), ["--reviewed", "nothing.json"])).toMatchObject({
      code: 1,
      stderr: "--reviewed: nothing.json is neither a file nor a digest.\n",
    });
    write("other.json", { body: "" });
    expect((await run(changes, report(), ["--reviewed", "other.json"])).stderr).toContain(
      "is not a JSON array of comments",
    );
  });

  test("on GitHub, a stop is an annotation, and in the job's summary", async () => {
    const args = ["--reviewed", "", "--summary", "summary.md"];
    const name = "50%\n::warning::x";
    const { stderr } = await run([step("delete", name, inputs("c"))], report([]), args, {
      GITHUB_ACTIONS: "true",
    });
    expect(stderr).toMatch(/^::error title=pulumi-uptime::Nothing is applied\. .*\.\n$/);
    const summary = readFileSync(join(folder, "summary.md"), "utf8");
    expect(summary).toMatch(/^> \[!CAUTION\]\n> `Nothing is applied\. .*`\n\n<!-- pulumi-uptime comment v2 /);
    write("comments.json", [await commentOn(changes)]);
    await run(changes, report(), ["--reviewed", "comments.json", "--summary", "summary.md"]);
    expect(readFileSync(join(folder, "summary.md"), "utf8").slice(summary.length)).toMatch(
      /^<!-- pulumi-uptime/,
    );
  });

  test("in the job's summary, names that a stop repeats are neither Markdown nor HTML", async () => {
    write("comments.json", [await commentOn(changes)]);
    const added = step("delete", "<img src=x> **@all** `y`", inputs("c"));
    await run([...changes, added], report(), ["--reviewed", "comments.json", "--summary", "summary.md"]);
    expect(readFileSync(join(folder, "summary.md"), "utf8")).toMatch(
      /^> \[!CAUTION\]\n> `` Nothing is applied\. .*: Monitor <img src=x> \*\*@all\*\* `y`: delete\. .* ``\n/,
    );
  });

  test.each<[string, string, boolean]>([
    ["as a number", "3", true],
    ["as a number", "2", false],
    ["as a share", "100%", true],
    ["as a share", "99%", false],
    ["none", "0", false],
  ])("--max-deletes limits deletes and replacements of all packages, %s: %s", async (_, most, isAllowed) => {
    const steps = [
      step("delete", "a", inputs("a")),
      step("replace", "b", inputs("b"), update),
      bucket("delete"),
    ];
    write("comments.json", [await commentOn(steps, report([]))]);
    const limit = ["--max-deletes", most];
    const { code, stderr } = await run(steps, report([]), [...limit, "--reviewed", "comments.json"]);
    // In the pull request, the comment already says so.
    const before = await run(steps, report([]), limit);
    expect([code, before.code]).toEqual([isAllowed ? 0 : 1, 0]);
    const words = /3 of 3 resources would be deleted or replaced, and the limit is (\d|\d+%, so 2)\./;
    if (isAllowed) {
      expect(stderr).toBe("");
      expect(before.stdout).not.toMatch(words);
    } else {
      expect(stderr).toMatch(words);
      expect(stderr).toContain(
        "To go on: the label allow-deletes on a pull request, which counts if it was set before the merge, or if all",
      );
      expect(before.stdout).toMatch(words);
      expect(before.stdout).toContain(
        ". The apply stops after the merge, unless this pull request has the label `allow-deletes` when it is merged: set it if you approve.**\n",
      );
    }
  });

  test("a pull request whose deletes were allowed does not allow those of another", async () => {
    const [one, two] = [step("delete", "a", inputs("a")), step("delete", "b", inputs("b"))];
    const both = async (deletes: boolean) => [
      await commentOn([one], report([]), { pull: 1, deletes: true }),
      await commentOn([two], report([]), { pull: 2, deletes }),
    ];
    const args = ["--reviewed", "comments.json", "--max-deletes", "0"];
    write("comments.json", await both(true));
    expect(await run([one, two], report([]), args)).toMatchObject({ code: 0 });
    write("comments.json", await both(false));
    expect((await run([one, two], report([]), args)).stderr).toContain("1 of 2 resources would be deleted");
  });

  test.each(["many", "-1", "20 %", ""])("--max-deletes refuses %j", async (most) => {
    expect(await run(changes, report(), ["--max-deletes", most])).toMatchObject({ code: 1, stdout: "" });
  });

  test("code of other packages in state must be that of the review, if there is anything to do", async () => {
    const code = (hash: string) => [{ hash, resources: ["Table users", "Table orders"] }];
    write("comments.json", [await commentOn(changes, report(edits, { code: code("AAAAAAAAAA") }))]);
    const apply = (steps: readonly object[], drift: object) =>
      run(steps, drift, ["--reviewed", "comments.json"]);
    expect(await apply(changes, report(edits, { code: code("AAAAAAAAAA") }))).toMatchObject({ code: 0 });
    expect(await apply(changes, report())).toMatchObject({ code: 0 });
    const other = await apply(changes, report(edits, { code: code("BBBBBBBBBB") }));
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(
      "1 of 8 changes was not reviewed: code in state of Table users, Table orders (BBBBBBBBBB).",
    );
    expect(await apply([], report([], { code: code("BBBBBBBBBB") }))).toMatchObject({ code: 0 });
    // What the program brings is in state after the first run.
    const table = { type: "pulumi-nodejs:dynamic:Table", inputs: { __provider: "exports.handler=1" } };
    const brought = [
      ...changes,
      { op: "create", urn: `urn:pulumi:prod::team::${table.type}::users`, newState: table },
    ];
    write("comments.json", [await commentOn(brought)]);
    const [created] = (await hashesOf(brought)).filter(
      (hash) => hash === shortHash(["code", "exports.handler=1"]),
    );
    expect(created).toBeDefined();
    expect(await apply(changes, report(edits, { code: code(created ?? "") }))).toMatchObject({ code: 0 });
  });

  const table = (op: string, text: string) => {
    const tableType = "pulumi-nodejs:dynamic:Table";
    const state = { type: tableType, inputs: { __provider: text }, outputs: { __provider: "of state" } };
    return { op, urn: `urn:pulumi:prod::team::${tableType}::users`, oldState: state, newState: state };
  };
  const codeOf = (...pieces: readonly (string | undefined)[]) => {
    const hash = shortHash(["code", pieces[0]]);
    return [{ hash, resources: pieces.slice(1) }];
  };

  test("a comment names the code in state that the program does not declare", async () => {
    const many = Array.from({ length: 6 }, (_, index) => `Table t${index}`);
    const code = [...codeOf("of the program", "Table users"), ...codeOf("of state", ...many)];
    const plugin = { hash: "CCCCCCCCCC", address: "https://plugins.example", resources: ["evil default"] };
    const steps = [...changes, table("same", "of the program")];
    const { stdout } = await run(steps, report(edits, { code: [...code, plugin] }));
    const hash = shortHash(["code", "of state"]);
    expect(stdout).toContain(
      "#### Code in the stack's state that is not in this program (2)\n\n" +
        "Pulumi runs it when it refreshes or deletes these resources, and merging this pull request allows that. " +
        "Expect it if the pull request changes or removes the code, or if an earlier comment shows the same hash. " +
        "Otherwise find out who wrote it into the state before you merge.\n\n" +
        `- \`${many.join(", ")}\`: code \`${hash}\`\n` +
        "- `evil default`: the plugin from `https://plugins.example`, `CCCCCCCCCC`\n",
    );
    expect(stdout.indexOf("#### Code in the")).toBeLessThan(stdout.indexOf("#### Edited by hand"));
    expect((await run(steps, report(edits, { code: code.slice(0, 1) }))).stdout).not.toContain("#### Code");
    // By night nothing of the program is known.
    rmSync(join(folder, "preview.json"));
    expect((await comment()).stdout).not.toContain("#### Code");
  });

  test("--code stops before a preview if no review has the code in state; applied reviews count too", async () => {
    const code = codeOf("of state", "Table users");
    const check = async (given: string, found: readonly object[] = code): Promise<Outcome> => {
      rmSync(join(folder, "preview.json"), { force: true });
      write("drift.json", report(edits, { code: found }));
      return comment("--title", "prod", "--code", "--reviewed", given);
    };
    const commentOnCode = async (more: object = {}): Promise<void> => {
      const { stdout } = await run([], report([], { code }), ["--title", "prod", "--commit", "0a1b"]);
      write("comments.json", [{ body: stdout, ...more }]);
    };
    expect(await check("", [])).toEqual({ code: 0, stdout: "", stderr: "" });
    const stopped = await check("");
    expect(stopped).toMatchObject({ code: 1, stdout: "" });
    expect(stopped.stderr).toMatch(
      /^Nothing is previewed or applied, because .* Nobody has reviewed code in state of Table users \([\w+/]{10}\)\. .* the digest [\da-f]{16}\.\n$/,
    );
    // Its digest is the beginning of that of the whole run, which an apply that stopped later has printed.
    const [, digest = ""] = /digest ([\da-f]{16})\.$/m.exec(stopped.stderr) ?? [];
    const whole = await digestOf(changes, report(edits, { code }));
    for (const given of [digest, whole]) expect(await check(given)).toMatchObject({ code: 0, stderr: "" });
    const other = (await digestOf(changes)).slice(0, 16);
    expect((await check(other)).stderr).toContain("is that of other code than code in state of Table users");
    expect(await run(changes, report(edits, { code }), ["--reviewed", digest])).toMatchObject({ code: 1 });
    expect(await run([], report([], { code }), ["--reviewed", digest])).toMatchObject({ code: 0 });

    await commentOnCode();
    expect(await check("comments.json")).toMatchObject({ code: 0 });
    expect((await check("comments.json", codeOf("other", "Table users"))).code).toBe(1);
    await commentOnCode({ applied: true });
    expect(await check("comments.json")).toMatchObject({ code: 0 });
    await commentOnCode({ head: "ffff" });
    expect((await check("comments.json")).stderr).toContain("the pull request's head is ffff");
    // Of what was applied, nothing but the code counts.
    write("comments.json", [await commentOn(changes, report(), { applied: true })]);
    expect(await run(changes, report(), ["--reviewed", "comments.json"])).toMatchObject({ code: 1 });
    write("drift.json", "");
    expect((await comment("--code", "--reviewed", "")).stderr).toContain("the drift is not known");
    expect((await comment("--code")).stderr).toContain("--code checks what --reviewed gives");
  });

  test("comments on another stack do not count", async () => {
    const body = (await run(changes, report(), ["--title", "staging"])).stdout;
    write("comments.json", [{ body }]);
    const apply = (title: string) =>
      run(changes, report(), ["--title", title, "--reviewed", "comments.json"]);
    expect(await apply("staging")).toMatchObject({ code: 0 });
    expect((await apply("prod")).stderr).toContain("No comment on prod has a preview's changes");
  });

  describe("what a run has left that failed in the middle", () => {
    const declared = inputs("a", { interval: 300, pause: true, requestHeaders: "[secret]" });
    const apply = async (then: readonly object[], found: readonly object[] = []) => {
      const { code, stderr } = await run(then, report(found), ["--reviewed", "comment.md"]);
      return [code, stderr.replace(/ To go on[^]*/, "")];
    };
    const review = async (steps: readonly object[], found: readonly object[] = []): Promise<void> => {
      write("comment.md", (await run(steps, report(found))).stdout);
    };
    const none = [0, ""];
    const rest = {
      ...step("update", "a", declared, declared),
      oldState: { type, inputs: declared, outputs: { ...declared, pause: false } },
    };
    const otherRest = { ...rest, newState: { type, inputs: { ...declared, interval: 900 } } };
    /** As it is if the provider notes what changes. */
    const known = { ...rest, diffReasons: ["pause"] };
    const secretToo = { ...rest, diffReasons: ["pause", "requestHeaders"] };

    test.each<[string, object]>([
      ["a create whose record is made in part", step("create", "a", undefined, declared)],
      ["an update that was stored in part", step("update", "a", inputs("a"), declared)],
    ])("%s", async (_, reviewed) => {
      await review([reviewed]);
      expect(await apply([rest])).toEqual(none);
      expect(await apply([otherRest])).toEqual([1, expect.stringContaining("Monitor a: update")]);
    });

    const isSame = step("same", "a", declared, declared);
    test("an edit by hand that is in state now", async () => {
      await review([isSame], [drifted("a", false, "pause", true)]);
      expect(await apply([known])).toEqual(none);
      for (const other of [rest, secretToo, otherRest])
        expect(await apply([other])).toEqual([1, expect.stringContaining("Monitor a: update")]);
      expect(await apply([step("create", "a", undefined, declared)])).toEqual([
        1,
        expect.stringContaining("Monitor a: create"),
      ]);
    });

    test("a secret is a part of what is left only if the review showed it", async () => {
      const update = step("update", "a", inputs("a"), declared);
      await review([{ ...update, diffReasons: ["interval", "pause"] }]);
      expect(await apply([known])).toEqual(none);
      for (const other of [rest, secretToo])
        expect(await apply([other])).toEqual([1, expect.stringContaining("Monitor a: update")]);
      await review([{ ...update, diffReasons: ["interval", "pause", "requestHeaders"] }]);
      for (const one of [known, rest, secretToo]) expect(await apply([one])).toEqual(none);
    });

    test("a record that is gone, and is not in state any more", async () => {
      await review([isSame], [{ ...drifted("a", null), outcome: "gone" }]);
      expect(await apply([step("create", "a", undefined, declared)])).toEqual(none);
      expect(await apply([rest])).toEqual(none);
      const other = step("create", "a", undefined, { ...declared, interval: 900 });
      expect(await apply([other])).toEqual([1, expect.stringContaining("Monitor a: create")]);
    });
  });

  test("a create that a killed run has begun is named before the merge, and needs a review of its own", async () => {
    const created = [step("create", "a", undefined, inputs("a"))];
    const pending = report([], { pending: [{ urn: urnOf("a") }, { urn: urnOf("x") }] });
    write("before.md", (await run(created, report([]))).stdout);
    expect(await run(created, report([]), ["--reviewed", "before.md"])).toMatchObject({ code: 0 });
    const stopped = await run(created, pending, ["--reviewed", "before.md"]);
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toContain(
      "1 of 2 changes was not reviewed: Monitor a: a run was killed while it created it.",
    );
    expect(stopped.stdout).toMatch(
      /#### Before you merge\n\n- A run was killed while it created `Monitor a`, so the records may exist, and merging this makes them again\./,
    );
    expect(stopped.stdout).not.toContain("Monitor x");
    write("after.md", stopped.stdout);
    expect(await run(created, pending, ["--reviewed", "after.md"])).toMatchObject({ code: 0 });
    // Once it is in state, Pulumi still keeps it.
    expect(await run([], pending, ["--reviewed", ""])).toMatchObject({ code: 0 });
    rmSync(join(folder, "preview.json"));
    expect((await comment()).stdout).toContain("`A run was killed while it created Monitor a, Monitor x:");
  });

  test("an explicit provider is this package's: its address is shown and hashed, its keys are not", async () => {
    const providerUrn = "urn:pulumi:prod::team::pulumi:providers:uptime::eu";
    const provider = (baseUrl: string, apiKey: string) => ({
      type: "pulumi:providers:uptime",
      inputs: { __name: "eu", baseUrl, apiKey, accounts: "[secret]" },
    });
    const moved = (to: string, key = "canary") => [
      {
        op: "update",
        urn: providerUrn,
        diffReasons: ["apiKey", "baseUrl"],
        oldState: provider("https://a.example", "old"),
        newState: provider(to, key),
      },
    ];
    const { stdout } = await run(moved("https://b.example"));
    expect(stdout).toContain(
      '#### Updated (1)\n\n```diff\n! Provider eu\n!     baseUrl: "https://a.example" => "https://b.example"\n' +
        "!     apiKey: [secret] => [secret]\n```\n",
    );
    expect(stdout).not.toContain("canary");
    const digests = new Set<string>();
    for (const [to, key] of [
      ["https://b.example"],
      ["https://c.example"],
      ["https://b.example", "other"],
    ] as const)
      digests.add(await digestOf(moved(to, key)));
    expect(digests.size).toBe(2);
    // The same change of a resource in another account, or of another provider.
    const inAccount = (account?: string, reference?: string) => {
      const one = step("create", "a", undefined, inputs("a", account === undefined ? {} : { account }));
      return [{ ...one, newState: { ...one.newState, provider: reference && `${reference}::0a1b` } }];
    };
    const all = [
      inAccount(),
      inAccount("eu"),
      inAccount(undefined, providerUrn),
      inAccount(undefined, `${providerUrn}2`),
      inAccount(undefined, providerUrn.replace(/eu$/, "default_0_1_0")),
    ];
    const words = new Set<string>();
    for (const steps of all) words.add(await digestOf(steps));
    expect(words.size).toBe(4);
  });

  test("more hashes than a third of the limit are left out, and the comment says what that means", async () => {
    const names = Array.from({ length: 7000 }, (_, index) => `m${index}`);
    const steps = names.map((name) => step("create", name, undefined, inputs(name)));
    const outcome = await run(steps, report([]));
    expect(Buffer.byteLength(outcome.stdout)).toBeLessThanOrEqual(65_536);
    expect(marker(outcome)).toMatch(/ digest=[\da-f]{32} -->$/);
    expect(outcome.stdout).toContain("the apply stops, and needs the digest that it prints.**");
    write("comment.md", outcome.stdout);
    const stopped = await run(steps, report([]), ["--reviewed", "comment.md"]);
    expect(stopped.stderr).toContain("A comment has no room for its changes' hashes. To go on:");
    // GitLab's limit holds them.
    expect(marker(await run(steps, report([]), ["--limit", "1000000"]))).toContain(" changes=");
  });

  test("a job's summary keeps to GitHub's limit, whatever the log has", async () => {
    const steps = ["a", "b", "c"].map((name) =>
      step("create", name, undefined, inputs(name, { alertTextLookup: "x".repeat(400_000) })),
    );
    const { stdout } = await run(steps, report([]), ["--limit", "0", "--summary", "summary.md"]);
    expect(stdout.length).toBeGreaterThan(1_200_000);
    const summary = readFileSync(join(folder, "summary.md"), "utf8");
    expect(summary.length).toBeLessThanOrEqual(1_000_001);
    for (const name of ["a", "b", "c"]) expect(summary).toContain(`+ Monitor ${name}\n`);
  });

  test("the values of secrets count if the provider has noted them", async () => {
    const note = (hash: string, name = "a") => {
      writeFileSync(join(folder, "values"), `${JSON.stringify({ name: `${type}::${name}`, hash })}\n`);
    };
    const env = { UPTIME_REVIEW_FILE: join(folder, "values") };
    const hashes = (steps = changes): Promise<string[]> => hashesOf(steps, report(), [], env);
    const without = await hashes();
    note("one");
    const one = await hashes();
    note("two");
    const two = await hashes();
    expect(new Set([...without, ...one, ...two]).size).toBe(without.length + 4);
    // A resource without secrets shows all its values.
    const plain = [step("update", "a", { interval: 60 }, { interval: 300 })];
    const before = await hashes(plain);
    note("three");
    expect(await hashes(plain)).toEqual(before);
  });

  test("a secret that changes beside another property is named, and needs a review of its own", async () => {
    const one = [step("update", "a", inputs("a"), inputs("a", { interval: 300 }))];
    const notes = join(folder, "values");
    /** With what the provider has noted; without a key it notes no values. */
    const previewed = (changed: string[] | undefined, ...args: string[]): Promise<Outcome> => {
      const name = `${type}::a`;
      const lines = changed
        ? [
            { name: `${type}::b`, changed: ["url"] },
            { name, changed: [] },
            { name, changed },
          ]
        : [];
      writeFileSync(notes, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return run(one, report([]), args, { UPTIME_REVIEW_FILE: notes });
    };
    const [alone, both] = [["interval"], ["interval", "requestHeaders"]];
    const linesOf = ({ stdout }: Outcome): string => /! Monitor a\n([^`]*)/.exec(stdout)?.[1] ?? "";
    const interval = "!     interval: 60 => 300\n";
    expect(linesOf(await previewed(alone))).toBe(interval);
    expect(linesOf(await previewed(both))).toBe(`${interval}!     requestHeaders: [secret] => [secret]\n`);
    // Pulumi does not say whether they change.
    expect(linesOf(await previewed(undefined))).toBe(
      `${interval}!     requestHeaders (secret) may change too\n`,
    );
    for (const reviewed of [alone, both, undefined]) {
      write("comment.md", (await previewed(reviewed)).stdout);
      for (const then of [alone, both, undefined]) {
        // A review of more covers a part of it, which a run may have left that failed in the middle.
        const isReviewed = reviewed !== alone || then === alone;
        expect((await previewed(then, "--reviewed", "comment.md")).code).toBe(isReviewed ? 0 : 1);
      }
    }
  });

  const message = "error: b has a problem";
  const uncompared = { errors: [{ urn: urnOf("e"), message: "status 500" }] };
  test.each<[string, unknown, unknown, string]>([
    [
      "the preview failed",
      { steps: changes, diagnostics: [{ message, severity: "error" }] },
      report(),
      "the preview failed",
    ],
    ["the preview printed nothing", "", report(), "the preview failed"],
    ["drift was not looked for", preview(changes), "", "the drift is not known"],
    ["something was not compared", preview(changes), report([], uncompared), "the drift is not known"],
  ])("there are no hashes and no digest if not everything is known: %s", async (_, printed, drift, what) => {
    write("preview.json", printed);
    write("drift.json", drift);
    expect(marker(await comment())).toMatch(/^<!-- pulumi-uptime comment v2 title=\S* -->$/);
    for (const option of [["--reviewed", ""], ["--digest"]])
      expect(await comment(...option)).toMatchObject({
        code: 1,
        stderr: `Nothing is applied. It is not known what would be done: ${what}, see above.\n`,
      });
  });
});
