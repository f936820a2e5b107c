import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";

import { anyCharacter } from "../support/arbitraries";
import { cli } from "../support/cli";
import type { Outcome } from "../support/cli";
import { sample } from "../support/size";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-comment-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
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
const drifted = (name: string, actual: unknown, property = "interval", declared: unknown = 60) => ({
  urn: urnOf(name),
  type,
  name,
  id: "7",
  kind: "changed",
  properties: [{ property, declared, actual, secret: false }],
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
    "comment",
    "--preview",
    "preview.json",
    "--preview-log",
    "preview.log",
    "--drift",
    "drift.json",
    "--doctor",
    "doctor.json",
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
    encrypted: [],
  });
}

test("1000 monitors, 30 changed and 20 drifted: the comment holds every change, below GitHub's limit", async () => {
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

test("what does not fit is left out as a whole, and the comment says how much and where it is", async () => {
  writeLargeStack();
  const { stdout } = await comment("--limit", "4000", "--full-at", "https://ci.example/run/7?a=b");
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
    /\n\n\[The log of the job\]\(<https:\/\/ci\.example\/run\/7\?a=b>\) has everything\.\n$/,
  );
  expect((stdout.match(/```/g)?.length ?? 1) % 2).toBe(0);
  // Without a limit everything is there.
  const full = await comment("--limit", "0");
  expect(full.stdout).not.toContain("… and ");
  expect(full.stdout).toContain("lorem ipsum ".repeat(300));
});

test("if not all fits, drift has half of the space at least, and more if the program's changes leave it", async () => {
  const changes = (count: number): object[] =>
    Array.from({ length: count }, (_, index) =>
      step("update", `changed-${index}`, inputs("a"), inputs("a", { interval: 300 })),
    );
  const report = (count: number): object => ({
    checked: count,
    drifted: Array.from({ length: count }, (_, index) => drifted(`drifted-${index}`, 900)),
    errors: [],
    encrypted: [],
  });
  const sizes = async (changed: number, edited: number): Promise<[number, number]> => {
    write("preview.json", preview(changes(changed)));
    write("drift.json", report(edited));
    const { stdout } = await comment("--limit", "20000");
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(20_000);
    const [program = "", drift = ""] = stdout.split("#### Drift");
    return [program.length, drift.length];
  };
  const [program, drift] = await sizes(1000, 1000);
  expect(drift).toBeGreaterThan(9000);
  expect(program).toBeGreaterThan(9000);
  const [few, rest] = await sizes(10, 1000);
  expect(few + rest).toBeGreaterThan(19_000);
  const [more, all] = await sizes(1000, 10);
  expect(more + all).toBeGreaterThan(19_000);
  expect(all).toBeLessThan(1500);
});

test("no limit is ever exceeded, and no code block or fold is left open", async () => {
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
          encrypted: [],
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

test("a thousand imports do not hide the one create: what is lost and made comes first and open, imports last and folded", async () => {
  const imports = Array.from({ length: 1000 }, (_, index) =>
    step("create", `hand-${index}`, undefined, inputs(`hand-${index}`, { importId: String(index) })),
  );
  const stack = { op: "create", urn: "urn:pulumi:prod::team::pulumi:pulumi:Stack::team-prod" };
  const bucket = { op: "create", urn: "urn:pulumi:prod::team::aws:s3/bucket:Bucket::logs" };
  const made = step("create", "made", undefined, inputs("made"));
  write("preview.json", preview([stack, ...imports.slice(0, 500), made, bucket, ...imports.slice(500)], 0));
  write("drift.json", { checked: 7, drifted: [drifted("edited", 900)], errors: [], encrypted: [] });
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

test("imports, replacements, secrets and state that holds drift are told apart", async () => {
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
  expect(stdout).toContain("! Monitor secret: update\n!     a secret, or an option of the resource\n");
  expect(stdout).toContain("! Monitor edited: update\n!     interval: 900 => 60\n");
  expect(stdout).not.toContain("__provider");
});

test("native resources: an import names its record, and a changed secret its property", async () => {
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
    "! Monitor home: update\n!     interval: 60 => 300\n!     requestAuthPassword: [secret] => [secret]\n! Monitor dynamic: update\n" +
      "!     a secret, or an option of the resource\n",
  );
  expect(stdout).toContain("**Program: 2 to update, 1 to import, 0 unchanged.**");
});

test("a preview that fails, checks that fail, and drift that could not be looked for are said first", async () => {
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
