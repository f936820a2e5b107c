import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../support/processes";
import { monitorOf, programOf, recordOf, startStack } from "../support/stack";
import { answering, bodyOf, platformValues, Shell } from "../support/workflow";

const secretHeader = "canary-0815";
const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");

const program = (interval: number, others: readonly string[]) =>
  programOf([
    monitorOf("site", { name: "Site", interval, requestHeaders: [{ key: "X-Token", value: secretHeader }] }),
    ...others.map((name) => monitorOf(name, { name })),
  ]);

function writeScript(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

/**
 * A project as CI has it after a checkout and a first `up`, whose steps see the API's settings only where a workflow gives
 * them. `npx` runs the command without looking for it, which takes half a second.
 */
async function checkout(others: readonly string[]) {
  const { emulator, workspace } = await startStack({ program: program(60, others), env: {} });
  const settings = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
  const up = await workspace.run(["up", "--yes", "--skip-preview"], { env: settings });
  expect(up).toMatchObject({ code: 0 });
  const { PULUMI_BACKEND_URL = "", PULUMI_CONFIG_PASSPHRASE = "", ...env } = workspace.env;
  const values = {
    "vars.PULUMI_STACK": workspace.stack,
    "vars.UPTIME_BASE_URL": emulator.url,
    "secrets.PULUMI_BACKEND_URL": PULUMI_BACKEND_URL,
    "secrets.PULUMI_CONFIG_PASSPHRASE": PULUMI_CONFIG_PASSPHRASE,
    "secrets.UPTIME_API_KEY": emulator.apiKey,
    ...platformValues,
  };
  const shell = new Shell(workspace.project, env);
  // Where npm would have linked the command.
  writeScript(join(shell.folder, "node_modules", ".bin"), "pulumi-uptime", `exec node "${main}" "$@"`);
  writeScript(shell.bin, "npx", `[ "$1 $2" = "--no pulumi-uptime" ] && shift 2 && exec node "${main}" "$@"`);
  return { emulator, workspace, shell, values };
}

test("GitHub: a pull request shows the changes in one comment, and nothing else than was reviewed is applied", async () => {
  const names = ["a", "b", "c"];
  const { emulator, workspace, shell, values } = await checkout(names);
  const { id } = recordOf(emulator.monitors, "Site") ?? {};
  const editByHand = (name: string): void => void emulator.monitors.edit(Number(id), { name });
  const preview = async (interval: number, others = names): Promise<Result> => {
    await workspace.write(program(interval, others));
    return shell.step("preview", "Preview", values);
  };
  const comment = () => readFileSync(join(workspace.project, "comment.md"), "utf8").split("\n")[0] ?? "";
  /** With what `Find the review` found. */
  const apply = (reviewed: string, most = "20%"): Promise<Result> => {
    const found = { "steps.review.outputs.reviewed": reviewed, "steps.review.outputs.max-deletes": most };
    return shell.step("apply", "Apply", { ...values, ...found });
  };
  expect(await shell.step("apply", "npm ci", values)).toMatchObject({ code: 0 });
  expect(shell.calls()).toEqual([{ program: "npm", args: ["ci"], files: {} }]);

  // A pull request, and an edit by hand that merging it would undo.
  emulator.forget();
  editByHand("Edited");
  expect(await preview(300)).toMatchObject({ code: 0 });
  const reviewed = comment();
  shell.replace("gh", "return '[]'");
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [asked, posted] = shell.calls();
  expect(asked?.args.join(" ")).toBe("api --paginate --slurp repos/team/monitors/issues/12/comments");
  expect(posted?.args.slice(0, 5).join(" ")).toBe(
    "api --silent --method POST repos/team/monitors/issues/12/comments",
  );
  const body = bodyOf(posted);
  expect(body).toMatch(
    /^<!-- uptime-preview \S+ -->\n\n### What merging this changes\n\n\*\*Program: 1 to update, /,
  );
  expect(body).toContain("\n! Monitor site: update\n!     interval: 60 => 300\n");
  expect(body).toContain(`| \`Monitor site\` | \`${String(id)}\` | \`name\` | \`"Site"\` | \`"Edited"\` |`);
  expect(body).not.toContain(secretHeader);
  expect(body).not.toContain(emulator.apiKey);

  // A later push: the comment that is there is changed. The preview fails this time, which both places show.
  expect(await preview(61)).not.toMatchObject({ code: 0 });
  const user = { login: "github-actions[bot]" };
  const comments = [4711, 4712].map((id) => ({ id, user, body }));
  const theirs = { id: 1, user: { login: "mallory" }, body };
  shell.replace("gh", answering({ "/12/comments": [[theirs], comments] }));
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [, changed] = shell.calls();
  expect(changed?.args.slice(2, 5).join(" ")).toBe("--method PATCH repos/team/monitors/issues/comments/4711");
  expect(bodyOf(changed)).toContain("### The preview failed");
  expect(bodyOf(changed)).toContain("interval must be one of 60,");
  const refused = await apply(body, "100%");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("interval must be one of 60,");

  // Other changes than reviewed, and other drift.
  await workspace.write(program(900, names));
  editByHand("Edited again");
  const other = await apply(reviewed);
  expect(other.code).toBe(1);
  expect(other.output).toContain("interval: 60 => 900");
  expect(other.output).toContain(
    "The program's changes are not the reviewed ones. The drift is not the reviewed one. What is listed above has",
  );
  expect(emulator.writes()).toEqual([]);

  // Somebody has read that list. Drift that has been undone since needs no review.
  editByHand("Site");
  const [, digest = ""] = /has the digest (\S+)\./.exec(other.output) ?? [];
  expect(await apply(digest)).toMatchObject({ code: 0 });
  expect(recordOf(emulator.monitors, "Site")).toMatchObject({ interval: 900 });
  // The key is nowhere, since it was in the environment only.
  expect(await workspace.stateText()).not.toContain(emulator.apiKey);

  // Too many deletes.
  expect(await preview(900, [])).toMatchObject({ code: 0 });
  emulator.forget();
  const stopped = await apply(comment());
  expect(stopped.code).toBe(1);
  expect(stopped.output).toContain(
    "3 of 4 resources would be deleted or replaced, and --max-deletes 20% allows 0.",
  );
  expect(emulator.writes()).toEqual([]);
  // As with the label; here with the real npx.
  rmSync(join(shell.bin, "npx"));
  expect(await apply(comment(), "100%")).toMatchObject({ code: 0 });
  expect(emulator.monitors.all()).toMatchObject([{ name: "Site" }]);
});
