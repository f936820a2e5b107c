import { home } from "../support/monitors";
import { startProgram } from "../support/processes";
import { Screen } from "../support/screen";
import { sample } from "../support/size";
import { startStack, type Stack } from "../support/stack";

/** A stack of some monitors. After some creates, the server holds further ones and imports back for eleven seconds. */
async function startWaiting(
  module: string,
  names: readonly string[],
  { options = {}, creates = 0 }: { options?: object; creates?: number } = {},
): Promise<Stack> {
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
    if (emulator.monitors.size < creates) return undefined;
    end = Math.min(end, Date.now() + 11_000);
    if (Date.now() >= end) return undefined;
    return { kind: "answer", effect: false, status: 429, headers: { "retry-after": "11" } };
  };
  return stack;
}

// The waits are long, so all run at the same time.
test("a long wait for a rate limit is shown while it lasts, not at the end, and not by `preview --json`", async () => {
  const up = async (module: string): Promise<void> => {
    const { workspace } = await startWaiting(module, ["home", "shop"]);
    const { output } = await workspace.up();
    for (const name of ["home", "shop"])
      expect(output).toMatch(
        new RegExp(`Monitor ${name} creating \\(\\d+s\\) rate limit: 1\\d s, 1 of 3 done$`, "m"),
      );
    expect(output).not.toContain("Diagnostics:");
  };
  const preview = async (): Promise<void> => {
    const { emulator, workspace } = await startWaiting("pulumi-uptime", ["home"], {
      options: { import: "1" },
    });
    emulator.monitors.add({ ...home, name: "home" });
    const { stdout } = await workspace.preview("--json");
    expect(emulator.requests.map(({ status }) => status)).toContain(429);
    expect(JSON.parse(stdout)).toMatchObject({ steps: expect.any(Array) as unknown });
    expect(stdout).not.toContain("rate limit");
  };
  await Promise.all([up("pulumi-uptime"), up("pulumi-uptime/native"), preview()]);
});

describe("in a terminal of 40 rows and 100 columns, 50 monitors wait in rows that a person sees", () => {
  /** The screens of an `up`, or as many as show a wait. */
  const screensWithWait = async (module: string): Promise<string[]> => {
    const names = Array.from({ length: 50 }, (_, index) => `monitor-${index + 10}`);
    const { workspace } = await startWaiting(module, names, { creates: 40 });
    // `script` gives the command a terminal.
    const command = "stty rows 40 cols 100; pulumi up --yes --skip-preview --color never";
    const { child, done } = startProgram("script", ["-qec", command, "/dev/null"], {
      cwd: workspace.project,
      env: workspace.env,
    });
    const screen = new Screen(40);
    const screens: string[] = [];
    child.stdout?.on("data", (output: string) => {
      screen.print(output);
      if (screen.text.includes("rate limit")) screens.push(screen.text);
    });
    const { stdout } = await done;
    expect(stdout).not.toContain("Diagnostics:");
    expect(stdout).toContain("+ 51 created");
    return screens;
  };

  // Both fronts show the wait in the row of its resource, as the test above says.
  const fronts = ["pulumi-uptime", "pulumi-uptime/native"].slice(0, sample(1, 1, 2));
  // The waits are long, so all run at the same time.
  let screens: string[][];
  beforeAll(async () => {
    screens = await Promise.all(fronts.map(screensWithWait));
  });
  test.each(fronts)("%s", (module) => {
    const [shown] = screens[fronts.indexOf(module)] ?? [];
    expect(shown).toMatch(/Monitor +monitor-\d\d +creating \(\d+s\)\.* +rate limit: 1\d s,/);
  });
});
