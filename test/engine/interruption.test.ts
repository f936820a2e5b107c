import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "../../provider/emulator";
import { answer } from "../support/emulator";
import { fullTest, sample } from "../support/size";
import { monitorOf, programOf, startStack, yamlMonitor, yamlOf, type Stack } from "../support/stack";

const names = Array.from({ length: 24 }, (_, index) => `Site ${index}`);
const programs = {
  js: programOf(names.map((name) => monitorOf(name, { name }))),
  yaml: yamlOf(Object.fromEntries(names.map((name) => [name, yamlMonitor({ name })]))),
};
type Language = keyof typeof programs;

const slow: Fault = { kind: "delay", answerDelayMs: 3000 };
const limited = answer(429, "", { "Retry-After": "300" });

const start = (language: Language, maxConcurrency: number): Promise<Stack> =>
  startStack({
    language,
    program: programs[language],
    config: { "uptime:maxConcurrency": String(maxConcurrency) },
  });

/** What the server has is in state, under the same ids. */
async function expectRecorded({ emulator, workspace }: Stack, count: number): Promise<void> {
  const ids = Object.values(await workspace.resources()).map(({ id }) => Number(id));
  expect(new Set(ids)).toEqual(new Set(emulator.monitors.all().map(({ id }) => id)));
  expect([ids.length, emulator.monitors.size]).toEqual([count, count]);
}

/**
 * Runs a command, and does something once the given number of requests of a method have come, each of which misbehaves.
 *
 * @param begun how many resources the engine must have passed to the provider by then: what is not sent waits there
 */
async function interrupted(
  { emulator, workspace }: Stack,
  command: "up" | "destroy",
  fault: Fault,
  requests: number,
  interrupt: (cli: number) => unknown,
  begun = requests,
): Promise<{ output: string; sent: number; milliseconds: number }> {
  const method = command === "up" ? "POST" : "DELETE";
  let [sent, hasCome] = [0, (): void => undefined];
  const come = new Promise<void>((resolve) => (hasCome = resolve));
  emulator.fault = (request) => {
    if (request.method !== method) return undefined;
    if (++sent === requests) hasCome();
    return fault;
  };
  const flags = ["--yes", "--skip-preview", "--parallel", "24"];
  const { child, done } = workspace.start([command, ...flags], { detached: true });
  let shown = "";
  const passed = new Promise<void>((resolve) =>
    child.stdout?.on("data", (text: string) => {
      shown += text;
      if ((shown.match(/Monitor .* (?:creating|deleting) \(/g) ?? []).length >= begun) resolve();
    }),
  );
  await Promise.race([Promise.all([come, passed]), done]);
  const pressed = performance.now();
  await interrupt(child.pid ?? 0);
  const { code, output } = await done;
  emulator.fault = undefined;
  expect(output).not.toContain("customTimeouts");
  expect({ code, output }).not.toMatchObject({ code: 0 });
  return { output, sent, milliseconds: performance.now() - pressed };
}

/** What a terminal does. */
const press = (cli: number): boolean => process.kill(-cli, "SIGINT");
const pressTwice = async (cli: number): Promise<void> => {
  press(cli);
  await sleep(300);
  press(cli);
};

const isInterrupted = /Pulumi was interrupted|update canceled/;

describe("after one Ctrl-C, every record is in state, and the next `up` creates the rest", () => {
  const cases: [Language, number][] = [
    ["js", 24],
    ["js", 8],
    ["yaml", 24],
  ];
  test.each(cases.slice(0, sample(1, 1, 3)))(
    "%s, of which %d are sent at a time",
    async (language, maxConcurrency) => {
      const stack = await start(language, maxConcurrency);
      const { output, sent } = await interrupted(stack, "up", slow, maxConcurrency, press);
      expect(output).toMatch(isInterrupted);
      await expectRecorded(stack, sent);
      await stack.workspace.up();
      await expectRecorded(stack, 24);

      // A destroy that is interrupted twice is finished by the next.
      await interrupted(stack, "destroy", slow, maxConcurrency, pressTwice);
      expect(Object.keys(await stack.workspace.resources())).not.toEqual([]);
      await stack.workspace.destroy();
      await expectRecorded(stack, 0);
    },
  );

  test("of the plugin, which sends nothing that waits, for the rate limit or else", async () => {
    const stack = await start("yaml", 8);
    const { output, sent } = await interrupted(stack, "up", slow, 8, press, 24);
    expect(output).toMatch(/interrupted.*POST /);
    expect(sent).toBe(8);
    await expectRecorded(stack, 8);

    const afterPause = async (cli: number): Promise<void> => {
      await sleep(1000);
      press(cli);
    };
    const waiting = await interrupted(stack, "up", limited, 1, afterPause, 16);
    expect(waiting.output).toMatch(/429[^]*interrupted/);
    expect(waiting.milliseconds).toBeLessThan(1000 + 2000);
    await expectRecorded(stack, 8);
    await stack.workspace.up();
    await expectRecorded(stack, 24);
  });
});

fullTest("after a second Ctrl-C, uptime:adoptExisting finds the records that are not in state", async () => {
  const stack = await start("yaml", 24);
  await interrupted(stack, "up", slow, 24, pressTwice);
  expect(Object.keys(await stack.workspace.resources())).toEqual([]);
  expect(stack.emulator.monitors.size).toBe(24);
  await stack.workspace.setConfig({ "uptime:adoptExisting": "true" });
  await stack.workspace.up();
  await expectRecorded(stack, 24);
});

describe("after SIGTERM, requests that were sent get their answers, which are in state", () => {
  const toProvider = (stack: Stack): void => {
    for (const { pid, command } of stack.workspace.processes())
      if (/^\S*node .*(dynamic-provider|provider\.cjs)/.test(command)) process.kill(pid, "SIGTERM");
  };
  const toCli = (_: Stack, cli: number): boolean => process.kill(cli, "SIGTERM");

  const cases: [Language, string, typeof toCli | typeof toProvider][] = [
    ["yaml", "the provider's process", toProvider],
    ["yaml", "the CLI", toCli],
    ["js", "the provider's process", toProvider],
    ["js", "the CLI", toCli],
  ];
  test.each(cases.slice(0, sample(1, 1, 4)))("%s, to %s", async (language, _, signal) => {
    const stack = await start(language, 8);
    const { output, sent } = await interrupted(stack, "up", slow, 8, (cli) => signal(stack, cli));
    expect(output).toMatch(isInterrupted);
    await expectRecorded(stack, sent);
    await stack.workspace.up();
    await expectRecorded(stack, 24);
  });
});
