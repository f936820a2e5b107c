import { canary } from "../support/canary.cjs";
import { everything, everythingStored, home, plainStored, storedOf } from "../support/monitors";
import { sample } from "../support/size";
import {
  changedIn,
  diffsIn,
  domainOf,
  monitorOf,
  programOf,
  recordOf,
  startStack,
  writesTo,
} from "../support/stack";

test("both resources are created, left alone, read, updated, replaced and deleted", async () => {
  const domain = {
    name: "shop.example",
    homepageUrl: "https://shop.example/",
    notFoundUrl: "https://404.example/",
  };
  const { emulator, workspace } = await startStack({
    program: programOf([
      domainOf("shop", domain),
      domainOf("moving", { name: "old.example" }),
      monitorOf("checkout", everything),
      monitorOf("site"),
    ]),
  });
  const { domains, monitors } = emulator;
  await workspace.up();
  const [shop, moving] = ["shop.example", "old.example"].map((name) => recordOf(domains, name));
  const [checkout, plain] = ["Checkout", "Home"].map((name) => recordOf(monitors, name));
  expect([domains.size, monitors.size]).toEqual([2, 2]);
  expect(shop).toMatchObject(storedOf(domain));
  expect(moving).toMatchObject({ homepage_url: null, not_found_url: null });
  expect(checkout).toMatchObject(everythingStored);
  expect(plain).toMatchObject({ ...home, ...plainStored });
  const resources = await workspace.resources();
  expect(resources.checkout?.id).toBe(String(checkout?.id));
  expect(resources.shop?.id).toBe(String(shop?.id));
  // The line of the program, though the SDK captures no stack for the properties.
  expect(resources.shop?.sourcePosition).toMatch(/index\.js#2,/);
  expect(resources.checkout?.sourcePosition).toMatch(/index\.js#4,/);
  // The API takes `pause` on updates only.
  expect(writesTo(emulator).sort()).toEqual([
    `PATCH /api/v1/monitors/${String(checkout?.id)}`,
    "POST /api/v1/domains",
    "POST /api/v1/domains",
    "POST /api/v1/monitors",
    "POST /api/v1/monitors",
  ]);

  // With its preview.
  emulator.forget();
  const again = await workspace.pulumi("up", "--yes", "--expect-no-changes");
  expect(again.output).toMatch(/Resources:\s+5 unchanged/);
  expect(emulator.requests).toEqual([]);

  await workspace.refresh("--expect-no-changes");
  expect(emulator.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    "GET /api/v1/domains/1",
    "GET /api/v1/domains/2",
    "GET /api/v1/monitors/1",
    "GET /api/v1/monitors/2",
  ]);
  const attributes = (await workspace.resources()).site?.outputs?.attributes;
  expect(attributes).toMatchObject({ pause: 0, created_at: plain?.created_at });
  expect(attributes).not.toHaveProperty("last_checked_at");

  // `pause` is no longer declared, and a name of a Domain is another one.
  emulator.forget();
  const { pause: _, ...running } = everything;
  const renamed = { name: "new.example", homepageUrl: "https://new.example/" };
  await workspace.write(
    programOf([
      domainOf("shop", { ...domain, homepageUrl: "https://new.example/" }),
      domainOf("moving", renamed),
      monitorOf("checkout", { ...running, interval: 60, alertChannelIds: [], sslAlertDays: 7 }),
      monitorOf("site", { name: "Renamed", pause: true }),
    ]),
  );
  await workspace.up();
  expect(domains.get(shop?.id ?? 0)).toMatchObject({
    ...storedOf(domain),
    homepage_url: "https://new.example/",
  });
  const now = { interval: 60, alert_channel_ids: [], ssl_alert_days: 7, pause: false };
  expect(monitors.get(checkout?.id ?? 0)).toMatchObject({ ...everythingStored, ...now });
  expect(monitors.get(plain?.id ?? 0)).toMatchObject({ name: "Renamed", pause: true });
  expect(domains.get(moving?.id ?? 0)).toBeUndefined();
  expect(domains.get(3)).toMatchObject(storedOf(renamed));
  const order = writesTo(emulator);
  expect(order.filter((write) => write.includes("/domains")).sort()).toEqual([
    `DELETE /api/v1/domains/${String(moving?.id)}`,
    `PATCH /api/v1/domains/${String(shop?.id)}`,
    "POST /api/v1/domains",
  ]);
  expect(order.indexOf("POST /api/v1/domains")).toBeLessThan(
    order.indexOf(`DELETE /api/v1/domains/${String(moving?.id)}`),
  );
  expect(order).toHaveLength(5);

  emulator.forget();
  await workspace.destroy();
  expect(domains.size + monitors.size).toBe(0);
  expect(emulator.writes().map(({ method, status }) => `${method} ${status}`)).toEqual(
    Array<string>(4).fill("DELETE 204"),
  );
});

describe("drift", () => {
  /** A value that is set by hand for each managed field. */
  const edits: Record<string, unknown> = {
    name: "By hand",
    url: "https://hand.example/",
    interval: 600,
    alertCondition: "url_text",
    alertTextLookup: "by hand",
    alertChannelIds: [1, 3],
    requestMethod: "PUT",
    requestAuthUsername: "hand",
    cacheBuster: false,
    sslAlertDays: 60,
    domainAlertDays: 60,
    maintenanceStartAt: "2030-01-31T21:00:00",
    maintenanceEndAt: "2030-02-01T01:00:00",
    pause: false,
  };
  const secretEdits = {
    requestHeaders: [{ key: "X-Probe", value: "header-by-hand" }],
    requestAuthPassword: "password-by-hand",
  };
  const domain = { name: "", homepageUrl: "https://a.example/", notFoundUrl: "https://b.example/" };
  const domainEdits = { homepageUrl: "https://hand.example/", notFoundUrl: null };
  const declared: Record<string, unknown> = { ...domain, ...everything };

  test("in every managed field is shown with both values, fails --expect-no-changes, and is repaired", async () => {
    const fields = Object.keys(edits);
    const domains = Object.keys(domainEdits);
    const { emulator, workspace } = await startStack({
      program: programOf([
        ...[...fields, ...Object.keys(secretEdits), "gone"].map((field) => monitorOf(field, everything)),
        ...[...domains, "goneDomain"].map((field) =>
          domainOf(field, { ...domain, name: `${field}.example` }),
        ),
      ]),
    });
    await workspace.up();
    const created = await workspace.resources();
    const idOf = (name: string) => created[name]?.id ?? "";
    for (const [field, value] of Object.entries({ ...edits, ...secretEdits }))
      emulator.monitors.edit(idOf(field), storedOf({ [field]: value }));
    for (const [field, value] of Object.entries(domainEdits))
      emulator.domains.edit(idOf(field), storedOf({ [field]: value }));
    emulator.monitors.remove(idOf("gone"));
    emulator.domains.remove(idOf("goneDomain"));
    // So that a password that comes back would be seen.
    emulator.dialect = { password: "plain" };
    emulator.forget();

    const flags = ["--diff", "--expect-no-changes"];
    const { code, output: refresh } = await workspace.run(["refresh", "--preview-only", ...flags]);
    expect(code).not.toBe(0);
    const preview = await workspace.failed("preview", "--refresh", ...flags);
    expect(emulator.writes()).toEqual([]);
    for (const output of [refresh, preview]) {
      expect(output).toContain("no changes were expected");
      const diffs = diffsIn(output);
      for (const [field, value] of Object.entries({ ...edits, ...domainEdits })) {
        expect({ field, changed: changedIn(diffs[field]) }).toEqual({ field, changed: [field] });
        // How a list and an emptied field are shown is looked at below.
        if (!["alertChannelIds", "notFoundUrl"].includes(field))
          expect(diffs[field]?.replace(/ +:/, ":").replace(/ +/g, " ")).toContain(
            `${JSON.stringify(declared[field])} => ${JSON.stringify(value)}`,
          );
      }
      expect(diffs.notFoundUrl).toMatch(/[-~] notFoundUrl *: "https:\/\/b\.example\/"/);
      expect(diffs.alertChannelIds).toMatch(/~ \[1\]: "2" => 3/);
      // Pulumi does not compare secrets for show: the resource is there, the secret is named, its value is not.
      expect(diffs.requestHeaders).toMatch(/requestHeaders *: \[secret\]/);
      expect(changedIn(diffs.requestAuthPassword)).toEqual([]);
      expect(output).not.toMatch(/by-hand/);
    }
    expect(refresh).toMatch(/~ 17 to update\s+- 2 to delete/);
    // The password is never compared.
    expect(preview).toMatch(/\+ 2 to create\s+~ 17 to update/);

    await workspace.up("--refresh");
    const now = await workspace.resources();
    for (const name of [...fields, "requestHeaders"]) {
      const record = emulator.monitors.get(idOf(name));
      expect({ name, record }).toMatchObject({ name, record: everythingStored });
    }
    const urls = { homepage_url: "https://a.example/", not_found_url: "https://b.example/" };
    for (const name of domains)
      expect(emulator.domains.get(idOf(name))).toMatchObject({ name: `${name}.example`, ...urls });
    expect(now.gone?.id).not.toBe(idOf("gone"));
    expect(emulator.monitors.get(now.gone?.id ?? 0)).toMatchObject(everythingStored);
    expect(emulator.domains.get(now.goneDomain?.id ?? 0)).toMatchObject({ name: "goneDomain.example" });
    expect(emulator.monitors.size).toBe(fields.length + 3);
    expect(emulator.domains.size).toBe(domains.length + 1);
    expect(writesTo(emulator).filter((write) => write.startsWith("POST"))).toHaveLength(2);

    await workspace.preview("--refresh", "--expect-no-changes");
  });

  test("of one record among many is a few lines, though every record changes by itself", async () => {
    const length = sample(40, 40, 120);
    const monitors = Array.from({ length }, (_, index) =>
      monitorOf(`monitor-${index}`, { name: `Site ${index}`, interval: 300, alertChannelIds: [1, 2] }),
    );
    const domains = Array.from({ length: 10 }, (_, index) =>
      domainOf(`domain-${index}`, { name: `shop-${index}.example`, homepageUrl: "https://shop.example/" }),
    );
    const { emulator, workspace } = await startStack({ program: programOf([...monitors, ...domains]) });
    await workspace.up();
    const before = await workspace.resources();
    emulator.monitors.edit(before["monitor-37"]?.id ?? "", { interval: 3600 });
    // A record that nobody has edited has changed since the `up`.
    const visited = before["domain-3"];
    const { total_pageviews } = visited?.outputs?.attributes as { total_pageviews: number };
    const shown = await fetch(`${emulator.url}/api/v1/domains/${visited?.id ?? ""}`, {
      headers: { Accept: "application/json", Authorization: `Bearer ${emulator.apiKey}` },
    });
    expect(/"total_pageviews":(\d+)/.exec(await shown.text())?.[1]).not.toBe(String(total_pageviews));

    const { stdout, output } = await workspace.preview("--refresh", "--run-program", "--diff");
    expect(output).toMatch(/~ interval *: 300 => 3600\n[^]*~ interval *: 3600 => 300\n/);
    const diffs = diffsIn(output);
    expect(Object.keys(diffs).filter((name) => /^(monitor|domain)-/.test(name))).toEqual(["monitor-37"]);
    expect(changedIn(diffs["monitor-37"])).toEqual(["interval"]);
    expect(output).not.toMatch(/attributes|checked_at|response_time|total_pageviews/);
    expect(output).toMatch(new RegExp(`~ 1 to update\\s+${length + domains.length} unchanged`));
    expect(stdout.split("\n").length).toBeLessThan(30);
  });
});

test("invalid inputs are refused in the preview, all of a resource at once, and missing settings are named", async () => {
  const { emulator, workspace } = await startStack({
    program: programOf([
      monitorOf("wrong", {
        interval: 61,
        requestHeaders: [{ key: "X Probe", value: canary("header") }, { key: "A" }],
        intervall: 60,
        // Secrets are not printed, under their name or a mistyped one.
        requestAuthPassword: `${canary("password")}\n`,
        requestAuthPasword: canary("typo"),
        request_headers: [{ key: "X-Token", value: canary("wire") }],
      }),
    ]),
  });
  const output = await workspace.failed("preview", "--diff");
  for (const text of [
    "interval must be one of 60, 180, 300, 600, 900, 1800, 3600, not 61; the nearest is 60",
    "requestHeaders[0].key must be the name of a header",
    "requestHeaders[1].value must be a string",
    "intervall is not a property of Monitor; did you mean interval?",
    "requestAuthPassword must not begin or end with spaces",
    "requestAuthPasword is not a property of Monitor; did you mean requestAuthPassword?",
    "request_headers is not a property of Monitor; did you mean requestHeaders?",
    "`npx --no pulumi-uptime doctor --program .` lists everything that the preview refuses.",
  ])
    expect(output.replace(/\s+/g, " ")).toContain(text);

  Object.assign(workspace.env, { UPTIME_BASE_URL: "", UPTIME_API_KEY: "" });
  const missing = await workspace.failed("preview");
  for (const setting of ["baseUrl", "apiKey"]) expect(missing).toContain(`uptime:${setting} is not set`);
  expect(emulator.requests).toEqual([]);
});
