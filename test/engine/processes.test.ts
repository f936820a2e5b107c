import { join } from "node:path";

import { home } from "../support/monitors";
import { startProgram } from "../support/processes";
import { recordOf, startStack, yamlMonitor, yamlOf } from "../support/stack";

// Each explicit provider is a process of its own, and so is the host of dynamic resources: none hears of what another one
// has, but for the note that the processes of one run share.
const args = JSON.stringify(home);
const config = { "uptime:adoptExisting": "true" };

test("a dynamic resource leaves its record to a successor of the plugin, which adopts or imports it under another name", async () => {
  const program = (module: string, name: string, options: string): string =>
    `const { Monitor } = require("${module}");
      new Monitor("${name}", ${args});
      new Monitor("${name}-2", { ...${args}, name: "Other" }, ${options});`;
  const first = program("pulumi-uptime", "old", "{}");
  const { emulator, workspace } = await startStack({ program: first, config });
  await workspace.up();
  const imported = recordOf(emulator.monitors, "Other");
  await workspace.write(program("pulumi-uptime/native", "new", `{ import: "${imported?.id ?? ""}" }`));
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ id: 1 }, { id: 2 }]);
  expect(Object.keys(await workspace.resources()).sort()).toEqual(["new", "new-2"]);
  await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
});

test("a process that is killed keeps what its resources have adopted", async () => {
  const { emulator, workspace } = await startStack({
    program: `const { Monitor } = require("pulumi-uptime/native"); new Monitor("old", ${args});`,
    config,
  });
  await workspace.up();
  await workspace.write(`
    const { Monitor } = require("pulumi-uptime");
    const native = require("pulumi-uptime/native");
    const adopter = new Monitor("adopter", ${args});
    new native.Monitor("later", { ...${args}, name: "Later" }, { dependsOn: adopter });`);
  emulator.fault = ({ method }) => {
    const host = workspace.processes().find(({ command }) => command.includes("dynamic-provider"));
    if (method === "POST" && host) process.kill(host.pid, "SIGKILL");
    return undefined;
  };
  await workspace.pulumi("up", "--yes", "--skip-preview");
  emulator.fault = undefined;
  expect(emulator.requests.some(({ method }) => method === "DELETE")).toBe(false);
  expect((await workspace.resources()).adopter).toMatchObject({ id: "1" });
  await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
});

test("an attached plugin serves one run after the other, also after one that was killed", async () => {
  const declared = yamlOf({ home: yamlMonitor() });
  const { emulator, workspace } = await startStack({ language: "yaml", program: declared });
  const plugin = join(__dirname, "..", "..", "plugin", "pulumi-resource-uptime");
  const port = await startProgram(plugin, [], { env: workspace.env }).firstLine;
  workspace.env.PULUMI_DEBUG_PROVIDERS = `uptime:${port.trim()}`;
  // The engine ends each run with Cancel, also the preview of an `up`.
  await workspace.pulumi("up", "--yes");

  const provider = { type: "pulumi:providers:uptime", properties: { apiKey: "another-key" } };
  await workspace.write(
    yamlOf({
      provider,
      home: yamlMonitor(),
      other: yamlMonitor({ name: "Other" }, { provider: "${provider}" }),
    }),
  );
  expect(await workspace.failed("up")).toMatch(
    /serves all providers of a run with the same settings.*without PULUMI_DEBUG/,
  );

  await workspace.write(yamlOf({ home: yamlMonitor({ name: "Home 2" }) }));
  const sent = new Promise<void>((resolve) => {
    emulator.fault = ({ method }) => {
      if (method !== "PATCH") return undefined;
      resolve();
      return { kind: "delay", delayMs: 600_000 };
    };
  });
  const { child, done } = workspace.start(["up", "--yes", "--skip-preview"]);
  await sent;
  child.kill("SIGKILL");
  await done;
  emulator.fault = undefined;
  await workspace.mend();
  await workspace.pulumi("cancel", "--yes");
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ id: 1, name: "Home 2" }]);
});
