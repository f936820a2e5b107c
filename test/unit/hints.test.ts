import type { ModelResource } from "../support/model";
import { fronts, Program } from "../support/program";
import { answer, emulator, failureOf, on, withServer } from "../support/server";
import { home } from "../support/monitors";

const hint =
  "check that the command has --run-program: otherwise a refresh or destroy uses the settings of the last `pulumi up`";

withServer({ anyKey: true });
beforeEach(() => {
  delete process.env.PULUMI_RUN_PROGRAM;
});
afterAll(() => {
  delete process.env.PULUMI_RUN_PROGRAM;
});

describe.each(fronts)("an error says that Pulumi uses the settings of the last `up` (%s)", (front) => {
  type Operation = (one: ModelResource) => Promise<unknown>;
  const refresh: Operation = (one) => one.refresh();
  const drop: Operation = (one) => one.destroy();
  const change: Operation = (one) => one.up({ ...home, interval: 300 });

  /** What an operation on a resource in state fails with, if the key is refused or the address is another one. */
  async function failuresOf(operation: Operation, { declares = false } = {}): Promise<string[]> {
    const failures = [];
    for (const status of [401, 403, undefined]) {
      const program = new Program(front);
      const one = program.resource();
      emulator.fault = undefined;
      await one.up(home);
      program.nextRun(status ? {} : { "uptime:baseUrl": `${emulator.url}/moved` });
      if (declares) await program.resource().preview({ ...home, name: "Other" });
      if (status) emulator.fault = () => answer(status);
      const failure = await failureOf(operation(one));
      expect(failure).toContain(status ? `status ${status}` : "State was made with another address");
      expect(failure).not.toContain("undefined");
      failures.push(failure);
    }
    return failures;
  }

  test.each([
    ["a refresh", refresh],
    ["a destroy", drop],
  ])("if %s without the program fails", async (_, operation) => {
    for (const failure of await failuresOf(operation)) expect(failure).toContain(hint);
  });

  test.each([
    ["a refresh", refresh],
    ["a destroy", drop],
  ])("if %s without the program finds another name with another key", async (_, operation) => {
    const one = new Program(front).resource();
    await one.up(home);
    emulator.monitors.edit(1, { name: "Renamed" });
    one.nextRun({ "uptime:apiKey": "another-key" });
    const failure = await failureOf(operation(one));
    expect(failure).toContain("State was made with another API key");
    expect(failure).toContain(hint);
  });

  test("if the engine compares a resource that it deletes without the program", async () => {
    const program = new Program(front);
    const one = program.resource();
    await one.up(home);
    program.nextRun({ "uptime:baseUrl": `${emulator.url}/moved` });
    const { id = "", inputs = {}, outputs = {} } = one.state ?? {};
    const urn = `urn:pulumi:a::b::${one.urnSuffix}`;
    const diff = program.providers.monitor.diff(urn, id, outputs, inputs, inputs);
    expect(await failureOf(diff)).toContain(hint);
  });

  test.each(["true", "1"])(
    "but not if every command runs the program: PULUMI_RUN_PROGRAM=%s",
    async (value) => {
      process.env.PULUMI_RUN_PROGRAM = value;
      for (const failure of await failuresOf(refresh)) {
        expect(failure).not.toContain("--run-program");
        expect(failure).toMatch(/\.$/);
      }
    },
  );

  test.each([
    ["an update", change],
    ["a refresh", refresh],
    ["a delete", drop],
  ])("but not if %s fails in a run of the program", async (_, operation) => {
    for (const failure of await failuresOf(operation, { declares: true }))
      expect(failure).not.toContain(hint);
  });

  test.each([
    [404, true],
    [409, false],
  ])("if a refresh gets nothing but %i: %j", async (status, isSaid) => {
    const one = new Program(front).resource();
    await one.up(home);
    one.nextRun();
    emulator.fault = () => answer(status);
    expect((await failureOf(one.refresh())).includes(hint)).toBe(isSaid);
  });

  test("but not for a create or a read by the program", async () => {
    emulator.fault = () => answer(401);
    const failures = [
      await failureOf(new Program(front).resource().up(home)),
      await failureOf(new Program(front).providers.monitor.read("urn::type::name", "1", {}, {})),
    ];
    for (const failure of failures) {
      expect(failure).toContain("status 401");
      expect(failure).not.toContain(hint);
    }
  });
});

test.each(fronts)(
  "404 to a create does not say that there is no API: its list was read (%s)",
  async (front) => {
    on("POST", answer(404, { message: "No alert channel 5." }));
    const failure = await failureOf(new Program(front).resource().up({ ...home, alertChannelIds: [5] }));
    expect(failure).toContain("status 404: No alert channel 5.");
    expect(failure).not.toContain("There is no API");
  },
);

test.each(fronts)(
  "the way out of a refused key is said once for each key, not by each resource (%s)",
  async (front) => {
    const accounts = JSON.stringify({ team: { apiKey: "team-key" } });
    const program = new Program(front, { "uptime:accounts": accounts });
    const all = Array.from({ length: 12 }, () => program.resource());
    const inputs = (index: number) => ({
      ...home,
      name: `Home ${index}`,
      ...(index % 2 && { account: "team" }),
    });
    await Promise.all(all.map((one, index) => one.up(inputs(index))));
    program.nextRun();
    emulator.fault = () => answer(401, { message: "Unauthenticated." });
    const failures = await Promise.all(all.map((one) => failureOf(one.refresh())));
    for (const source of ["uptime:apiKey", "uptime:accounts.team.apiKey"]) {
      const named = failures.filter((failure) => failure.includes(`the key from ${source}`));
      expect(named).toHaveLength(6);
      const others = named.filter((failure) => !failure.includes(hint));
      expect(others).toHaveLength(5);
      expect(new Set(others).size).toBe(1);
    }
    // Another run says it again.
    program.nextRun();
    for (const one of all.slice(0, 1)) expect(await failureOf(one.refresh())).toContain(hint);
  },
);

test.each([
  [{}, "no longer uses the default provider, keep a lookup that uses it"],
  [{ providerName: "eu" }, "no longer has the provider eu, declare it again"],
])(
  "a refused key of the plugin's provider %j, which state may have, names a way to keep it",
  async (of, way) => {
    const one = new Program("plugin", {}, of).resource();
    await one.up(home);
    one.nextRun();
    emulator.fault = () => answer(401);
    expect(await failureOf(one.destroy())).toContain(way);
  },
);

// The plugin refuses a malformed setting before it is asked about a resource.
test.each([
  ["dynamic", { "uptime:baseUrl": "nonsense" }, "uptime:baseUrl must be"],
  ["dynamic", { "uptime:apiKey": "" }, "uptime:apiKey is not set"],
  ["plugin", { "uptime:apiKey": "" }, "uptime:apiKey is not set"],
] as const)("it says so also if settings are missing or wrong (%s): %j", async (front, settings, problem) => {
  const [one, other] = new Program(front).resources();
  await one.up(home);
  one.nextRun(settings);
  for (const operation of [one.refresh(), one.destroy()]) {
    const failure = await failureOf(operation);
    expect(failure).toContain(problem);
    expect(failure).toContain(". If you have already changed the setting, ");
    expect(failure).toContain(hint);
  }
  const declared = await failureOf(other.preview({ ...home, name: "Other" }));
  expect(declared).toContain(problem);
  expect(declared).not.toContain(hint);
});
