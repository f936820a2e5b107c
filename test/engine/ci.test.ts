import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isFull } from "../support/size";
import { programOf, type Stack, startStack, stopStacks } from "../support/stack";
import { bodyOf, marker, Shell } from "../support/workflow";

const secretHeader = "canary-0815";

afterEach(stopStacks);

const program = (interval: number) =>
  programOf([
    {
      kind: "Monitor",
      name: "site",
      args: {
        name: "Site",
        url: "https://shop.example/",
        interval,
        requestHeaders: [{ key: "X-Token", value: secretHeader }],
      },
    },
  ]);

/** A project as CI has it after a checkout, whose steps see the API's settings only where a workflow gives them. */
async function checkout(): Promise<Stack & { shell: Shell; values: Record<string, string> }> {
  const stack = await startStack({ program: program(60), env: {} });
  const { PULUMI_BACKEND_URL = "", PULUMI_CONFIG_PASSPHRASE = "", ...env } = stack.workspace.env;
  const values = {
    "vars.PULUMI_STACK": stack.workspace.stack,
    "vars.UPTIME_BASE_URL": stack.emulator.url,
    "secrets.PULUMI_BACKEND_URL": PULUMI_BACKEND_URL,
    "secrets.PULUMI_CONFIG_PASSPHRASE": PULUMI_CONFIG_PASSPHRASE,
    "secrets.UPTIME_API_KEY": stack.emulator.apiKey,
    "github.token": "token-of-github",
    "github.server_url": "https://github.example",
    "github.run_id": "99",
    "github.repository": "team/monitors",
    "github.event.pull_request.number": "12",
  };
  linkCommand(stack.workspace.project);
  return { ...stack, shell: new Shell(stack.workspace.project, env), values };
}

test("GitHub: what is merged is applied, and a pull request shows the changes in one comment that is kept up to date", async () => {
  const { emulator, workspace, shell, values } = await checkout();
  expect(await shell.step("apply", "npm ci", values)).toMatchObject({ code: 0 });
  expect(shell.calls()).toEqual([{ program: "npm", args: ["ci"], files: {} }]);
  expect(await shell.step("apply", "Apply", values)).toMatchObject({ code: 0 });
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

  shell.replace("gh", "");
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [asked, posted] = shell.calls();
  expect(asked?.args.slice(0, 3)).toEqual(["api", "--paginate", "repos/team/monitors/issues/12/comments"]);
  expect(posted?.args.slice(0, 5)).toEqual([
    "api",
    "--silent",
    "--method",
    "POST",
    "repos/team/monitors/issues/12/comments",
  ]);
  const body = bodyOf(posted);
  expect(body.startsWith(`${marker}\n\n### What merging this changes\n\n**Program: 1 to update, `)).toBe(
    true,
  );
  expect(body).toContain("\n! Monitor site: update\n!     interval: 60 => 300\n");
  expect(body).toContain('| `Monitor site` | `1` | `name` | `"Site"` | `"Edited"` |');
  expect(body).not.toContain(secretHeader);
  expect(body).not.toContain(emulator.apiKey);

  // A later push: the comment that is there is changed. The preview fails this time, and says so in both places.
  await workspace.write(program(61));
  const failed = await shell.step("preview", "Preview", values);
  expect(failed.code).not.toBe(0);
  shell.replace("gh", 'return args.includes("--paginate") ? "4711\\n4712\\n" : ""');
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  const [, changed] = shell.calls();
  expect(changed?.args.slice(2, 5)).toEqual([
    "--method",
    "PATCH",
    "repos/team/monitors/issues/comments/4711",
  ]);
  expect(bodyOf(changed)).toContain("### The preview failed");
  expect(bodyOf(changed)).toContain("interval must be one of 60,");
});

/** `npx` finds the command where npm would have linked it. */
function linkCommand(project: string): void {
  const manifest = z.object({ bin: z.object({ "pulumi-uptime": z.string() }) });
  const installed = join(project, "node_modules", "pulumi-uptime");
  const { bin } = manifest.parse(JSON.parse(readFileSync(join(installed, "package.json"), "utf8")));
  const folder = join(project, "node_modules", ".bin");
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh\nexec node "${join(installed, bin["pulumi-uptime"])}" "$@"\n`;
  writeFileSync(join(folder, "pulumi-uptime"), script, { mode: 0o755 });
}

test("drift by night, with the real command: an issue says what was edited, and nothing is written to the API", async () => {
  const { emulator, workspace, shell, values } = await checkout();
  expect(await shell.step("apply", "Apply", values)).toMatchObject({ code: 0 });
  const output = join(workspace.project, ".ci-output");
  emulator.forget();
  if (isFull) {
    expect(await shell.step("drift", "Look for drift", values)).toMatchObject({ code: 0 });
    expect(readFileSync(output, "utf8")).toBe("code=0\n");
  }

  emulator.monitors.edit(1, { interval: 900 });
  expect(await shell.step("drift", "Look for drift", values)).toMatchObject({ code: 0 });
  expect(readFileSync(output, "utf8").endsWith("code=2\n")).toBe(true);
  shell.replace("gh", "");
  const alert = { ...values, "steps.drift.outputs.code": "2" };
  expect(await shell.step("drift", "Alert", alert)).toMatchObject({ code: 1 });
  const body = bodyOf(shell.calls().at(-1));
  expect(body).toContain("| `Monitor site` | `1` | `interval` | `60` | `900` |");
  expect(body).not.toContain(secretHeader);

  emulator.apiKey = "another";
  const failed = await shell.step("drift", "Look for drift", values);
  expect(failed.code).toBe(1);
  expect(failed.output).toContain("401");
  expect(emulator.writes()).toEqual([]);
});
