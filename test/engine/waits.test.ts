import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { home } from "../support/monitors";
import { fullTest } from "../support/size";
import { startStack, type Stack } from "../support/stack";

/** A stack of some monitors. The server holds creates and imports back for eleven seconds. */
async function startWaiting(module: string, names: readonly string[], options: object = {}): Promise<Stack> {
  const monitors = names.map(
    (name) => `new Monitor("${name}", ${JSON.stringify({ ...home, name })}, ${JSON.stringify(options)});`,
  );
  const stack = await startStack({
    program: [`const { Monitor } = require("${module}");`, ...monitors].join("\n"),
  });
  const { emulator } = stack;
  let end = Infinity;
  emulator.fault = ({ method, path }) => {
    if (method !== "POST" && !/\d$/.test(path)) return undefined;
    end = Math.min(end, Date.now() + 11_000);
    if (Date.now() >= end) return undefined;
    return { kind: "answer", effect: false, status: 429, headers: { "retry-after": "11" } };
  };
  return stack;
}

// The waits are long, so all run at the same time.
test("a long wait for a rate limit is shown while it lasts, not at the end, and not by `preview --json`", async () => {
  const up = async (module: string, ...places: string[]): Promise<void> => {
    const { workspace } = await startWaiting(module, ["home", "shop"]);
    const { output } = await workspace.up();
    for (const place of places)
      expect(output).toMatch(new RegExp(`${place} \\(\\d+s\\) rate limit: 1\\d s, 1 of 3 done$`, "m"));
    expect(output).not.toContain("Diagnostics:");
  };
  const preview = async (): Promise<void> => {
    const { emulator, workspace } = await startWaiting("pulumi-uptime", ["home"], { import: "1" });
    emulator.monitors.add({ ...home, name: "home" });
    const { stdout } = await workspace.preview("--json");
    expect(emulator.requests.map(({ status }) => status)).toContain(429);
    expect(JSON.parse(stdout)).toMatchObject({ steps: expect.any(Array) as unknown });
    expect(stdout).not.toContain("rate limit");
  };
  await Promise.all([
    up("pulumi-uptime", "Stack workspace-test creating"),
    // The plugin knows the URNs, and the stack's row may have scrolled off.
    up("pulumi-uptime/native", "Monitor home creating", "Monitor shop creating"),
    preview(),
  ]);
});

// `script` gives the command a terminal.
fullTest("on a terminal, a wait is shown in the resource's row, and not at the end", async () => {
  const { workspace } = await startWaiting("pulumi-uptime/native", ["home"]);
  const command = "pulumi up --yes --skip-preview --color never";
  const { stdout } = await promisify(execFile)("script", ["-qec", command, "/dev/null"], {
    cwd: workspace.project,
    env: { ...workspace.env, COLUMNS: "200" },
  });
  expect(stdout).toContain("rate limit: 1");
  expect(stdout).not.toContain("Diagnostics:");
});
