import { startStack, stopStacks } from "../support/stack";

// Each explicit provider is a process of its own, and so is the host of dynamic resources: none hears of what another one
// has, but for the note that the processes of one run share.
afterEach(stopStacks);

const args = JSON.stringify({ name: "Home", url: "https://example.com/", interval: 60 });
const config = { "uptime:adoptExisting": "true" };

describe("a record that another process of the same run has adopted is not deleted", () => {
  test("with the dynamic resource whose successor is one of the plugin, under another name", async () => {
    const { emulator, workspace } = await startStack({
      program: `new (require("pulumi-uptime").Monitor)("old", ${args});`,
      config,
    });
    await workspace.up();
    await workspace.write(`new (require("pulumi-uptime/native").Monitor)("new", ${args});`);
    await workspace.up();
    expect(emulator.monitors.all()).toMatchObject([{ id: 1 }]);
    expect(Object.keys(await workspace.resources())).toEqual(["new"]);
    await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  });

  test("with the resource that moves to another explicit provider, and is renamed", async () => {
    const program = (name: string, provider: string) => `resources:
  first: { type: "pulumi:providers:uptime", properties: { adoptExisting: true } }
  second: { type: "pulumi:providers:uptime", properties: { adoptExisting: true } }
  ${name}: { type: "uptime:Monitor", properties: ${args}, options: { provider: "\${${provider}}" } }
`;
    const { emulator, workspace } = await startStack({ language: "yaml", program: program("old", "first") });
    await workspace.up();
    await workspace.write(program("new", "second"));
    await workspace.up();
    expect(emulator.monitors.all()).toMatchObject([{ id: 1 }]);
    expect(Object.keys(await workspace.resources())).toEqual(["new"]);
    await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  });

  test("with the dynamic resource whose record one of the plugin imports", async () => {
    const { emulator, workspace } = await startStack({
      program: `new (require("pulumi-uptime").Monitor)("old", ${args});`,
    });
    await workspace.up();
    await workspace.write(`new (require("pulumi-uptime/native").Monitor)("new", ${args}, { import: "1" });`);
    await workspace.up();
    expect(emulator.monitors.all()).toMatchObject([{ id: 1 }]);
    expect(Object.keys(await workspace.resources())).toEqual(["new"]);
  });
});
