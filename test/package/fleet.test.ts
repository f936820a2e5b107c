import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { newFolder } from "../support/folder";
import { startProgram } from "../support/processes";
import { sample } from "../support/size";

const example = join(__dirname, "..", "..", "examples", "fleet");

/** What a preview prints before a step. */
const planned = (...steps: string[]): string =>
  steps
    .map((op) => ({ op, urn: "urn", type: "uptime:index:Monitor", old: { id: "7" } }))
    .map((metadata) => `'${JSON.stringify({ resourcePreEvent: { metadata } })}'`)
    .join(" ");

/** In place of the CLI: many stacks, of which a few fail, each in its own way. */
const pulumi = `#!/bin/sh
touch "running/$$"; ls running | wc -l >> most
trap 'rm "running/$$"' EXIT
name=$3
[ "$1" = stack ] && { name=$4; echo '{"deployment":{}}' > "$6"; }
case "$1-$name" in
  preview-s007) printf '%s\\n' '{"diagnosticEvent":{"severity":"error","message":"the program of s007 is broken"}}'; exit 1;;
  preview-s013) echo "error: no stack named 's013' found" >&2; exit 6;;
  preview-s030) ;;
  preview-s031) printf '%s\\n' ${planned("delete-replaced")};;
  preview-s032) printf '%s\\n' ${planned("create-replacement", "replace", "delete-replaced")};;
  preview-*) printf '%s\\n' ${planned("create")};;
  up-s011) echo "error: the stack is currently locked by 1 lock(s).
  file:///state: created by ci@runner (pid 7) at 2030-01-01T00:00:00Z" >&2; exit 1;;
  up-*) echo "$name" >> applied;;
esac
`;

const count = sample(40, 40, 200);

test(`${count} stacks: never more at once than asked for, and each failure is its own stack's`, async () => {
  const folder = newFolder();
  cpSync(example, folder, { recursive: true, filter: (path) => !/Pulumi\.|node_modules/.test(path) });
  for (const name of ["bin", "running"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "bin", "pulumi"), pulumi, { mode: 0o755 });
  writeFileSync(
    join(folder, "bin", "npx"),
    '#!/bin/sh\necho \'{"unmanaged":[{"name":"Stray"}]}\'\nexit 2\n',
    {
      mode: 0o755,
    },
  );
  const names = Array.from({ length: count }, (_, index) => `s${String(index).padStart(3, "0")}`);
  for (const name of names) writeFileSync(join(folder, `Pulumi.${name}.yaml`), "");
  const run = await startProgram(process.execPath, ["fleet.mjs", "--yes", "--json", "--at-once", "8"], {
    cwd: folder,
    env: { ...process.env, PATH: [join(folder, "bin"), process.env.PATH].join(delimiter) },
  }).done;
  expect(run).toMatchObject({ code: 1 });
  const report = JSON.parse(run.stdout) as {
    counts: unknown;
    stacks: { stack: string; result: string; changes: object; errors: string[]; remedy?: string }[];
    drift: unknown;
  };
  // What an earlier run has replaced is still to be deleted; a replacement is one change.
  const changes = report.stacks.slice(30, 34).map((one) => one.changes);
  expect(changes).toEqual([{}, { delete: 1 }, { replace: 1 }, { create: 1 }]);
  expect(report.counts).toEqual({ applied: count - 4, unchanged: 1, failed: 1, locked: 1, missing: 1 });
  expect(
    report.stacks.flatMap(({ stack, errors, remedy }) => (errors[0] ? [[stack, errors, remedy]] : [])),
  ).toEqual([
    ["s007", ["the program of s007 is broken"], undefined],
    ["s011", ["locked by ci@runner (pid 7) at 2030-01-01T00:00:00Z"], "pulumi cancel --yes --stack s011"],
    ["s013", ["there is no such stack yet"], "pulumi stack init --no-select s013"],
  ]);
  expect(report.drift).toEqual({ unmanaged: [{ name: "Stray" }] });
  const linesOf = (file: string): string[] => readFileSync(join(folder, file), "utf8").trim().split("\n");
  expect(linesOf("applied").sort()).toEqual(names.filter((name) => !["s007", "s011", "s013"].includes(name)));
  expect(Math.max(...linesOf("most").map(Number))).toBeLessThanOrEqual(8);
  expect(run.stderr.trim().split("\n")).toHaveLength(count);
});

const escape = "\u001b";

/** The lines on a terminal after this was written to it. */
class Terminal {
  readonly isTTY = true;
  lines: string[] = [""];

  constructor(
    readonly rows: number,
    readonly columns: number,
  ) {}

  write(text: string): void {
    for (const part of text.split(new RegExp(`(${escape}\\[\\d*[AJ]|\n)`))) {
      const count = part.startsWith(escape) && part.endsWith("A") ? part.slice(2, -1) : "";
      // What has scrolled away cannot be reached any more.
      if (count !== "") this.lines.splice(-1 - Math.min(Number(count), this.rows - 1));
      else if (part.endsWith("J")) this.lines.push("");
      else if (part === "\n") this.lines.push("");
      else this.lines.push(`${this.lines.pop() ?? ""}${part}`);
    }
    expect(this.lines.every((line) => line.length < this.columns)).toBe(true);
  }
}

test("a terminal of 24 lines shows what runs and the total of 200 stacks, and keeps each result once", async () => {
  const { Progress } = await import("../../examples/fleet/progress.mjs");
  jest.useFakeTimers();
  const terminal = new Terminal(24, 60);
  const progress = new Progress(200, terminal);
  const names = Array.from({ length: 200 }, (_, index) => `team${index}`);
  const text = "applying: 7 of 30 of a text that is longer than the terminal is wide";
  names.forEach((name, index) => {
    progress.begin(name, () => text);
    jest.advanceTimersByTime(700);
    const ended = names[index - 30];
    if (ended !== undefined) progress.end(ended, "applied", "applied");
  });
  const results = names.slice(0, 170).map((name) => `${name.padEnd(16)} applied`);
  const running = names.slice(170, 192).map((name) => `${name.padEnd(16)} ${text}`.slice(0, 59));
  const total = "170 of 200 stacks, 30 running, 170 applied";
  expect(terminal.lines.join("\n")).toBe([...results, ...running, total, ""].join("\n"));
  progress.close();
  expect(terminal.lines.join("\n")).toBe([...results, ""].join("\n"));
  jest.useRealTimers();
});
