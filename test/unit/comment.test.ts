import { rmSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { engineUnknown } from "../../provider/common/marks";
import { anyCharacter } from "../support/arbitraries";
import { cli, unset } from "../support/cli";
import {
  bucket,
  bucketUrn,
  comment,
  create,
  drifted,
  folder,
  gone,
  inputs,
  marker,
  monitorType,
  preview,
  remove,
  report,
  run,
  stack,
  step,
  update,
  urnOf,
  withFolder,
  withStates,
  write,
} from "../support/comment";
import { defaults } from "../support/monitors";
import { assertProperty } from "../support/property";
import { sample } from "../support/size";

withFolder();

const numbered = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** Expects that texts are in this order in another one. */
function expectOrder(text: string, parts: readonly string[]): void {
  const places = parts.map((part) => text.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThanOrEqual(0);
}

/** A team's thousand monitors: drift in 20, changes of the program in 30, some of them long. */
function writeLargeStack(edited = 20): void {
  const long = "lorem ipsum ".repeat(300);
  const steps = numbered(30, "monitor-").map((name, index) => {
    if (index < 15) return update(name, { interval: 300 + index });
    if (index < 20) return update(name, { alertTextLookup: `${long}${index}` });
    return index < 25 ? create(name) : remove(name);
  });
  const changeSummary = { create: 5, update: 20, delete: 5, same: 971 };
  write("preview.json", { steps: [stack, ...steps], changeSummary });
  const edits = numbered(edited, "").map((index) =>
    drifted(`monitor-${100 + Number(index)}`, 900 + Number(index)),
  );
  write("drift.json", report(edits, { checked: 1000, servers: ["https://uptime.example.com"] }));
}

describe("how much fits", () => {
  test("a comment for 1000 monitors, 30 changed and 20 drifted, shows every change within GitHub's limit", async () => {
    writeLargeStack();
    const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
    const runUrl = "https://ci.example/my%20run/7?a=b";
    const outcome = await comment(["--title", "prod", "--commit", commit, "--run-url", runUrl]);
    const { code, stdout, stderr } = outcome;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.length).toBeLessThan(65_536);
    const lines = stdout.split("\n");
    expect(marker(outcome)).toMatch(
      new RegExp(
        `^<!-- pulumi-uptime comment v2 title=prod commit=${commit} digest=[\\da-f]{32} changes=[\\w+/]{1150} -->$`,
      ),
    );
    expect(lines.slice(1, 9)).toEqual([
      "",
      "### `prod`: what merging this changes",
      "",
      "server `https://uptime.example.com` · commit `0a1b2c3d4e` · [log](<https://ci.example/my%20run/7?a=b>)",
      "",
      "**Merging this deletes 5 resources, creates 5 and updates 40; 950 unchanged.**",
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
    expectOrder(stdout, ["#### Deleted (5)", "#### Created (5)", "#### Updated (20)", "#### Edited by hand"]);
  });

  test("what does not fit is cut between two lines, and the comment says how many; without a limit all is there", async () => {
    writeLargeStack();
    const { stdout } = await comment(["--limit", "2000"]);
    expect(stdout.length).toBeLessThanOrEqual(2000);
    const shown = stdout.match(/^[!+-] Monitor \S+$/gm) ?? [];
    expect(shown.length).toBeGreaterThan(0);
    const rows = stdout.match(/^\| `Monitor .*\|$/gm) ?? [];
    const more = [...stdout.matchAll(/^… and (\d+) more, in the log$/gm)].map(([, count]) => Number(count));
    expect(shown.length + rows.length + more.reduce((a, b) => a + b, 0)).toBe(50);
    expect((stdout.match(/```/g)?.length ?? 1) % 2).toBe(0);
    const full = await comment(["--limit", "0"]);
    expect(full.stdout).not.toContain("… and ");
    expect(full.stdout).toContain("lorem ipsum ".repeat(300));
  });

  test.each(["create", "delete", "update", "replace"])(
    "a thousand of them are all named within GitHub's limit: %s",
    async (op) => {
      // GitHub counts characters, and not bytes.
      const names = numbered(1000, "チームのチェックアウトサービスの監視-");
      const steps = names.map((name) => {
        const after = inputs(name, { alertTextLookup: "x".repeat(80) });
        return step(
          op,
          name,
          op === "create" ? undefined : inputs(name),
          op === "delete" ? undefined : after,
        );
      });
      const edits = names.map((name) => drifted(name, 900));
      const { stdout } = await run(steps, edits);
      expect(stdout.length).toBeLessThanOrEqual(65_536);
      const named = new Set(stdout.match(/(?<=^[!+-] Monitor )\S+/gm));
      expect(names.filter((name) => !named.has(name))).toEqual([]);
      // The drift gets what is left.
      expect(stdout).toMatch(/^… and \d+ more, in the log$/m);
    },
  );

  test("the hashes of what a failed run leaves give way to names", async () => {
    const names = numbered(1000, "team-checkout-service-backend-health-");
    const steps = names.map((name) => create(name));
    const { stdout } = await run(steps);
    expect(stdout.length).toBeLessThanOrEqual(65_536);
    expect(stdout.match(/^\+ Monitor \S+$/gm)).toHaveLength(1000);
    expect(stdout.split("\n")[0]?.length).toBeGreaterThan(10_000);
  });

  test("an error that does not fit is shown by its first lines", async () => {
    const message = numbered(2000, "line ").join("\n");
    const failed = { steps: [stack], diagnostics: [{ severity: "error", message }] };
    const { stdout } = await run(failed, [], ["--limit", "2000"]);
    expect(stdout).toContain("```\nline 0\nline 1\n");
    expect(stdout.length).toBeLessThanOrEqual(2000);
  });

  test("values come before the drift, and names of other packages and imports before both", async () => {
    const names = numbered(400, "service-");
    const imports = names.map((name, index) => create(`hand-${name}`, { importId: String(index) }));
    const others = names.map((name) => bucket("create", {}, `${bucketUrn}-${name}`));
    const updates = names.map((name) => update(name, { alertTextLookup: "x".repeat(80) }));
    const edits = names.map((name) => drifted(name, 900));
    const { stdout } = await run([...updates, ...others, ...imports], edits);
    const { length } = stdout;
    expect(length).toBeLessThanOrEqual(65_536);
    expect(length).toBeGreaterThan(65_000);
    const count = (pattern: RegExp): number => stdout.match(pattern)?.length ?? 0;
    expect(count(/^[!+] (Monitor|aws:s3\/bucket:Bucket) \S+/gm)).toBe(1200);
    // The values are cut at the limit, so what is left is too small for a value, and for all but one or two rows of the drift.
    const shown = count(/alertTextLookup: /g);
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThan(400);
    expect(stdout).toMatch(/undoes these edits\n\n[^…]*… and (400|399|398) more, in the log\n/);
    // Without the values there is room for rows.
    const fewer = (await run([...others, ...imports], edits)).stdout;
    const rows = fewer.match(/^\| `Monitor service-\d+` \|.*\|$/gm) ?? [];
    expect(fewer.match(/^\| `Monitor/gm)).toHaveLength(rows.length);
    expect(rows.length).toBeGreaterThan(0);
    const [, left = 0] = /^… and (\d+) more, in the log$/m.exec(fewer) ?? [];
    expect(rows.length + Number(left)).toBe(400);
  });

  test("a thousand rows of drift leave room for the values of 30 changes", async () => {
    writeLargeStack(1000);
    const { stdout } = await comment();
    expect(stdout.length).toBeGreaterThan(64_000);
    for (let index = 0; index < 15; index++) expect(stdout).toContain(`interval: 60 => ${300 + index}\n`);
  });

  test("no comment exceeds its limit or leaves a code block open", async () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 3000 });
    const values = fc.array(fc.tuple(fc.string({ unit: anyCharacter }), text), { maxLength: 40 });
    await assertProperty(
      fc.asyncProperty(values, fc.integer({ min: 3000, max: 20_000 }), async (values, limit) => {
        const steps = values.map(([name, text], index) =>
          step("update", `${index}${name}`, inputs("a"), inputs("a", { alertTextLookup: text, url: name })),
        );
        const edits = values.map(([name, text]) => drifted(name, text, "name", name));
        const { code, stdout } = await run({ steps }, edits, ["--limit", String(limit)]);
        expect(code).toBe(0);
        expect(stdout.length).toBeLessThanOrEqual(limit);
        expect(stdout.isWellFormed()).toBe(true);
        const outsideCode = stdout.replace(/^(`{3,})\w*\n(?:[^]*?\n)?\1$/gm, "");
        expect(outsideCode).not.toMatch(/^`{3,}/m);
      }),
      { numRuns: sample(2, 50, 2000) },
    );
  });

  test("a value of any length and any number of backticks is shown", async () => {
    const text = "`a".repeat(150_000);
    const { code, stdout } = await run([create("a", { alertTextLookup: text })], [], ["--limit", "0"]);
    expect(code).toBe(0);
    expect(stdout).toContain(text);
  });
});

/** A replacement of the record 7. */
const moved = withStates(
  step("replace", "moved", inputs("moved"), inputs("moved", { url: "https://new.example/" })),
  { id: "7" },
);
const ignoring = { urn: urnOf("ignoring") };
/** A delete of the record 155. */
const deleted = (name: string, more: object = {}, values: object = {}) =>
  withStates(step("delete", name, inputs("shop", values)), { id: "155", ...more });
/** A step that changes options of a monitor, and perhaps other values. */
const withOptions = (op: string, before: object, after: object, more: object = {}) =>
  withStates(step(op, "a", inputs("a"), inputs("a", more)), { id: "7", ...before }, after);
const isProtected = { protect: true };
/** Inputs without a secret. */
const plain = inputs("a", { requestHeaders: undefined });
const ofBucket = (op: string, id: string, name = "", more: object = {}) => ({
  ...bucket(op, {}, `${bucketUrn}${name}`),
  oldState: { type: "aws:s3/bucket:Bucket", id, ...more },
});
const long = (end: string) => inputs("a", { alertTextLookup: "a".repeat(500) + end });
const native = (one: object): object =>
  JSON.parse(JSON.stringify(one).replaceAll(monitorType, "uptime:index:Monitor")) as object;
const password = { requestAuthPassword: "[secret]" };

test.each<[string, object[], (string | RegExp)[], { edits?: object[]; hides?: RegExp }?]>([
  [
    "a long value cut, with its length",
    [step("update", "a", long("OLD"), long("N"))],
    [/^! {5}alertTextLookup: "a{119}… \(505 characters\) => "a{119}… \(503 characters\)$/m],
  ],
  [
    "changes in the order of names, whatever the engine's order",
    ["m10", "m2", "a", "m1"].map((name) => create(name)),
    [/\+ Monitor a\n[^-]*\+ Monitor m1\n[^-]*\+ Monitor m2\n[^-]*\+ Monitor m10\n/],
  ],
  [
    "what a create sets, and no defaults",
    [create("a", { ...defaults, sslAlertDays: 14, account: "eu" })],
    [
      '+ Monitor a of eu\n+     name: "a"\n+     url: "https://a.example/"\n+     interval: 60\n',
      "+     sslAlertDays: 14\n",
    ],
    { hides: /alertCondition|requestMethod|cacheBuster/ },
  ],
  [
    "replacements, changed secrets and drift in state as such",
    [
      moved,
      { ...moved, op: "create-replacement" },
      { ...moved, op: "delete-replaced" },
      update("secret", {}),
      withStates(update("edited", {}), { outputs: inputs("edited", { interval: 900 }) }),
    ],
    [
      "**Merging this replaces 1 resource and updates 2; 0 unchanged.**",
      "#### Replaced (1): the old record is deleted, with its history and id\n\n```diff\n" +
        '! Monitor moved: record 7, "moved", "https://moved.example/"\n' +
        '!     url: "https://moved.example/" => "https://new.example/"\n',
      "! Monitor secret\n!     requestHeaders (secret), or an option of the resource\n",
      "! Monitor edited\n!     interval: 900 => 60\n",
    ],
    { hides: /__provider/ },
  ],
  [
    "a replacement whose record is deleted first",
    ["delete-replaced", "replace", "create-replacement"].map((op) => ({
      ...withStates(moved, { pendingReplacement: true }),
      op,
    })),
    ['"https://moved.example/"; it is deleted first\n'],
  ],
  [
    "a replacement of a renamed resource whose record is deleted first: Pulumi deletes it under its former URN",
    ["delete-replaced", "replace", "create-replacement"].map((op) => ({
      ...withStates(moved, { pendingReplacement: true, urn: urnOf("former") }),
      op,
      ...(op === "delete-replaced" && { urn: urnOf("former") }),
    })),
    ["**Merging this replaces 1 resource; 0 unchanged.**", '"https://moved.example/"; it is deleted first\n'],
    { hides: /former/ },
  ],
  [
    "a replacement whose record an earlier run has deleted, as a create",
    ["replace", "create-replacement"].map((op) => ({
      ...withStates(moved, { pendingReplacement: true }),
      op,
    })),
    ["**Merging this creates 1 resource; 0 unchanged.**", "#### Created (1)\n\n```diff\n+ Monitor moved\n"],
    { hides: /deleted|record 7/ },
  ],
  [
    "for native resources, the record of an import, the property of a changed secret, and the provider",
    [
      native({ ...withStates(create("hand"), {}, { importID: "eu/42" }), op: "import" }),
      {
        ...(native(
          withStates(
            step("update", "home", inputs("home", password), inputs("home", { ...password, interval: 300 })),
            {},
            { provider: `${urnOf("eu", "pulumi:providers:uptime")}::0a1b` },
          ),
        ) as { op: string }),
        detailedDiff: {
          interval: { kind: "update" },
          requestAuthPassword: { kind: "update", inputDiff: true },
          "requestHeaders[0].value": { kind: "update", inputDiff: true },
          "requestHeaders[1]": { kind: "add", inputDiff: true },
        },
      },
    ],
    [
      '+ Monitor hand: record eu/42, "hand", "https://hand.example/"\n',
      "! Monitor home of eu\n!     interval: 60 => 300\n!     requestAuthPassword: [secret] => [secret]\n" +
        "!     requestHeaders: [secret] => [secret]\n",
    ],
  ],
  [
    "no value that the program now marks as secret",
    [
      step("update", "a", inputs("a"), inputs("a", { url: "[secret]", ...password })),
      step("update", "b", inputs("b", { url: "[secret]" }), inputs("b")),
    ],
    [
      "! Monitor a\n!     url: [secret] => [secret]\n!     requestAuthPassword: [secret]\n",
      '! Monitor b\n!     url: [secret] => "https://b.example/"\n',
    ],
  ],
  [
    "neither the record's name and URL nor an edit by hand if the program now marks them as secret",
    [
      withStates(
        step(
          "update",
          "a",
          inputs("canary"),
          inputs("a", { name: "[secret]", url: "[secret]", interval: 300 }),
        ),
        { id: "7" },
      ),
    ],
    [
      "! Monitor a: record 7\n!     name: [secret] => [secret]\n!     url: [secret] (by hand) => [secret]\n!     interval: 60 => 300\n",
      "| `Monitor a` | `7` | `url` | `[secret]` | `[secret], differs; becomes [secret]` |\n",
    ],
    {
      edits: [
        {
          ...drifted("a", "https://edited-canary.example/", "url", "https://canary.example/"),
          record: "canary",
        },
      ],
      hides: /canary/,
    },
  ],
  [
    "no name and URL of a record that is gone if the program now marks them as secret",
    [
      withStates(step("update", "a", inputs("canary"), inputs("a", { name: "[secret]", url: "[secret]" })), {
        id: "7",
      }),
    ],
    ["| `Monitor a` | `7` | `(gone)` | `[secret]` | `is created again, with a new id` |\n"],
    {
      edits: [gone("a")].map((edit) => ({
        ...edit,
        properties: [{ ...edit.properties[0], inState: "canary" }],
      })),
      hides: /canary/,
    },
  ],
  [
    "a create of another package that has an input importId as a create, without its value",
    [bucket("create", { importId: "canary" })],
    [
      "**Merging this creates 1 resource; 0 unchanged.**",
      "#### Of other packages: 1 to create\n\n```diff\n+ aws:s3/bucket:Bucket logs\n```\n",
    ],
    { hides: /canary/ },
  ],
  [
    "the record of a delete, also one that an earlier run has left, and one that stays",
    [
      deleted("shop"),
      deleted("kept", { retainOnDelete: true }, { url: "[secret]" }),
      { ...deleted("old"), op: "delete-replaced" },
      deleted("login", {}, { url: "https://probe:canary@login.example/a@b" }),
    ],
    [
      '- Monitor shop: record 155, "shop", "https://shop.example/"\n',
      '- Monitor kept: record 155, "shop"; the record stays (retainOnDelete)\n',
      '- Monitor old: record 155, "shop", "https://shop.example/"; an earlier run has replaced it\n',
      '- Monitor login: record 155, "shop", "https://login.example/a@b"\n',
      "**Merging this deletes 4 resources; ",
    ],
  ],
  [
    "a delete that the option protect would stop",
    [deleted("shop", isProtected)],
    [/^- Monitor shop: record 155, .*; it is protected$/m],
  ],
  [
    "one sentence on what a merge does to the program's changes and the drift together",
    [update("both", { pause: true }), ...Array.from({ length: 10 }, () => ({ op: "same", urn: urnOf("x") }))],
    [
      "**Merging this creates 1 resource (1 again) and updates 2; 8 unchanged.**",
      "#### Edited by hand: merging this undoes these edits\n",
      '| `Monitor gone` | `7` | `(gone)` | `"GONE"` | `is created again, with a new id` |',
    ],
    { edits: [drifted("both", 900), drifted("edited", 900), gone("gone")] },
  ],
  ["that nothing changes", [], ["**Merging this changes nothing; 0 unchanged.**"]],
  [
    "drift of a record that the change deletes, and not that it is undone",
    [remove("edited"), remove("gone")],
    [
      "**Merging this deletes 2 resources",
      "| `Monitor edited` | `7` | `interval` | `60` | `900; the record is deleted` |",
      '| `Monitor gone` | `7` | `(gone)` | `"GONE"` | `leaves the state too` |',
    ],
    { edits: [drifted("edited", 900), gone("gone")] },
  ],
  [
    "of a value that was edited by hand that value, because a change of it loses it",
    [
      update("a", { interval: 120, pause: true }),
      step("replace", "b", inputs("b"), inputs("b", { interval: 120, pause: true })),
      {
        ...withStates(update("c", { interval: 120, pause: true }), {}, { type: "uptime:index:Monitor" }),
        detailedDiff: { "requestHeaders[0].value": { kind: "update" } },
      },
    ],
    [
      ...["a", "b"].map(
        (name) => `! Monitor ${name}\n!     interval: 900 (by hand) => 120\n!     pause: true\n`,
      ),
      "!     interval: 60 => 120\n!     pause: true\n!     requestHeaders: [secret] (by hand) => [secret]\n",
      // It is not undone.
      "| `Monitor a` | `7` | `interval` | `60` | `900; becomes 120` |",
      "| `Monitor b` | `7` | `interval` | `60` | `900; the record is deleted` |",
      "| `Monitor c` | `7` | `requestHeaders` | `[secret]` | `[secret], differs; becomes [secret]` |",
    ],
    {
      edits: [
        drifted("a", 900),
        drifted("b", 900),
        { ...drifted("c", null), properties: [{ property: "requestHeaders", secret: true }] },
      ],
    },
  ],
  [
    "a change of protect or retainOnDelete, also if nothing else changes",
    [
      withOptions("same", isProtected, {}),
      ofBucket("same", "logs-1a", "", isProtected),
      withOptions("same", {}, {}),
    ],
    [
      // Pulumi counts the steps as `same`.
      "**Merging this updates 2 resources; 1 unchanged.**",
      '#### Updated (1)\n\n```diff\n! Monitor a: record 7, "a", "https://a.example/"\n!     option protect: true => false\n```\n',
      "! aws:s3/bucket:Bucket logs\n!     option protect: true => false\n",
    ],
  ],
  [
    "such a change beside another one",
    [withOptions("update", {}, { retainOnDelete: true }, { interval: 120 })],
    [
      "!     interval: 60 => 120\n!     requestHeaders (secret) may change too\n!     option retainOnDelete: false => true\n",
    ],
  ],
  [
    "such a change beside a secret, which may have changed too",
    [withOptions("update", isProtected, {})],
    ["!     requestHeaders (secret), or an option of the resource\n!     option protect: true => false\n"],
  ],
  [
    "a taint as what replaces a record, because no option of the program does",
    [withStates(step("replace", "a", plain, plain), { id: "7", taint: true })],
    ['! Monitor a: record 7, "a", "https://a.example/"\n!     option taint: true => false\n'],
    { hides: /an option of the resource/ },
  ],
  [
    "that the record of a replacement stays only if state has retainOnDelete",
    [withStates(moved, { retainOnDelete: true }, { retainOnDelete: false })],
    ['"https://moved.example/"; the record stays (retainOnDelete)\n'],
  ],
  [
    "that the record of a replacement is deleted if only the program has retainOnDelete",
    [withStates(moved, {}, { retainOnDelete: true })],
    ['"https://moved.example/"\n'],
    { hides: /the record stays/ },
  ],
  [
    "an update that only finishes an earlier one as such",
    [{ ...update("a", {}), diffReasons: ["__partial"] }],
    ["#### Updated (1)\n\n```diff\n! Monitor a\n!     what an earlier run has left undone\n```\n"],
  ],
  [
    "what stays with its edits, because it is retained, or deleted with another resource",
    [
      withStates(remove("kept"), { retainOnDelete: true }),
      withStates(remove("left"), { deletedWith: urnOf("site") }),
      withStates(remove("own"), { deletedWith: urnOf("other") }),
      remove("site"),
    ],
    [
      "- Monitor kept; the record stays (retainOnDelete)\n",
      "- Monitor left; the record stays (deletedWith)\n",
      "- Monitor own\n",
      "| `interval` | `60` | `900; the record stays as it is` |",
      "| `interval` | `60` | `300; the record is deleted` |",
    ],
    { edits: [drifted("kept", 900), drifted("own", 300)] },
  ],
  [
    "that undoing an edit replaces the record, because of replaceOnChanges",
    [update("both", { pause: true })],
    [
      "**Merging this replaces 2 resources and updates 1; 0 unchanged.**",
      "| `Monitor both` | `7` | `interval` | `60` | `900; the record is replaced` |",
      "| `Monitor one` | `7` | `interval` | `60` | `900; the record is replaced` |",
      "| `Monitor two` | `7` | `interval` | `60` | `900` |",
    ],
    {
      edits: [
        { ...drifted("both", 900), replaces: true },
        { ...drifted("one", 900), replaces: true },
        drifted("two", 900),
      ],
    },
  ],
  [
    "a replacement of what is gone as a create, and an update of another record as impossible",
    [
      moved,
      { ...withStates(moved, ignoring, { ...ignoring, ignoreChanges: ["name"] }), ...ignoring },
      update("other", { pause: true }),
    ],
    [
      "**Merging this creates 2 resources (2 again) and cannot undo the edit of 1; 0 unchanged.**",
      "#### Created (2)\n\n```diff\n+ Monitor ignoring",
      "\n+ Monitor moved",
    ],
    {
      edits: [
        gone("moved"),
        gone("ignoring"),
        { ...drifted("other", 900), outcome: "another record", message: "is another" },
      ],
      hides: /Replaced/,
    },
  ],
  [
    "the id of another package's resource in a delete, replacement or import",
    [
      ofBucket("delete", "logs-1a2b"),
      ofBucket("replace", "logs-3c", "-new"),
      {
        op: "import",
        urn: `${bucketUrn}-old`,
        newState: { type: "aws:s3/bucket:Bucket", importID: "logs-7f" },
      },
      ofBucket("update", "logs-5e", "-kept"),
    ],
    [
      "\n- aws:s3/bucket:Bucket logs: id logs-1a2b\n",
      "\n+ aws:s3/bucket:Bucket logs-old: id logs-7f\n",
      "\n! aws:s3/bucket:Bucket logs-new: id logs-3c\n",
      "\n! aws:s3/bucket:Bucket logs-kept\n",
    ],
  ],
])("a comment shows %s", async (_, steps, shows, { edits = [], hides } = {}) => {
  const { stdout } = await run(steps, edits);
  for (const text of shows)
    if (typeof text === "string") expect(stdout).toContain(text);
    else expect(stdout).toMatch(text);
  if (hides) expect(stdout).not.toMatch(hides);
});

test("replacements, deletes and creates come first, other packages are named, and imports come last", async () => {
  const imports = numbered(100, "hand-").map((name, index) => create(name, { importId: String(index) }));
  const others = [bucket("create"), bucket("delete", {}, `${bucketUrn}-old`)];
  const { stdout } = await run([...imports, create("made"), ...others], [drifted("edited", 900)]);
  for (const text of [
    "**Merging this deletes 1 resource, creates 2, updates 1 and imports 100; 0 unchanged.**",
    "#### Deleted (1)\n\n```diff\n- aws:s3/bucket:Bucket logs-old\n```\n",
    "#### Created (1)\n\n```diff\n+ Monitor made\n",
    "#### Of other packages: 1 to create\n\n```diff\n+ aws:s3/bucket:Bucket logs\n```\n",
    "#### Imported (100): nothing is written\n\n```diff\n" +
      '+ Monitor hand-0: record 0, "hand-0", "https://hand-0.example/"\n+ Monitor hand-1',
  ])
    expect(stdout).toContain(text);
  const order = ["Bucket logs-old", "Monitor made", "Monitor edited", "Bucket logs\n", "Monitor hand-0:"];
  expectOrder(stdout, order);
});

test("a record that is gone and that the program still imports is not said to be created again", async () => {
  const removed = { importId: "7" };
  const same = (name: string, before: object, after = before) =>
    step("same", name, inputs(name, before), inputs(name, after));
  const { code, stdout } = await run(
    [
      same("dynamic", removed),
      withStates(same("native", {}), {}, { importID: "eu/7" }),
      step("update", "changed", inputs("changed", removed), inputs("changed", { ...removed, pause: true })),
      // The program imports another record, or none any more.
      same("other", { importId: "8" }),
      same("free", removed, {}),
    ],
    ["changed", "dynamic", "free", "native", "other"].map(gone),
  );
  expect(code).toBe(0);
  expect(stdout).toContain("**Merging this creates 2 resources (2 again) and cannot create 3; ");
  expect(stdout).toContain(
    "#### Before you merge\n\n- The program has the option `import` for `Monitor changed, Monitor dynamic, Monitor native`, and the " +
      "record is gone, so the apply will fail. Remove the option first: then the record is created again.\n",
  );
  const fails = stdout.match(/^.*`cannot be imported again: the apply fails`/gm) ?? [];
  expect(fails.map((line) => /Monitor (\w+)/.exec(line)?.[1])).toEqual(["changed", "dynamic", "native"]);
});

test("an edit is not said to be undone if another record has the id, because the refresh fails", async () => {
  const another = { ...drifted("moved", undefined), outcome: "another record", message: "is another one" };
  const { stdout } = await run([], [another, drifted("edited", 900)]);
  expect(stdout).toContain("**Merging this updates 1 resource and cannot undo the edit of 1; 0 unchanged.**");
  expect(stdout).toContain("#### Another record has the id: `pulumi up --refresh` fails.");
});

test("what is not known before the apply is said to be so, also in a list", async () => {
  const { stdout } = await run([create("made", { url: engineUnknown, alertChannelIds: [7, engineUnknown] })]);
  expect(stdout).toContain("+     url: (known after apply)\n");
  expect(stdout).toContain('+     alertChannelIds: [7,"(known after apply)"]\n');
});

test("a renamed resource that was edited by hand is one update, and the comment shows the edit", async () => {
  const renamed = withStates(update("new", { interval: 120 }), { urn: urnOf("old") });
  const { stdout } = await run([renamed], [drifted("old", 900)]);
  expect(stdout).toContain("**Merging this updates 1 resource; 0 unchanged.**");
  expect(stdout).toContain("!     interval: 900 (by hand) => 120\n");
  expect(stdout).toContain("| `Monitor new` | `7` | `interval` | `60` | `900; becomes 120` |");
  const again = await run([renamed], [gone("old")]);
  expect(again.stdout).toContain("**Merging this creates 1 resource (1 again); 0 unchanged.**");
});

test("what to do before a merge comes before the changes, unless it is long", async () => {
  const commentWith = async (warnings: number): Promise<string> => {
    const findings = numbered(warnings, "Warning ").map((text) => ({ code: "x", level: "warning", text }));
    write("doctor.json", { findings });
    return (await run([remove("a")])).stdout;
  };
  expectOrder(await commentWith(10), ["**Merging this", "#### Before you merge", "#### Deleted"]);
  expectOrder(await commentWith(11), ["**Merging this", "#### Deleted", "#### Before you merge"]);
});

test("drift names the record and its account, and without a preview the comment is about drift only", async () => {
  const edit = { ...drifted("home", 900), account: "eu", record: "Home | page", replaces: true };
  write("drift.json", report([edit, { ...gone("shop"), message: "is gone" }]));
  const { stdout } = await cli(unset, folder, ["comment", "--drift", "drift.json"]);
  expect(stdout).toMatch(/^<!-- pulumi-uptime comment v2 title= -->\n\n### Drift\n/);
  expect(stdout).toContain(
    "#### Edited by hand: the next `pulumi up --refresh --run-program` undoes these edits",
  );
  expect(stdout).toContain('| `Monitor home of eu` | `7 "Home \\| page"` | `interval` | `60` | `900` |');
  expect(stdout).toContain('| `Monitor shop` | `7` | `(gone)` | `"SHOP"` | `is gone` |');
});

test("the first five servers are named, and the others counted", async () => {
  const servers = numbered(7, "https://uptime-");
  expect((await run([], report([], { servers }))).stdout).toContain(
    "server `https://uptime-0, https://uptime-1, https://uptime-2, https://uptime-3, https://uptime-4 and 2 more`\n",
  );
});

describe("what has failed", () => {
  test("a preview is found below the lines of a wrapper, and one that is cut short is reported", async () => {
    const text = JSON.stringify(preview([create("made")]), undefined, 2);
    write("preview.json", `\n> team@ preview\n> pulumi preview --json\n\n${text}\n`);
    expect((await comment()).stdout).toContain("+ Monitor made\n");
    write("preview.json", text.slice(0, -20));
    write("preview.log", "line\n".repeat(1000));
    const { stdout } = await comment();
    expect(stdout).toContain("### The preview failed");
    expect(stdout).toContain('`pulumi preview --json` printed no complete result: { "steps": [');
    expect(stdout).toContain("… and 961 more lines\n");
    expect(stdout.split("\n").length).toBeLessThan(60);
  });

  test.each(["{}", '{"steps":null}', '{"steps":[],"changeSummary":{}}'])(
    "a preview that could not begin, and prints %s, has failed",
    async (printed) => {
      write("preview.log", "error: could not find the plugin\n");
      const { code, stdout, stderr } = await run(JSON.parse(printed) as object, [], ["--reviewed", ""]);
      expect(code).toBe(1);
      expect(stderr).toContain("It is not known what would be done: the preview failed");
      expect(stdout).toMatch(/^<!-- pulumi-uptime comment v2 title= -->\n\n### The preview failed\n/);
      expect(stdout).toContain(`printed no complete result: ${printed}\nerror: could not find the plugin\n`);
      expect(stdout).not.toContain("unchanged");
      expect((await run([], [], ["--reviewed", ""])).stdout).toContain(
        "**Merging this changes nothing; 0 unchanged.**",
      );
    },
  );

  test("an error that YAML's host only prints is one; what another program prints is none", async () => {
    const printed = (...messages: string[]) => ({
      ...preview([]),
      diagnostics: messages.map((message) => ({ message, severity: "info#err" })),
    });
    const lines = ['\u001b[31mError\u001b[0m: resource "nothing" not found\n\n', "  on line 4:\n\n"];
    const failed = await run(printed(...lines), [], ["--reviewed", ""]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('```\nError: resource "nothing" not found\n  on line 4:\n```');
    expect(failed.stdout).toContain("**It is not known what merging this changes.**");
    const others = ["Error: a cache is missing\n", "\u001b[33mWarning\u001b[0m: old\n"];
    const { code, stdout } = await run(printed(...others), [], ["--reviewed", ""]);
    expect(code).toBe(0);
    expect(stdout).toContain("**Merging this changes nothing; 0 unchanged.**");
  });

  test("the error of a program in Python is shown with what it has printed", async () => {
    const ended = "error: an unhandled error occurred: program exited with non-zero exit code: 1";
    const diagnostics = [
      { message: "ModuleNotFoundError: No module named 'pulumi'\n", severity: "info#err" },
      { message: ended, severity: "error" },
    ];
    const { stdout } = await run({ ...preview([]), diagnostics });
    expect(stdout).toMatch(/program exited with non-zero exit code: 1\n[^]*ModuleNotFoundError: No module/);
  });

  test("events in place of a preview name the variable that makes Pulumi print them", async () => {
    const events = ["preludeEvent", "summaryEvent"].map((name, sequence) => ({ sequence, [name]: {} }));
    write("preview.json", events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const { stdout } = await comment();
    expect(stdout).toContain("### The preview failed");
    expect(stdout).toContain("run it without PULUMI_ENABLE_STREAMING_JSON_PREVIEW.");
  });

  test("a failed preview claims nothing of the program; failed checks and errors come first, then warnings", async () => {
    const message = "error: Monitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n";
    const diagnostics = [{ urn: urnOf("b"), message, severity: "error" }];
    // Pulumi prints the steps that it has planned before it failed.
    const planned = { steps: [create("a"), remove("c")], diagnostics };
    const { stdout } = await run(planned, [drifted("d", 900)], ["--title", "prod"]);
    expect(stdout).not.toMatch(/Monitor [ac]|merging this sets|#### (Created|Deleted)/);
    expect(stdout).toContain("`Monitor d`");
    write("preview.json", { steps: [], diagnostics });
    write("drift.json", "");
    const failed = await comment(["--title", "prod"]);
    expect(failed.stdout).toMatch(
      /^<!-- pulumi-uptime comment v2 title=prod -->\n\n### `prod`: the preview failed\n/,
    );
    expect(failed.stdout).toContain(
      "```\nMonitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n```",
    );
    expect(failed.stdout).toContain("**It is not known what merging this changes.**");
    expect(failed.stdout).not.toContain("unchanged");
    expect(failed.stdout).toContain("The drift is not known; see the log.");

    write("preview.json", "");
    write("preview.log", "error: no stack named 'prod' found\n");
    expect((await comment()).stdout).toContain("```\nerror: no stack named 'prod' found\n```");

    rmSync(join(folder, "preview.json"));
    expect((await comment()).stdout).toBe(
      "<!-- pulumi-uptime comment v2 title= -->\n\n### What merging this changes\n\n" +
        "**It is not known what merging this changes.**\n\nThe drift is not known; see the log.\n",
    );
    rmSync(join(folder, "drift.json"));
    const findings = [
      { code: "api-key", level: "ok", text: "fine" },
      { code: "monitors-list", level: "failed", text: "GET /api/v1/monitors returned status 401" },
      { code: "program-channels", level: "warning", text: "Nobody is told." },
      { code: "account-twins", level: "warning", text: "Two records of the account look the same." },
    ];
    write("doctor.json", { findings });
    expect((await comment()).stdout).toBe(
      "<!-- pulumi-uptime comment v2 title= -->\n\n### Some checks failed\n\n**It is not known what merging this changes.**\n\n" +
        "The drift is not known; see the log.\n\n- `GET /api/v1/monitors returned status 401`\n\n#### Before you merge\n\n- `Nobody is told.`\n",
    );
    rmSync(join(folder, "doctor.json"));
    const nothing = await comment();
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain("nothing to comment on");
    for (const limit of ["10", "", "0x4000"])
      expect(await comment(["--limit", limit])).toMatchObject({ code: 1, stdout: "" });
  });

  test("steps that are not known, or hidden, are an error", async () => {
    const unknown = { op: "shred", urn: urnOf("a") };
    expect((await run([unknown])).stdout).toContain(
      "The preview has the operation shred, which this version does not know: update pulumi-uptime.",
    );
    const replace = step("replace", "a", inputs("a"), inputs("a"));
    const hidden = await run({ steps: [stack, replace] }, [], ["--reviewed", ""]);
    expect(hidden.stdout).toContain("The preview was made without --show-replacement-steps");
    expect(hidden.stderr).toContain("It is not known what would be done: the preview failed");
  });
});
