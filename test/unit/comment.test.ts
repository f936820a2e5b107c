import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { anyCharacter } from "../support/arbitraries";
import { cli, type Outcome } from "../support/cli";
import { newFolder } from "../support/folder";
import { unknown } from "../support/marks";
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

/** What Pulumi prints: its counts include the stack, and a replacement is one of its three steps. */
function preview(steps: readonly object[], same = 1): object {
  const changeSummary: Record<string, number> = { same };
  for (const { op } of steps as { op: string }[])
    if (!/^(create|delete)-replace/.test(op)) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  return { steps, changeSummary };
}

function write(file: string, content: unknown): void {
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
}

const comment = (...args: string[]): Promise<Outcome> =>
  cli({ url: "", apiKey: "" }, folder, [
    ..."comment --preview preview.json --preview-log preview.log".split(" "),
    ..."--drift drift.json --doctor doctor.json".split(" "),
    ...args,
  ]);

/** A team's thousand monitors: drift in 20, changes of the program in 30, some of them long. */
function writeLargeStack(): void {
  const long = "lorem ipsum ".repeat(300);
  const steps = Array.from({ length: 30 }, (_, index) => {
    const name = `monitor-${index}`;
    if (index < 15) return step("update", name, inputs(name), inputs(name, { interval: 300 + index }));
    if (index < 20)
      return step("update", name, inputs(name), inputs(name, { alertTextLookup: `${long}${index}` }));
    if (index < 25) return step("create", name, undefined, inputs(name));
    return step("delete", name, inputs(name));
  });
  // As Pulumi prints it: of what stays as it is, only the stack is a step, and all are counted.
  const stack = { op: "same", urn: "urn:pulumi:prod::team::pulumi:pulumi:Stack::team-prod" };
  const changeSummary = { create: 5, update: 20, delete: 5, same: 971 };
  write("preview.json", { steps: [stack, ...steps], changeSummary });
  write("drift.json", {
    checked: 1000,
    drifted: Array.from({ length: 20 }, (_, index) => drifted(`monitor-${100 + index}`, 900 + index)),
    errors: [],
  });
}

test("a comment for 1000 monitors, 30 changed and 20 drifted, shows every change within GitHub's limit", async () => {
  writeLargeStack();
  const { code, stdout, stderr } = await comment();
  expect([code, stderr]).toEqual([0, ""]);
  expect(Buffer.byteLength(stdout)).toBeLessThan(65_536);
  const lines = stdout.split("\n");
  expect(lines.slice(0, 7)).toEqual([
    expect.stringMatching(/^<!-- uptime-preview [\da-f]{16}-[\da-f]{16} -->$/),
    "",
    "### What merging this changes",
    "",
    "**This deletes 5 of 995 resources.**",
    "",
    "**Program: 5 to delete, 5 to create, 20 to update, 970 unchanged. Drift: 1000 resources compared, 20 drifted.**",
  ]);
  for (let index = 0; index < 15; index++) {
    expect(lines).toContain(`! Monitor monitor-${index}: update`);
    expect(lines).toContain(`!     interval: 60 => ${300 + index}`);
  }
  for (let index = 15; index < 20; index++)
    expect(stdout).toContain(`<summary><code>Monitor monitor-${index}: alertTextLookup</code></summary>`);
  expect(lines).toContain("!     alertTextLookup: (3,604 characters)");
  for (let index = 20; index < 25; index++) expect(lines).toContain(`+ Monitor monitor-${index}: create`);
  for (let index = 25; index < 30; index++) expect(lines).toContain(`- Monitor monitor-${index}: delete`);
  for (let index = 0; index < 20; index++)
    expect(lines).toContain(
      `| \`Monitor monitor-${100 + index}\` | \`7\` | \`interval\` | \`60\` | \`${900 + index}\` |`,
    );
  expect(stdout).not.toContain("… and ");
  expect(stdout).not.toContain("monitor-500");
  // The program's changes come first.
  expect(stdout.indexOf("monitor-0")).toBeLessThan(stdout.indexOf("monitor-100"));
});

test("a change that does not fit is left out as a whole, and the comment says how many and where they are", async () => {
  writeLargeStack();
  const { stdout } = await comment("--limit", "4000", "--full-at", "https://ci.example/my%20run/7?a=b");
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4000);
  const more = (noun: string): number =>
    Number(new RegExp(`^… and (\\d+) more ${noun}$`, "m").exec(stdout)?.[1] ?? 0);
  const shown = stdout.match(/^[!+-] Monitor \S+: \w+$/gm) ?? [];
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.length + more("changes")).toBe(30);
  const rows = stdout.match(/^\| `Monitor .*\|$/gm) ?? [];
  expect(rows.length + more("drifted properties")).toBe(20);
  expect(more("long values")).toBe(5);
  expect(stdout).toMatch(
    /\n\n\[The log of the job\]\(<https:\/\/ci\.example\/my%20run\/7\?a=b>\) has everything\.\n$/,
  );
  expect((stdout.match(/```/g)?.length ?? 1) % 2).toBe(0);
  // Without a limit everything is there.
  const full = await comment("--limit", "0");
  expect(full.stdout).not.toContain("… and ");
  expect(full.stdout).toContain("lorem ipsum ".repeat(300));
});

test("if not everything fits, drift gets at least half of the space, and what the program's changes leave", async () => {
  const changes = (count: number): object[] =>
    Array.from({ length: count }, (_, index) =>
      step("update", `changed-${index}`, inputs("a"), inputs("a", { interval: 300 })),
    );
  const report = (count: number): object => ({
    checked: count,
    drifted: Array.from({ length: count }, (_, index) => drifted(`drifted-${index}`, 900)),
    errors: [],
  });
  const sizes = async (changed: number, edited: number): Promise<[number, number]> => {
    write("preview.json", preview(changes(changed)));
    write("drift.json", report(edited));
    const { stdout } = await comment("--limit", "20000");
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(20_000);
    const [program = "", drift = ""] = stdout.split("#### Drift");
    return [program.length, drift.length];
  };
  const [program, drift] = await sizes(500, 500);
  expect(drift).toBeGreaterThan(9000);
  expect(program).toBeGreaterThan(9000);
  const [few, rest] = await sizes(10, 500);
  expect(few + rest).toBeGreaterThan(19_000);
  const [more, all] = await sizes(500, 10);
  expect(more + all).toBeGreaterThan(19_000);
  expect(all).toBeLessThan(1500);
});

test("no comment exceeds its limit or leaves a code block or fold open", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter, maxLength: 3000 })),
        {
          maxLength: 40,
        },
      ),
      fc.integer({ min: 1000, max: 20_000 }),
      async (values, limit) => {
        write("preview.json", {
          steps: values.map(([name, text], index) =>
            step("update", `${index}${name}`, inputs("a"), inputs("a", { alertTextLookup: text, url: name })),
          ),
        });
        write("drift.json", {
          checked: values.length,
          drifted: values.map(([name, text]) => drifted(name, text, "name", name)),
          errors: [],
        });
        const { code, stdout } = await comment("--limit", String(limit));
        expect(code).toBe(0);
        expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(limit);
        expect(stdout.isWellFormed()).toBe(true);
        const outsideCode = stdout.replace(/^(`{3,})\w*\n(?:[^]*?\n)?\1$/gm, "");
        expect(outsideCode).not.toMatch(/^`{3,}/m);
        expect(outsideCode.match(/^<details>/gm)?.length).toBe(outsideCode.match(/^<\/details>/gm)?.length);
      },
    ),
    { numRuns: sample(2, 50, 2000) },
  );
});

test("replacements, deletes and creates come first, a thousand imports last and folded", async () => {
  const imports = Array.from({ length: 1000 }, (_, index) =>
    step("create", `hand-${index}`, undefined, inputs(`hand-${index}`, { importId: String(index) })),
  );
  const stack = { op: "create", urn: "urn:pulumi:prod::team::pulumi:pulumi:Stack::team-prod" };
  const bucket = { op: "create", urn: "urn:pulumi:prod::team::aws:s3/bucket:Bucket::logs" };
  const made = step("create", "made", undefined, inputs("made"));
  write("preview.json", preview([stack, ...imports.slice(0, 500), made, bucket, ...imports.slice(500)], 0));
  write("drift.json", { checked: 7, drifted: [drifted("edited", 900)], errors: [] });
  const { stdout } = await comment();
  expect(stdout).toContain("**Program: 2 to create, 1000 to import, 0 unchanged. Drift: ");
  expect(stdout).toContain("#### Replaced, deleted and created\n\n```diff\n+ Monitor made: create\n");
  expect(stdout).toContain("\n\nResources of other packages: 1 to create.\n\n");
  expect(stdout).toMatch(/#### Imported\n\n<details><summary>\d+ imports<\/summary>/);
  expect(stdout).not.toContain("team-prod");
  const places = ["Monitor made", "Monitor edited", "Monitor hand-0:"].map((text) => stdout.indexOf(text));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places[0]).toBeLessThan(stdout.indexOf("<details>"));
});

test("imports, replacements, changed secrets and drift in state are shown as such", async () => {
  const imported = inputs("imported", { importId: "42" });
  write(
    "preview.json",
    preview([
      step("create", "imported", undefined, imported),
      step("replace", "moved", inputs("moved"), inputs("moved", { url: "https://new.example/" })),
      step("create-replacement", "moved", inputs("moved"), inputs("moved")),
      step("delete-replaced", "moved", inputs("moved")),
      step("update", "secret", inputs("secret"), inputs("secret")),
      {
        ...step("update", "edited", inputs("edited"), inputs("edited")),
        oldState: { type, inputs: inputs("edited"), outputs: inputs("edited", { interval: 900 }) },
      },
    ]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain(
    "**This replaces 1 of 3 resources.**\n\n**Program: 1 to replace, 2 to update, 1 to import, 0 unchanged.**",
  );
  expect(stdout).toContain("+ Monitor imported: import of record 42, nothing is created\n");
  expect(stdout).toContain('!     url: "https://moved.example/" => "https://new.example/"\n');
  expect(stdout).toContain(
    "! Monitor secret: update\n!     requestHeaders (secret), or an option of the resource\n",
  );
  expect(stdout).toContain("! Monitor edited: update\n!     interval: 900 => 60\n");
  expect(stdout).not.toContain("__provider");
});

test("for native resources, an import names its record, and a changed secret its property", async () => {
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
  write(
    "preview.json",
    preview([
      { ...imported, op: "import", newState: { ...imported.newState, importID: "eu/42" } },
      { ...updated, op: "update", detailedDiff },
      step("update", "dynamic", inputs("dynamic"), inputs("dynamic")),
    ]),
  );
  const { stdout } = await comment();
  expect(stdout).toContain("+ Monitor hand: import of record eu/42, nothing is created\n");
  expect(stdout).toContain(
    "! Monitor home: update\n!     interval: 60 => 300\n!     requestAuthPassword: [secret] => [secret]\n" +
      "!     requestHeaders: [secret] => [secret]\n! Monitor dynamic: update\n" +
      "!     requestHeaders (secret), or an option of the resource\n",
  );
  expect(stdout).toContain("**Program: 2 to update, 1 to import, 0 unchanged.**");
});

test("a delete names its record, and a replacement says if the old record is deleted first", async () => {
  const lost = (secret?: string) => {
    const deleted = step("delete", "shop", inputs("shop", secret ? { url: secret } : {}));
    return { ...deleted, oldState: { ...deleted.oldState, id: "155" } };
  };
  const moved = step("replace", "moved", inputs("moved"), inputs("moved", { url: "https://new.example/" }));
  const first = { ...moved, oldState: { ...moved.oldState, id: "7", pendingReplacement: true } };
  write("preview.json", preview([lost(), moved]));
  const { stdout } = await comment();
  expect(stdout).toContain('- Monitor shop: delete (155, "shop", "https://shop.example/")\n');
  expect(stdout).toContain("! Monitor moved: replace\n");
  write("preview.json", preview([lost("[secret]"), first]));
  const { stdout: other } = await comment();
  expect(other).toContain('- Monitor shop: delete (155, "shop")\n');
  expect(other).toContain("! Monitor moved: replace, the old one is deleted first\n");
});

test("a preview is found below the lines of a wrapper, and one that is cut short is reported", async () => {
  const planned = preview([step("create", "made", undefined, inputs("made"))]);
  const text = JSON.stringify(planned, undefined, 2);
  write("preview.json", `\n> team@ preview\n> pulumi preview --json\n\n${text}\n`);
  const whole = await comment();
  expect(whole.stdout).toContain("+ Monitor made: create\n");

  write("preview.json", text.slice(0, -20));
  write("preview.log", "line\n".repeat(1000));
  const cut = await comment();
  expect(cut.stdout).toContain("### The preview failed");
  expect(cut.stdout).toContain('`pulumi preview --json` printed no whole result: { "steps": [');
  expect(cut.stdout).toContain("… and 961 more lines\n");
  expect(cut.stdout.split("\n").length).toBeLessThan(60);
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

test("a failed preview, failed checks and drift that was not looked for come first", async () => {
  const message = "error: Monitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n";
  write("preview.json", { steps: [], diagnostics: [{ urn: urnOf("b"), message, severity: "error" }] });
  write("drift.json", "");
  const failed = await comment();
  expect(failed.stdout).toContain("### The preview failed\n");
  expect(failed.stdout).toContain(
    "```\nMonitor resource 'b' has a problem: interval must be one of 60, 180, not 62\n```",
  );
  expect(failed.stdout).toContain("Drift: it could not be looked for; see the log of the job.");

  write("preview.json", "");
  write("preview.log", "error: no stack named 'prod' found\n");
  expect((await comment()).stdout).toContain("```\nerror: no stack named 'prod' found\n```");

  rmSync(join(folder, "preview.json"));
  rmSync(join(folder, "drift.json"));
  write("doctor.json", {
    findings: [
      { code: "api-key", level: "ok", text: "fine" },
      { code: "monitors-list", level: "failed", text: "GET /api/v1/monitors was answered with status 401" },
    ],
  });
  const checks = await comment();
  expect(checks.stdout).toBe(
    "<!-- uptime-preview -->\n\n### Some checks failed\n\n- `GET /api/v1/monitors was answered with status 401`\n",
  );
  rmSync(join(folder, "doctor.json"));
  expect(await comment()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing to comment on") as string,
  });
  expect(await comment("--limit", "10")).toMatchObject({ code: 1, stdout: "" });
});

describe("the digest of the changes", () => {
  const bucket = (op: string, more: object = {}) => ({
    op,
    urn: "urn:pulumi:prod::team::aws:s3/bucket:Bucket::logs",
    newState: { type: "aws:s3/bucket:Bucket", inputs: { tags: "a", ...more } },
  });
  const changes = [
    step("update", "a", inputs("a"), inputs("a", { interval: 300, sslAlertDays: 14 })),
    step("create", "b", undefined, inputs("b", { importId: "7" })),
    step("delete", "c", inputs("c")),
    step("create", "d", undefined, inputs("d", { url: unknown })),
    bucket("create"),
  ];
  const edits = [drifted("e", 900), drifted("f", "Edited", "name", "F")];
  const report = (found: readonly object[] = edits, more: object = {}) => ({
    checked: 4,
    drifted: found,
    errors: [],
    ...more,
  });
  const digestOf = async (steps: readonly object[], drift: object = report()): Promise<string> => {
    write("preview.json", preview(steps));
    write("drift.json", drift);
    return /^<!-- uptime-preview (\S+) -->\n/.exec((await comment()).stdout)?.[1] ?? "";
  };
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
    ["what does not change", [...changes, step("same", "x", inputs("x"), inputs("x"))], edits],
  ])("does not depend on %s", async (_, steps, found) => {
    expect(await digestOf(steps, report(found))).toBe(await digestOf(changes));
  });

  const update = inputs("a", { interval: 300, sslAlertDays: 14 });
  test.each<[string, readonly object[]]>([
    ["another value", changed(0, step("update", "a", inputs("a"), { ...update, interval: 600 }))],
    ["another value before", changed(0, step("update", "a", inputs("a", { interval: 180 }), update))],
    ["another property", changed(0, step("update", "a", inputs("a"), { ...update, pause: true }))],
    ["another operation", changed(0, step("replace", "a", inputs("a"), update))],
    ["another resource", changed(2, step("delete", "x", inputs("c")))],
    ["another record", changed(1, step("create", "b", undefined, inputs("b", { importId: "8" })))],
    ["a value that is known now", changed(3, step("create", "d", undefined, inputs("d")))],
    ["another package's operation", changed(4, bucket("delete"))],
    ["another package's property", changed(4, bucket("create", { acl: "public" }))],
    ["a change more", [...changes, step("delete", "x", inputs("x"))]],
    ["a change less", changes.slice(1)],
  ])("changes with %s, while that of the drift stays", async (_, steps) => {
    const [program, drift] = (await digestOf(changes)).split("-");
    const [present, same] = (await digestOf(steps)).split("-");
    expect(present).not.toBe(program);
    expect(same).toBe(drift);
  });

  test("changes with the drift, while that of the program stays, and is none-none without either", async () => {
    const [program, drift] = (await digestOf(changes)).split("-");
    for (const other of [[drifted("e", 901), edits[1]], [edits[0]], [...edits, drifted("g", 900)]]) {
      const [same, present] = (await digestOf(changes, report(other as object[]))).split("-");
      expect(present).not.toBe(drift);
      expect(same).toBe(program);
    }
    expect(await digestOf([], report([]))).toBe("none-none");
  });

  const others = "The program's changes are not the reviewed ones. ";
  const otherDrift = "The drift is not the reviewed one. ";
  test.each<[string, readonly object[], readonly object[], (digest: string) => string, string]>([
    ["the same", changes, edits, (digest) => digest, ""],
    ["the same, as the comment has it", changes, edits, (digest) => `<!-- uptime-preview ${digest} -->`, ""],
    ["other changes", changes.slice(1), edits, (digest) => digest, others],
    ["other drift", changes, [drifted("e", 901)], (digest) => digest, otherDrift],
    ["both", changes.slice(1), [drifted("e", 901)], (digest) => digest, others + otherDrift],
    ["nothing was reviewed", changes, edits, () => "", others + otherDrift],
    ["nothing was to change", changes, edits, () => "none-none", others + otherDrift],
    ["no drift any more", changes, [], (digest) => digest, ""],
    ["nothing to do", [], [], () => "", ""],
  ])("is compared with the reviewed one by --reviewed: %s", async (_, steps, found, given, fault) => {
    const reviewed = given(await digestOf(changes));
    const digest = await digestOf(steps, report(found));
    const { code, stdout, stderr } = await comment("--reviewed", reviewed);
    expect(stdout).toBe((await comment()).stdout);
    expect([code, stderr]).toEqual(
      fault === "" ? [0, ""] : [1, `${fault}What is listed above has the digest ${digest}.\n`],
    );
  });

  test.each<[string, string, boolean]>([
    ["as a number", "2", true],
    ["as a number", "1", false],
    ["as a share", "50%", true],
    ["as a share", "49%", false],
    ["none", "0", false],
  ])("--max-deletes limits deletes and replacements, %s: %s", async (_, most, isAllowed) => {
    const steps = [
      step("delete", "a", inputs("a")),
      step("replace", "b", inputs("b"), update),
      bucket("delete"),
    ];
    await digestOf(steps);
    const { code, stderr } = await comment("--max-deletes", most);
    const fault = /^2 of 4 resources would be deleted or replaced, and --max-deletes \d+%? allows [01]\.\n$/;
    expect(code).toBe(isAllowed ? 0 : 1);
    expect(stderr).toMatch(isAllowed ? /^$/ : fault);
  });

  test.each(["many", "-1", "20 %", ""])("--max-deletes refuses %j", async (most) => {
    await digestOf(changes);
    expect(await comment("--max-deletes", most)).toMatchObject({ code: 1, stdout: "" });
  });

  const message = "error: b has a problem";
  const uncompared = { errors: [{ urn: urnOf("e"), message: "status 500" }] };
  test.each<[string, unknown, unknown]>([
    ["the preview failed", { steps: changes, diagnostics: [{ message, severity: "error" }] }, report()],
    ["the preview printed nothing", "", report()],
    ["drift was not looked for", preview(changes), ""],
    ["something was not compared", preview(changes), report([], uncompared)],
  ])("is missing if not everything is known: %s", async (_, printed, drift) => {
    write("preview.json", printed);
    write("drift.json", drift);
    expect((await comment()).stdout).toMatch(/^<!-- uptime-preview -->\n/);
    for (const option of [
      ["--reviewed", "none-none"],
      ["--max-deletes", "100%"],
    ])
      expect(await comment(...option)).toMatchObject({
        code: 1,
        stderr: "It is not known what would be done: see the errors above.\n",
      });
  });
});
