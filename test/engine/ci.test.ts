import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorOf, programOf, recordOf, type Stack, startStack } from "../support/stack";
import { answering, bodyOf, platformValues, Shell } from "../support/workflow";

const secretHeader = "canary-0815";
const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");

const program = (interval: number, others: readonly string[] = []) =>
  programOf([
    monitorOf("site", {
      name: "Site",
      interval,
      requestHeaders: [{ key: "X-Token", value: secretHeader }],
    }),
    ...others.map((name) => monitorOf(name, { name })),
  ]);

function writeScript(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

/**
 * A project as CI has it after a checkout, whose steps see the API's settings only where a workflow gives them. `npx` runs
 * the command without looking for it, which takes half a second.
 */
async function checkout(
  others?: readonly string[],
): Promise<Stack & { shell: Shell; values: Record<string, string> }> {
  const stack = await startStack({ program: program(60, others), env: {} });
  const { PULUMI_BACKEND_URL = "", PULUMI_CONFIG_PASSPHRASE = "", ...env } = stack.workspace.env;
  const values = {
    "vars.PULUMI_STACK": stack.workspace.stack,
    "vars.UPTIME_BASE_URL": stack.emulator.url,
    "secrets.PULUMI_BACKEND_URL": PULUMI_BACKEND_URL,
    "secrets.PULUMI_CONFIG_PASSPHRASE": PULUMI_CONFIG_PASSPHRASE,
    "secrets.UPTIME_API_KEY": stack.emulator.apiKey,
    ...platformValues,
  };
  const shell = new Shell(stack.workspace.project, env);
  // Where npm would have linked the command.
  writeScript(join(shell.folder, "node_modules", ".bin"), "pulumi-uptime", `exec node "${main}" "$@"`);
  writeScript(shell.bin, "npx", `[ "$1 $2" = "--no pulumi-uptime" ] && shift 2 && exec node "${main}" "$@"`);
  return { ...stack, shell, values };
}

/** What `Find the review` found. */
const found = (reviewed: string, most = "20%") => ({
  "steps.review.outputs.reviewed": reviewed,
  "steps.review.outputs.max-deletes": most,
});

const digestIn = (text: string): string => /has the digest (\S+)\./.exec(text)?.[1] ?? "";

/** The first `up`, before there are workflows. */
async function firstUp({ emulator, workspace }: Stack): Promise<void> {
  const env = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
  expect(await workspace.run(["up", "--yes", "--skip-preview"], { env })).toMatchObject({ code: 0 });
}

test("GitHub: a pull request shows the changes in one comment, which is updated, and a merge applies them", async () => {
  const { emulator, workspace, shell, values } = await checkout();
  expect(await shell.step("apply", "npm ci", values)).toMatchObject({ code: 0 });
  expect(shell.calls()).toEqual([{ program: "npm", args: ["ci"], files: {} }]);
  // Nobody has reviewed the first one, whose digest somebody gives by hand then.
  const { code, output } = await shell.step("apply", "Apply", { ...values, ...found("") });
  expect(code).toBe(1);
  const byHand = { ...values, ...found(digestIn(output), "100%") };
  expect(await shell.step("apply", "Apply", byHand)).toMatchObject({ code: 0 });
  expect(emulator.monitors.all()).toMatchObject([{ interval: 60 }]);
  // The key is nowhere, since it was in the environment only.
  expect(await workspace.stateText()).not.toContain(emulator.apiKey);

  // A pull request, and an edit by hand that merging it would undo.
  await workspace.write(program(300));
  emulator.monitors.edit(1, { name: "Edited" });
  emulator.forget();
  const preview = await shell.step("preview", "Preview", values);
  expect(preview).toMatchObject({ code: 0 });
  expect(emulator.writes()).toEqual([]);

  shell.replace("gh", "return '[]'");
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [asked, posted] = shell.calls();
  expect(asked?.args).toEqual(["api", "--paginate", "--slurp", "repos/team/monitors/issues/12/comments"]);
  expect(posted?.args.slice(0, 5).join(" ")).toBe(
    "api --silent --method POST repos/team/monitors/issues/12/comments",
  );
  const body = bodyOf(posted);
  expect(body).toMatch(
    /^<!-- uptime-preview \S+ -->\n\n### What merging this changes\n\n\*\*Program: 1 to update, /,
  );
  expect(body).toContain("\n! Monitor site: update\n!     interval: 60 => 300\n");
  expect(body).toContain('| `Monitor site` | `1` | `name` | `"Site"` | `"Edited"` |');
  expect(body).not.toContain(secretHeader);
  expect(body).not.toContain(emulator.apiKey);

  // A later push: the comment that is there is changed. The preview fails this time, which both places show.
  await workspace.write(program(61));
  const failed = await shell.step("preview", "Preview", values);
  expect(failed.code).not.toBe(0);
  const user = { login: "github-actions[bot]" };
  const comments = [4711, 4712].map((id) => ({ id, user, body }));
  shell.replace(
    "gh",
    answering({ "/12/comments": [[{ id: 1, user: { login: "mallory" }, body }], comments] }),
  );
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [, changed] = shell.calls();
  expect(changed?.args.slice(2, 5).join(" ")).toBe("--method PATCH repos/team/monitors/issues/comments/4711");
  expect(bodyOf(changed)).toContain("### The preview failed");
  expect(bodyOf(changed)).toContain("interval must be one of 60,");
  const refused = await shell.step("apply", "Apply", { ...values, ...found(body, "100%") });
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("interval must be one of 60,");
  expect(emulator.writes()).toEqual([]);
});

test("other changes than reviewed, new drift and too many deletes stop an apply", async () => {
  const names = ["a", "b", "c"];
  const { emulator, workspace, shell, values } = await checkout(names);
  const apply = (reviewed: string, most?: string) =>
    shell.step("apply", "Apply", { ...values, ...found(reviewed, most) });
  /** What a pull request with a program shows: the first line of its comment. */
  const review = async (interval: number, others: readonly string[]): Promise<string> => {
    await workspace.write(program(interval, others));
    expect(await shell.step("preview", "Preview", values)).toMatchObject({ code: 0 });
    return readFileSync(join(workspace.project, "comment.md"), "utf8").split("\n")[0] ?? "";
  };
  await firstUp({ emulator, workspace });

  const reviewed = await review(300, names);
  await workspace.write(program(900, names));
  const { id } = recordOf(emulator.monitors, "a") ?? {};
  emulator.monitors.edit(Number(id), { name: "Edited" });
  emulator.forget();
  const changed = await apply(reviewed);
  expect(changed.code).toBe(1);
  expect(changed.output).toContain("interval: 60 => 900");
  expect(changed.output).toContain(
    "The program's changes are not the reviewed ones. The drift is not the reviewed one. What is listed above has",
  );
  expect(emulator.writes()).toEqual([]);

  // Somebody has read that list. Drift that has been undone since needs no review.
  emulator.monitors.edit(Number(id), { name: "a" });
  expect(await apply(digestIn(changed.output))).toMatchObject({ code: 0 });
  expect(emulator.monitors.all().map(({ interval }) => interval)).toContain(900);

  const deleted = await review(900, []);
  emulator.forget();
  const stopped = await apply(deleted);
  expect(stopped.code).toBe(1);
  expect(stopped.output).toContain(
    "3 of 4 resources would be deleted or replaced, and --max-deletes 20% allows 0.",
  );
  expect(emulator.writes()).toEqual([]);
  // As with the label; here with the real npx.
  rmSync(join(shell.bin, "npx"));
  expect(await apply(deleted, "100%")).toMatchObject({ code: 0 });
  expect(emulator.monitors.all()).toMatchObject([{ name: "Site" }]);
});
