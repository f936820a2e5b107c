import { createHash } from "node:crypto";

import { home } from "../support/monitors";
import { imports, startStack } from "../support/stack";

const program = `${imports}
class Site extends pulumi.ComponentResource {
  constructor(type, name, parent) {
    super("my:site:" + type, name, {}, { parent });
    this.web = new Monitor("web", site(type + " web"), { parent: this, customTimeouts: { create: ".5h" } });
    this.registerOutputs({});
  }
}
const front = new Site("Front", "front");
const inner = new Site("Inner", "inner", front);
new Monitor("web", site("web"));
new Domain("web", { name: "example.com" }, { parent: inner.web });
const later = uptime.getMonitorOutput({ name: "Inner web" }, { dependsOn: front, parent: front });
exports.found = later.id;
exports.made = inner.web.id;
exports.count = uptime.getMonitorsOutput({}, { dependsOn: [front, inner] }).length;
const seen = Monitor.get("seen", front.web.id, {}, { parent: front });
exports.seen = seen.name;
exports.kinds = [Monitor.isInstance(front.web), Domain.isInstance(front.web)];`;

test("classes and lookups work in a program", async () => {
  const { workspace } = await startStack({
    program,
    config: { "uptime:adoptExisting": " true ", "uptime:apikey": "typo" },
  });
  // Nothing is there yet, so a lookup that waits for it is unknown.
  const { output } = await workspace.preview();
  // The engine prints a message when it comes, and once more at the end.
  const [, diagnostics = ""] = output.split("Diagnostics:");
  expect(diagnostics.match(/uptime:apikey \(did you mean uptime:apiKey\?\)/g)).toHaveLength(1);
  expect(output).toMatch(/found\s*: (?:\[unknown\]|output<string>)/);

  await workspace.up();
  const outputs = await workspace.outputs();
  expect(outputs.found).toBe(outputs.made);
  expect(outputs).toMatchObject({ seen: "Front web", kinds: [true, false] });
  expect(outputs.count).toBeGreaterThanOrEqual(2);

  const { deployment } = await workspace.exportState();
  const own = (deployment.resources ?? []).filter(({ type }) => type.startsWith("pulumi-nodejs:"));
  expect(own).toHaveLength(5);
  for (const { urn, inputs = {} } of own) {
    const passed = inputs.__options as { owner?: string } | undefined;
    // What the class says of a resource's parents is what the engine knows.
    const end = urn.split("::").slice(2).join("::");
    const digits = createHash("sha256").update(end).digest("hex").slice(0, 8);
    expect(passed?.owner).toBe(urn.endsWith("::seen") ? undefined : digits);
  }
  expect(new Set(own.map(({ urn }) => urn)).size).toBe(5);
  // What is only read is read by each run.
  expect((await workspace.previewChanges()).map(({ op }) => op)).toEqual(["read"]);
});

test("what has no value is undefined: an output, get and a lookup, in a preview too, in both fronts", async () => {
  const program = (more: string): string =>
    `${imports}
    ${["", "/native"]
      .map(
        (front, index) => `{ const { getMonitor, Monitor } = require("pulumi-uptime${front}");
      const fields = ["account", "alertTextLookup", "sslAlertDays", "requestAuthUsername"];
      const args = { ...${JSON.stringify(home)}, ...${more}, name: "Home ${index}" };
      const one = new Monitor("home-${index}", args);
      const read = Monitor.get("read-${index}", "${index + 1}");
      const looked = pulumi.output(getMonitor({ id: ${index + 1} }));
      exports.shown${index} = [one, read, looked].map((from) => pulumi.all(fields.map((field) => from[field]))
        .apply((values) => values.map(String).join())); }`,
      )
      .join("\n")}`;
  const { emulator, workspace } = await startStack({ program: "" });
  // Records to read, which state does not have.
  for (const index of [1, 2]) emulator.monitors.add({ ...home, name: `Other ${index}` });
  await workspace.write(program(`{ alertTextLookup: "all good", sslAlertDays: 7 }`));
  await workspace.up();
  await workspace.write(program("{ alertTextLookup: pulumi.output(undefined) }"));
  await workspace.up();
  const nothing = "undefined,undefined,undefined,undefined";
  const shown = { shown0: [nothing, nothing, nothing], shown1: [nothing, nothing, nothing] };
  expect(await workspace.outputs()).toMatchObject(shown);
  const { output } = await workspace.preview("--expect-no-changes");
  expect(output).not.toMatch(/unknown|output</);
});

test("a refresh without --diff shows no field as removed, in both fronts", async () => {
  const program = (options: object): string =>
    ["", "/native"]
      .map(
        (front, index) => `{ const { Domain, Monitor } = require("pulumi-uptime${front}");
          const args = ${JSON.stringify({ ...home, name: `Home ${index}` })};
          new Monitor("home-${index}", args, ${JSON.stringify(options)});
          new Domain("shop-${index}", { name: "shop-${index}.example" }); }`,
      )
      .join("\n");
  const { emulator, workspace } = await startStack({ program: program({}) });
  await workspace.up();
  const refreshed = await workspace.refresh("--run-program");
  const preview = await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  for (const { output } of [refreshed, preview]) {
    expect(output).toContain("home");
    expect(output).not.toContain("[diff:");
  }
  // A default is no declared value that would overrule `ignoreChanges`.
  await workspace.write(program({ ignoreChanges: ["requestMethod"] }));
  for (const { id } of emulator.monitors.all()) emulator.monitors.edit(id, { request_method: "HEAD" });
  await workspace.up("--refresh", "--run-program");
  expect(emulator.monitors.all()).toMatchObject([{ request_method: "HEAD" }, { request_method: "HEAD" }]);
});
