import { setTimeout as sleep } from "node:timers/promises";

import type { Emulator, Table } from "../../provider/emulator";
import { canary } from "../support/canary.cjs";
import { storedOf } from "../support/monitors";
import { sample } from "../support/size";
import { type Declared, domainOf, monitorOf, programOf, startStack } from "../support/stack";
import type { Workspace } from "../support/workspace";

const config = { "uptime:adoptExisting": "true" };

/** Monitors and domains of all sorts; some monitors differ in nothing but the name. */
function declare(monitors: number, domains: number): Declared[] {
  const variants: Record<string, unknown>[] = [
    {},
    { interval: 300 },
    { alertCondition: "url_text", alertTextLookup: "text", cacheBuster: true },
    { requestHeaders: [{ key: "X-Secret", value: canary("killed-header") }], sslAlertDays: 14 },
    { alertChannelIds: [1, 2], domainAlertDays: 30 },
    { requestAuthUsername: "user", requestAuthPassword: canary("killed-password") },
  ];
  return [
    ...Array.from({ length: monitors }, (_, index) =>
      monitorOf(`m${index}`, { name: `monitor ${index}`, ...variants[index % variants.length] }),
    ),
    ...Array.from({ length: domains }, (_, index) =>
      domainOf(`d${index}`, { name: `d${index}.example`, homepageUrl: "https://example.com/" }),
    ),
  ];
}

const tableOf = ({ monitors, domains }: Emulator, { kind }: Declared): Table =>
  kind === "Domain" ? domains : monitors;

/** The API holds exactly what is declared, each resource under the id that state has. */
async function expectExactly(declared: Declared[], emulator: Emulator, workspace: Workspace): Promise<void> {
  const state = await workspace.resources();
  for (const one of declared)
    expect(tableOf(emulator, one).get(state[one.name]?.id ?? "none")).toMatchObject(storedOf(one.args));
  expect(Object.keys(state)).toHaveLength(declared.length);
  expect(emulator.monitors.size + emulator.domains.size).toBe(declared.length);
}

describe("an `up` that is killed", () => {
  /** Runs an `up` and kills one of its processes while a certain create is on its way. */
  async function killedUp(
    workspace: Workspace,
    emulator: Emulator,
    create: number,
    victimIn: (cli: number, provider: number) => number,
  ): Promise<number> {
    const { child, done } = workspace.start(["up", "--yes", "--skip-preview"]);
    let [seen, provider] = [0, 0];
    emulator.fault = ({ method }) => {
      if (method === "POST" && ++seen === create) {
        const isProvider = /^\S*node .*dynamic-provider/;
        provider = workspace.processes().find(({ command }) => isProvider.test(command))?.pid ?? 0;
        // Some creates have their effect by then, some have it later.
        setTimeout(() => process.kill(victimIn(child.pid ?? 0, provider), "SIGKILL"), 20);
      }
      return { kind: "delay", delayMs: (seen * 17) % 40, answerDelayMs: (seen * 29) % 40 };
    };
    expect((await done).code).not.toBe(0);
    emulator.fault = undefined;
    expect(provider).toBeGreaterThan(0);
    return provider;
  }

  test.each(sample([5], [5], [3, 5, 8, 11, 13]))(
    "converges with uptime:adoptExisting, first without its provider, then without its engine (create %d)",
    async (create) => {
      const declared = declare(24, 3);
      const { emulator, workspace } = await startStack({ program: programOf(declared), config });
      await killedUp(workspace, emulator, create, (_, provider) => provider);
      const provider = await killedUp(workspace, emulator, 2, (cli) => cli);
      // The provider ends with the engine, or it would go on repeating creates beside the next run.
      const isRunning = () => workspace.processes().some(({ pid }) => pid === provider);
      for (let waited = 0; isRunning() && waited < 5000; waited += 50) await sleep(50);
      expect(isRunning()).toBe(false);

      await workspace.mend();
      expect(await workspace.failed("up")).toContain("pulumi cancel");
      await workspace.pulumi("cancel", "--yes");
      await workspace.up();
      // Otherwise each run would warn of the creates that were interrupted.
      await workspace.refresh("--clear-pending-creates");
      await expectExactly(declared, emulator, workspace);
      const { deployment } = await workspace.exportState();
      expect(deployment.pending_operations ?? []).toEqual([]);
    },
  );
});
