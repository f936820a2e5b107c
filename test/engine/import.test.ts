import { answer, startEmulator } from "../support/emulator";
import { home } from "../support/monitors";
import { startStack, writesTo } from "../support/stack";

const args = JSON.stringify(home);
const lines = `const { Domain, Monitor } = require("pulumi-uptime");\n`;

test("an import is refused, accepted, kept, replaced, removed and renamed", async () => {
  const { emulator, workspace } = await startStack({
    program: `${lines} new Monitor("home", { ...${args}, interval: 300, pause: true }, { import: "1" });`,
    // So that a preview shows no news of the record that is only read.
    emulator: { settled: true },
  });
  emulator.monitors.add({ ...home, ssl_alert_days: 7 });
  emulator.monitors.add({ name: "Seen", url: "https://seen.example/", interval: 900, pause: 1 });
  emulator.domains.add({ name: "first.example" });

  const refused = await workspace.failed("preview");
  const allowed = "An import changes nothing: declare the record's value, or change the record first";
  for (const difference of [
    `interval is 300 in the program and 60 in monitor 1. ${allowed}`,
    `pause is true in the program and false in monitor 1. ${allowed}`,
  ])
    expect(refused).toContain(difference);

  const program = (monitor: [string, string], domain: [string, string]): string => `${lines}
    new Monitor("${monitor[0]}", { ...${args}, requestAuthPassword: "canary" }, { ${monitor[1]} });
    new Domain("shop", { name: "${domain[0]}" }, { ${domain[1]} });
    const seen = Monitor.get("seen", "2");
    exports.seen = [seen.name, seen.interval, seen.pause, seen.sslAlertDays];`;
  const option = `import: "1"`;
  await workspace.write(program(["home", option], ["first.example", option]));
  expect((await workspace.preview()).output).toMatch(
    /Monitor home imports monitor 1 .*Nothing is created or changed\./,
  );
  const up = await workspace.up();
  expect(up.output).toContain("the API does not show requestAuthPassword of monitor 1");
  expect(up.output).toMatch(/\[0\]: "Seen"\s+\[1\]: 900\s+\[2\]: true\s/);
  expect(await workspace.resources()).toMatchObject({ home: { id: "1" }, shop: { id: "1" } });

  // A refresh gives back the inputs as they are, also those of the record that is only read.
  await workspace.refresh();
  const { output } = await workspace.preview("--diff", "--expect-no-changes");
  expect(output).not.toMatch(/^ +[-+~] \w+ *:/m);
  expect(writesTo(emulator)).toEqual([]);

  // A domain's new name would replace it.
  await workspace.write(program(["home", option], ["second.example", option]));
  expect(await workspace.failed("preview")).toContain(
    "Domain shop has the option import, and its change of name would replace it. Remove the option import first.",
  );
  expect(writesTo(emulator)).toEqual([]);

  // What replaces without asking imports the record again. Here the domain is replaced too, and that fails first.
  await workspace.write(program(["home", option], ["second.example", ""]));
  emulator.fault = ({ method }) => (method === "POST" ? answer(422, {}) : undefined);
  const monitor = "urn:pulumi:test::workspace::pulumi-nodejs:dynamic/uptime:Monitor::home";
  await workspace.failed("up", "--replace", monitor);
  emulator.fault = undefined;
  await workspace.up("--replace", monitor);
  const [failed, ...writes] = writesTo(emulator);
  expect(failed).toBe("POST /api/v1/domains");
  expect(writes).toEqual(["POST /api/v1/domains", "DELETE /api/v1/domains/1"]);
  expect(emulator.monitors.all().map(({ id }) => id)).toEqual([1, 2]);
  expect(emulator.domains.all()).toMatchObject([{ id: 2, name: "second.example" }]);
  emulator.forget();
  await workspace.preview("--refresh", "--expect-no-changes");

  // Without an alias Pulumi takes the new name for a new resource, and deletes the old one after it.
  await workspace.write(program(["renamed", option], ["second.example", ""]));
  await workspace.up();
  expect(await workspace.resources()).toMatchObject({ renamed: { id: "1" } });
  expect(await workspace.resources()).not.toHaveProperty("home");
  expect(emulator.monitors.all().map(({ id }) => id)).toEqual([1, 2]);
  expect(writesTo(emulator)).toEqual([]);
});

test("resources of several accounts in one program", async () => {
  const other = await startEmulator({ apiKey: "canary-key", firstId: 100 });
  other.monitors.add({ ...home, name: "Seen" });
  const program = (account: string): string => `${lines}
    const home = new Monitor("home", { ...${args} ${account} });
    const seen = Monitor.get("seen", "100", { account: "other" });
    exports.names = [home.account, seen.account, seen.name];`;
  const { emulator, workspace } = await startStack({ program: program(`, account: "other"`) });
  const set = (...args: string[]) => workspace.pulumi("config", "set-all", "--path", ...args);
  const key = "uptime:accounts.other.apiKey=canary-key";
  await set("--plaintext", `uptime:accounts.other.baseUrl=${other.url}`, "--plaintext", key);
  const first = await workspace.up();
  expect(first.output).toContain("uptime:accounts holds API keys in plain text");
  expect(first.output).toMatch(/\[0\]: "other"\s+\[1\]: "other"\s+\[2\]: "Seen"/);
  expect([emulator.monitors.size, other.monitors.size]).toEqual([0, 2]);

  await set("--secret", key);
  await workspace.write(program(""));
  const second = await workspace.up();
  expect(second.output).not.toContain("plain text");
  expect(second.output).toContain("1 replaced");
  expect([emulator.monitors.size, other.monitors.size]).toEqual([1, 1]);
  expect(await workspace.stateText()).not.toContain("canary");
});

test("a failed import of the plugin stays in state, and no later run overwrites the record", async () => {
  const program = (values: object, options = `{ import: "1" }`): string =>
    `const { Monitor } = require("pulumi-uptime/native");
     new Monitor("home", ${JSON.stringify({ ...home, ...values })}, ${options});`;
  const { emulator, workspace } = await startStack({ program: program({ name: "Other", interval: 300 }) });
  emulator.monitors.add(home);
  expect(await workspace.failed("up", "--skip-preview")).toContain('name is "Other" in the program');
  expect(await workspace.resources()).toMatchObject({ home: { id: "1" } });
  for (const command of ["preview", "up"] as const)
    expect(await workspace.failed(command)).toMatch(
      /Monitor 1 was imported, and the program declares another name, interval\. The first `pulumi up` .* must change nothing: .*`pulumi state delete URN`/,
    );
  // What the record shows as empty is compared too.
  await workspace.write(program({ sslAlertDays: 7 }));
  expect(await workspace.failed("up", "--skip-preview")).toContain("declares another sslAlertDays.");
  await workspace.write(program({ account: "eu" }));
  await workspace.failed("up");
  expect(writesTo(emulator)).toEqual([]);

  await workspace.write(program({ requestAuthPassword: "canary" }));
  await workspace.up();
  expect(writesTo(emulator)).toEqual(["PATCH /api/v1/monitors/1"]);
  await workspace.write(program({ interval: 300 }, "{}"));
  await workspace.up();
  expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
});

test("a record that was only read is neither changed nor deleted, although Pulumi forgets in a refresh that it was", async () => {
  const program = (declared: string): string =>
    `const fronts = { dynamic: require("pulumi-uptime"), native: require("pulumi-uptime/native") };
     for (const [name, { Monitor }] of Object.entries(fronts)) ${declared};`;
  const { emulator, workspace } = await startStack({ program: program(`Monitor.get(name, "1")`) });
  emulator.monitors.add(home);
  await workspace.up();
  // A proxy's page instead of the API's response is no proof that it is gone.
  emulator.fault = () => answer(404, "<html>");
  expect(await workspace.failed("refresh")).toContain("the list of monitors cannot be read");
  emulator.fault = undefined;
  expect(Object.keys(await workspace.resources())).toEqual(expect.arrayContaining(["dynamic", "native"]));
  await workspace.write(program(`new Monitor(name, { ...${args}, interval: 300 }, { import: "1" })`));
  await workspace.refresh("--run-program");
  expect(await workspace.failed("up")).toContain(
    "Monitor 1 was only read until now, and this would change it",
  );
  await workspace.write("");
  const { output } = await workspace.up();
  // Of the dynamic one, Pulumi does not say whose message it is.
  for (const shown of ["workspace-test", "native"])
    expect(output).toMatch(
      new RegExp(`\\(${shown}\\):\\s+Monitor 1 was not deleted, because it was only read\\.`),
    );
  expect(writesTo(emulator)).toEqual([]);
});
