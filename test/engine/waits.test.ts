import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { home } from "../support/monitors";
import { fullTest } from "../support/size";
import { startStack, type Stack } from "../support/stack";

const line = "waiting for the server's rate limit, for 10 seconds so far: 1 request done, 1 waiting";

/** A stack of one monitor. The server holds the next create or import back for eleven seconds. */
async function startWaiting(module: string, options: object = {}): Promise<Stack> {
  const program = `new (require("${module}").Monitor)("home", ${JSON.stringify(home)}, ${JSON.stringify(options)});`;
  const stack = await startStack({ program });
  const { emulator } = stack;
  let isRefused = false;
  emulator.fault = ({ method, path }) => {
    if (isRefused || (method !== "POST" && !/\d$/.test(path))) return undefined;
    isRefused = true;
    return { kind: "answer", effect: false, status: 429, headers: { "retry-after": "11" } };
  };
  return stack;
}

// The waits are long, so all run at the same time.
test("a long wait for a rate limit is shown while it lasts, not at the end, and not by `preview --json`", async () => {
  const up = async (module: string, place: string): Promise<void> => {
    const { workspace } = await startWaiting(module);
    const { output } = await workspace.up();
    expect(output).toMatch(new RegExp(`${place} \\(\\d+s\\) ${line}$`, "m"));
    expect(output).not.toContain("Diagnostics:");
  };
  const preview = async (): Promise<void> => {
    const { emulator, workspace } = await startWaiting("pulumi-uptime", { import: "1" });
    emulator.monitors.add(home);
    const { stdout } = await workspace.preview("--json");
    expect(emulator.requests.map(({ status }) => status)).toContain(429);
    expect(JSON.parse(stdout)).toMatchObject({ steps: expect.any(Array) as unknown });
    expect(stdout).not.toContain("waiting for");
  };
  await Promise.all([
    up("pulumi-uptime", "Stack workspace-test creating"),
    // The plugin knows the URN.
    up("pulumi-uptime/native", "Monitor home creating"),
    preview(),
  ]);
});

// `script` gives the command a terminal.
fullTest("on a terminal, a wait is shown in the resource's row, and not at the end", async () => {
  const { workspace } = await startWaiting("pulumi-uptime/native");
  const command = "pulumi up --yes --skip-preview --color never";
  const { stdout } = await promisify(execFile)("script", ["-qec", command, "/dev/null"], {
    cwd: workspace.project,
    env: { ...workspace.env, COLUMNS: "200" },
  });
  expect(stdout).toContain("waiting for the server's rate limit");
  expect(stdout).not.toContain("Diagnostics:");
});
