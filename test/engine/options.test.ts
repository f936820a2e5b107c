import { imports, monitorOf, programOf, recordOf, startStack, writesTo } from "../support/stack";

test("Pulumi's options work", async () => {
  const program = (step: number) => `${imports}
    const later = ${step} > 1;
    const renamed = (name) => later ? name + " 2" : name;
    new Monitor("ignored", site(renamed("ignored"), { sslAlertDays: 7, alertChannelIds: [1] }),
      { ignoreChanges: ["sslAlertDays", "alertChannelIds"] });
    new Monitor("condition", site(renamed("condition"), { alertCondition: "url_text", alertTextLookup: "ok" }),
      { ignoreChanges: ["alertCondition"] });
    new Monitor("replaced", site(renamed("replaced"), { url: later ? "https://new.example/" : "https://old.example/" }),
      { replaceOnChanges: ["url"] });
    new Monitor("notReplaced", site(renamed("notReplaced")), { replaceOnChanges: ["url"] });
    new Domain("first", { name: later ? "second.example" : "first.example" }, { deleteBeforeReplace: true });
    new Monitor(later ? "after" : "before", site("aliased"), { aliases: later ? [{ name: "before" }] : [] });
    class Site extends pulumi.ComponentResource {
      constructor(name, options) {
        super("test:index:Site", name, {}, options);
        new Monitor("child", site("child"), { parent: this });
        this.registerOutputs({});
      }
    }
    new Site("parent", { transforms: [({ type, props, opts }) =>
      type.endsWith(":Monitor") ? { props: { ...props, interval: 300 }, opts } : undefined] });
    if (!later) new Monitor("retained", site("retained"), { retainOnDelete: true });
    const headers = ["A", "B"].map((key) => ({ key, value: "value of " + key }));
    new Monitor("parts", site("parts", { requestHeaders: ${step} < 4 ? headers : headers.reverse() }),
      { ignoreChanges: ["requestHeaders[*].value"] });
    if (${step} < 3) new Monitor("protected", site("protected"), { protect: true });`;
  const { emulator, workspace } = await startStack({
    program: program(1),
    emulator: { dialect: { resetOnUpdate: true } },
  });
  await workspace.up();
  const before = await workspace.resources();
  const idOf = (name: string) => before[name]?.id ?? "";
  const monitor = (name: string) => emulator.monitors.get(idOf(name));
  expect(monitor("child")).toMatchObject({ interval: 300 });
  emulator.monitors.edit(idOf("ignored"), { ssl_alert_days: 30, alert_channel_ids: [1, 2] });
  emulator.monitors.edit(idOf("condition"), { alert_condition: "url_no_text" });
  emulator.forget();

  await workspace.write(program(2));
  await workspace.up();
  const after = await workspace.resources();
  const ignored = { name: "ignored 2", ssl_alert_days: 30, alert_channel_ids: [1, 2] };
  expect(monitor("ignored")).toMatchObject(ignored);
  expect(monitor("condition")).toMatchObject({ name: "condition 2", alert_condition: "url_no_text" });
  expect(monitor("notReplaced")).toMatchObject({ name: "notReplaced 2" });
  expect(monitor("replaced")).toBeUndefined();
  expect(emulator.monitors.get(after.replaced?.id ?? 0)).toMatchObject({ url: "https://new.example/" });
  expect(emulator.domains.all()).toMatchObject([{ name: "second.example" }]);
  const writes = writesTo(emulator);
  expect(writes.filter((write) => write.includes("/domains"))).toEqual([
    "DELETE /api/v1/domains/1",
    "POST /api/v1/domains",
  ]);
  expect(writes.filter((write) => write.includes("/monitors")).sort()).toEqual(
    [
      "POST /api/v1/monitors",
      `DELETE /api/v1/monitors/${idOf("replaced")}`,
      ...["ignored", "condition", "notReplaced"].map((name) => `PATCH /api/v1/monitors/${idOf(name)}`),
    ].sort(),
  );
  expect(writes.indexOf("POST /api/v1/monitors")).toBeLessThan(
    writes.indexOf(`DELETE /api/v1/monitors/${idOf("replaced")}`),
  );
  expect(after.after?.id).toBe(idOf("before"));
  expect(after).not.toHaveProperty("retained");
  expect(monitor("retained")).toMatchObject({ name: "retained" });

  // The ignored fields stay as they are in the API after a refresh, too.
  emulator.forget();
  await workspace.preview("--refresh", "--expect-no-changes");
  expect(emulator.writes()).toEqual([]);

  await workspace.write(program(3));
  expect(await workspace.failed("up")).toContain("protect");
  expect(emulator.writes()).toEqual([]);
  expect(monitor("protected")).toMatchObject({ name: "protected" });

  await workspace.write(program(4));
  expect(await workspace.failed("preview")).toContain(
    'requestHeaders[0] is "A" in state and "B" in the program, so ignoreChanges would give "B" the value of "A"',
  );
});

test("customTimeouts ends a create, an update and a delete, and the error names it", async () => {
  // Only what is late has a short time, because the rest may take seconds on a busy machine.
  const program = (quick: string, create: string) =>
    programOf([
      monitorOf("slow", { name: "slow" }, { customTimeouts: { create, delete: "2s" } }),
      monitorOf("quick", { name: quick }, { customTimeouts: { update: "2s", delete: "2s" } }),
    ]);
  const { emulator, workspace } = await startStack({ program: program("quick", "2s") });
  const late = { kind: "cut", effect: false, delayMs: 600_000 } as const;
  const givenUp = async (command: "up" | "destroy"): Promise<string> => {
    const output = await workspace.failed(command, "--continue-on-error");
    expect(output).toContain("customTimeouts");
    return output;
  };
  emulator.fault = ({ method, body }) =>
    method === "POST" && body.some(([, value]) => value === "slow") ? late : undefined;
  expect(await givenUp("up")).toContain("POST");
  const [{ id = "" } = {}, ...others] = Object.values(await workspace.resources());
  expect(others).toEqual([]);
  expect(emulator.monitors.all()).toMatchObject([{ id: Number(id), name: "quick" }]);

  emulator.fault = ({ method }) => (method === "PATCH" ? late : undefined);
  await workspace.write(program("renamed", "5m"));
  expect(await givenUp("up")).toContain("PATCH");
  expect((await workspace.resources()).quick?.outputs).toMatchObject({ name: "quick" });
  expect(emulator.monitors.get(id)).toMatchObject({ name: "quick" });

  emulator.fault = ({ method }) => (method === "DELETE" ? late : undefined);
  expect(await givenUp("destroy")).toContain("DELETE");
  expect(Object.keys(await workspace.resources()).sort()).toEqual(["quick", "slow"]);
  expect(emulator.monitors.size).toBe(2);
});

test("a create that fails after the record was stored keeps its id, also if the record is large", async () => {
  const declared = (name: string) => `site(${JSON.stringify(name)}, { sslAlertDays: 7 })`;
  const { emulator, workspace } = await startStack({
    program: `${imports}
      const native = require("pulumi-uptime/native");
      new Monitor("dynamic", ${declared("dynamic")});
      new native.Monitor("native", ${declared("native")});`,
    emulator: { dialect: { notStored: ["ssl_alert_days"], extraFields: { history: "x".repeat(100_000) } } },
  });
  const output = await workspace.failed("up", "--continue-on-error");
  expect(output.match(/was created with the id [12], but /g)).toHaveLength(2);
  const kept = await workspace.resources();
  expect([kept.dynamic?.id, kept.native?.id].sort()).toEqual(["1", "2"]);
  emulator.dialect = { extraFields: { history: "x".repeat(100_000) } };
  await workspace.up();
  expect(emulator.monitors.size).toBe(2);
});

test("an update whose answer is lost is sent again, also if the program goes back, and after a refresh", async () => {
  const monitors = ["dynamic", "native"].flatMap((front) => [front, `${front}-refreshed`]);
  const program = (password: string): string =>
    `${imports}
    const fronts = { dynamic: Monitor, native: require("pulumi-uptime/native").Monitor };
    for (const name of ${JSON.stringify(monitors)})
      new fronts[name.split("-")[0]](name, site(name, { requestAuthPassword: "${password}" }));`;
  const config = { "uptime:maxRetries": "0" };
  const { emulator, workspace } = await startStack({ program: program("first"), config });
  await workspace.up();
  const shown = () => new Set(emulator.monitors.all().map((record) => record.request_auth_password));
  emulator.fault = ({ method }) => (method === "PATCH" ? { kind: "cut", effect: true } : undefined);
  await workspace.write(program("second"));
  const output = await workspace.failed("up", "--continue-on-error");
  expect(output.match(/The monitor may have been updated: the next `pulumi up` sends/g)).toHaveLength(4);
  expect(shown()).toEqual(new Set(["second"]));

  emulator.fault = undefined;
  await workspace.write(program("first"));
  const refreshed = Object.entries(await workspace.resources()).filter(([name]) =>
    name.includes("refreshed"),
  );
  expect(refreshed).toHaveLength(2);
  await workspace.refresh(...refreshed.flatMap(([, { urn }]) => ["--target", urn]));
  const { stdout } = await workspace.preview("--diff");
  expect(stdout).not.toContain("__partial");
  await workspace.up();
  expect(shown()).toEqual(new Set(["first"]));
  await workspace.preview("--expect-no-changes");
});

test("any value may be unknown before the `up`", async () => {
  const program = `${imports}
    const source = new Domain("source", { name: "one.example" });
    const of = (value) => source.id.apply((id) => typeof value === "function" ? value(id) : value);
    new Monitor("parts", site("Parts", {
      alertChannelIds: [100, of(Number)],
      requestHeaders: [{ key: "X-Id", value: source.id }, { key: of((id) => "X-" + id), value: "v" }, of(() => ({ key: "X-Whole", value: "w" }))],
      alertCondition: "url_no_text",
      alertTextLookup: source.id,
      maintenanceStartAt: "2030-01-31T22:00:00",
      maintenanceEndAt: of("2030-01-31T23:30:00"),
    }));
    new Domain("named", {
      name: of((id) => "d" + id + ".example"),
      homepageUrl: source.attributes.apply(({ created_at }) => "https://example.com/?" + typeof created_at),
      notFoundUrl: of((id) => "https://example.com/404/" + id),
    });
    const made = new Monitor("made", site("Made"));
    exports.seen = Monitor.get("seen", made.id).name;
    exports.looked = uptime.getMonitorOutput({ id: made.id }).attributes.created_at.apply((at) => "made: " + typeof at);`;
  const { emulator, workspace } = await startStack({ program });
  await workspace.preview();
  expect(emulator.requests).toEqual([]);
  const first = await workspace.up();
  expect(first.output).toMatch(/seen *: "Made"/);
  expect(first.output).toMatch(/looked: "made: string"/);
  const id = Number((await workspace.resources()).source?.id);
  const text = String(id);
  expect(recordOf(emulator.monitors, "Parts")).toMatchObject({
    alert_channel_ids: [100, id],
    request_headers: [
      { key: "X-Id", value: text },
      { key: `X-${text}`, value: "v" },
      { key: "X-Whole", value: "w" },
    ],
    alert_text_lookup: text,
    maintenance_end_at: "2030-01-31T23:30:00",
  });
  expect(recordOf(emulator.domains, `d${text}.example`)).toMatchObject({
    homepage_url: "https://example.com/?string",
    not_found_url: `https://example.com/404/${text}`,
  });

  // A lookup is made in the preview, and what it says ends the program without a stack.
  await workspace.write(`${imports} uptime.getMonitor({ name: "Nobody" });`);
  const output = await workspace.failed("preview");
  expect(output).toContain(`getMonitor found no monitor with name "Nobody" at ${emulator.url}.`);
  expect(output).not.toMatch(/unhandled|Error: |^ +at /m);
});
