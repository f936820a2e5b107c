import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a shell in the background of another one, which ends at once, as a killed CLI leaves what it had started. */
async function leaveBehind(mark: string, command: string): Promise<void> {
  const { marked } = await import("../../tools/left-behind.mjs");
  const shell = spawn("sh", ["-c", `(${command}) >/dev/null 2>&1 &`], {
    env: { ...process.env, ...marked(mark) },
    stdio: "ignore",
  });
  await once(shell, "close");
}

const onLinux = process.platform === "linux";

test("a process that a run leaves behind is found by its environment, named and ended", async () => {
  const { endProcessesOf, processesOf } = await import("../../tools/left-behind.mjs");
  const mark = `left-${process.pid}`;
  await leaveBehind(mark, "exec sleep 600");
  const left = await endProcessesOf(mark, 0.3);
  expect(left).toEqual(
    onLinux
      ? [{ pid: expect.any(Number) as number, command: "sleep 600", folder: process.cwd() }]
      : undefined,
  );
  for (let waited = 0; processesOf(mark)?.length && waited < 100; waited++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(processesOf(mark)).toEqual(onLinux ? [] : undefined);
});

test("a process that ends by itself in time is not one that is left", async () => {
  const { endProcessesOf } = await import("../../tools/left-behind.mjs");
  const mark = `ends-${process.pid}`;
  await leaveBehind(mark, "exec sleep 0.5");
  expect(await endProcessesOf(mark)).toEqual(onLinux ? [] : undefined);
});
