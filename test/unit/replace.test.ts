import type { Fault } from "../../provider/emulator";
import { home } from "../support/monitors";
import { fronts, Program } from "../support/program";
import { sentRequests, storedIds } from "../support/sent";
import { answer, emulator, failureOf, on, withServer } from "../support/server";
import { urnOf } from "../support/simulated/engine";

const declared = { name: "shop.example", homepageUrl: "https://shop.example/" };
const sameName = ["shop.example", "Shop.EXAMPLE"];

withServer();

describe("a domain whose URL replaces it (replaceOnChanges)", () => {
  const replaceOnChanges = ["homepageUrl"];
  const homepageUrl = "https://www.shop.example/";
  const order = (): string[] => sentRequests().filter((line) => /^(POST|DELETE)/.test(line));

  test.each(sameName)("is deleted first if its name stays: %s", async (name) => {
    const one = new Program("dynamic").resource("domain", { replaceOnChanges });
    await one.up(declared);
    expect(await one.up({ name, homepageUrl })).toBe("replace");
    expect(order()).toEqual(["POST /api/v1/domains", "DELETE /api/v1/domains/1", "POST /api/v1/domains"]);
  });

  test("is deleted last if it has a new name", async () => {
    const one = new Program("dynamic").resource("domain", { replaceOnChanges });
    await one.up(declared);
    expect(await one.up({ ...declared, name: "new.example" })).toBe("replace");
    expect(order()).toEqual(["POST /api/v1/domains", "POST /api/v1/domains", "DELETE /api/v1/domains/1"]);
  });

  test("is deleted first by the plugin too, which does not hear of replaceOnChanges", async () => {
    const program = new Program("plugin");
    const one = program.resource("domain");
    await one.up(declared);
    if (!one.state) throw new Error("It was not created.");
    const { id, inputs, outputs } = one.state;
    const urn = urnOf({ kind: "domain", name: one.name });
    const diff = program.providers.domain.diff(urn, id, outputs, inputs, { ...inputs, homepageUrl }, {});
    expect(await diff).toMatchObject({ changes: true, replaces: false, deleteBeforeReplace: true });
  });
});

describe("a part of a field that replaces a monitor (replaceOnChanges)", () => {
  const headers = (...values: string[]) => values.map((value, index) => ({ key: `X-${index}`, value }));
  const changed = { requestHeaders: headers("a", "new") };
  test.each<[string[], object, string]>([
    [["requestHeaders[1].value"], changed, "replace"],
    [["requestHeaders[0].value"], changed, "update"],
    [["requestHeaders[*].value"], changed, "replace"],
    [["requestHeaders[*].key"], changed, "update"],
    [["requestHeaders"], changed, "replace"],
    [["*"], changed, "replace"],
    [["requestHeaders[2]"], { requestHeaders: headers("a", "b", "c") }, "replace"],
    [['["interval"]'], { interval: 300 }, "replace"],
  ])("%j: %j is a %s", async (replaceOnChanges, more, expected) => {
    const one = new Program("dynamic").resource("monitor", { replaceOnChanges });
    const monitor = { ...home, requestHeaders: headers("a", "b") };
    await one.up(monitor);
    expect(await one.up({ ...monitor, ...more })).toBe(expected);
  });
});

test.each([0, 1])(
  "an edit by hand of the second header is at its place in the program (%i)",
  async (place) => {
    const one = new Program("dynamic").resource("monitor", {
      replaceOnChanges: [`requestHeaders[${place}].value`],
    });
    const [first, second, third] = ["A", "B", "C"].map((key) => ({ key, value: key }));
    const monitor = { ...home, requestHeaders: [first, second], alertChannelIds: [2, "1"] };
    await one.up(monitor);
    // A server may list headers and ids in any order.
    const edited = { key: "b", value: "edited" };
    emulator.monitors.edit(1, { request_headers: [third, edited, first], alert_channel_ids: [3, 1, 2] });
    await one.refresh();
    expect(one.state?.outputs).toMatchObject({
      requestHeaders: [first, edited, third],
      alertChannelIds: [2, 1, 3],
    });
    expect(await one.up(monitor)).toBe(place === 0 ? "update" : "replace");
  },
);

test("a header that has only got another place does not replace the monitor", async () => {
  const one = new Program("dynamic").resource("monitor", { replaceOnChanges: ["requestHeaders[0].value"] });
  const [first, second, edited] = ["A", "B", "A"].map((key, index) => ({ key, value: String(index) }));
  await one.up({ ...home, requestHeaders: [first, second] });
  expect(await one.up({ ...home, requestHeaders: [second, first] })).toBe("same");
  expect(await one.up({ ...home, requestHeaders: [second, edited] })).toBe("update");
  expect(await one.up({ ...home, requestHeaders: [edited, second] })).toBe("same");
});

test("what somebody has put in the place of a channel or a header has its place in state", async () => {
  const one = new Program("dynamic").resource();
  const [first, second, other] = ["A", "B", "C"].map((key) => ({ key, value: key }));
  await one.up({ ...home, requestHeaders: [first, second], alertChannelIds: [4, 7, 9] });
  emulator.monitors.edit(1, { request_headers: [second, other], alert_channel_ids: [5, 9, 7, 6] });
  await one.refresh();
  expect(one.state?.outputs).toMatchObject({
    requestHeaders: [other, second],
    alertChannelIds: [5, 7, 9, 6],
  });
});

test("what somebody has put into an ignored place of a list stays", async () => {
  const ignoreChanges = ["alertChannelIds[0]", "requestHeaders[0].value"];
  const one = new Program("dynamic").resource("monitor", { ignoreChanges });
  const [first, second] = ["A", "B"].map((key) => ({ key, value: key }));
  const monitor = { ...home, alertChannelIds: [4, 7], requestHeaders: [first, second] };
  await one.up(monitor);
  const edited = { key: "A", value: "edited" };
  emulator.monitors.edit(1, { alert_channel_ids: [7, 5], request_headers: [second, edited] });
  await one.refresh();
  expect(await one.up(monitor)).toBe("same");
  expect(await one.up({ ...monitor, interval: 300 })).toBe("update");
  expect(emulator.monitors.get(1)).toMatchObject({
    alert_channel_ids: [5, 7],
    request_headers: [edited, second],
  });
});

test("of two headers of one name, the one that nobody has edited keeps its place", async () => {
  const one = new Program("dynamic").resource("monitor", { ignoreChanges: ["requestHeaders[0].value"] });
  const [first, second, edited] = ["1", "2", "3"].map((value) => ({ key: "A", value }));
  const monitor = { ...home, requestHeaders: [first, second] };
  await one.up(monitor);
  emulator.monitors.edit(1, { request_headers: [second, edited] });
  await one.refresh();
  expect(one.state?.outputs).toMatchObject({ requestHeaders: [edited, second] });
  expect(await one.up({ ...monitor, interval: 300 })).toBe("update");
  expect(emulator.monitors.get(1)).toMatchObject({ interval: 300, request_headers: [edited, second] });
});

describe.each(fronts)("an ignored value of a header (%s)", (front) => {
  const ignoreChanges = ["requestHeaders[0].value"];
  const [first, second, third] = ["A", "B", "C"].map((key) => ({ key, value: `value of ${key}` }));
  const monitor = { ...home, requestHeaders: [first, second] };

  async function created(stored: unknown[] = monitor.requestHeaders) {
    const one = new Program(front).resource("monitor", { ignoreChanges });
    await one.up(monitor);
    emulator.monitors.edit(1, { request_headers: stored });
    await one.refresh();
    return one;
  }

  test.each([
    ["somebody has deleted the first header", [second], [first, second], "B", "A"],
    ["the program has another order", [first, second], [second, first], "A", "B"],
    ["the program leaves out the first header", [first, second], [second], "A", "B"],
    ["the program has a new first header", [first, second], [third, first, second], "A", "C"],
  ])("is not sent under another name: %s", async (_, stored, requestHeaders, inState, inProgram) => {
    const one = await created(stored);
    emulator.forget();
    expect(await failureOf(one.up({ ...monitor, requestHeaders }))).toContain(
      `requestHeaders[0] is "${inState}" in state and "${inProgram}" in the program`,
    );
    expect(emulator.writes()).toEqual([]);
    expect(emulator.monitors.get(1)).toMatchObject({ request_headers: stored });
  });

  test("stays if its header gets another name, or if another header is new or goes", async () => {
    const edited = { ...first, value: "edited" };
    const one = await created([edited, second]);
    const renamed = { ...first, key: "X" };
    for (const requestHeaders of [[renamed, second], [renamed], [renamed, third]]) {
      expect(await one.up({ ...monitor, requestHeaders })).toBe("update");
      const [, ...others] = requestHeaders;
      expect(emulator.monitors.get(1)).toMatchObject({
        request_headers: [{ key: "X", value: "edited" }, ...others],
      });
    }
  });

  test("may be that of several headers", async () => {
    const parts = { ignoreChanges: [...ignoreChanges, "requestHeaders[1].value"] };
    const one = new Program(front).resource("monitor", parts);
    const [a, b, d] = ["A", "B", "D"].map((key) => ({ key, value: "same" }));
    await one.up({ ...home, requestHeaders: [a, b] });
    expect(await one.up({ ...home, requestHeaders: [b, a, third] })).toBe("update");
    expect(await one.up({ ...home, requestHeaders: [b, d, third] })).toBe("update");
  });
});

test("a replacement gets the program's headers, so an ignored value of one may have another place", async () => {
  const one = new Program("dynamic").resource("monitor", {
    ignoreChanges: ["requestHeaders[0].value"],
    replaceOnChanges: ["url"],
  });
  const [first, second] = ["A", "B"].map((key) => ({ key, value: `value of ${key}` }));
  await one.up({ ...home, requestHeaders: [first, second] });
  const moved = { ...home, url: "https://new.example/", requestHeaders: [second, first] };
  expect(await one.up(moved)).toBe("replace");
  expect(emulator.monitors.get(2)).toMatchObject({ request_headers: moved.requestHeaders });
});

test("after an update that failed half-way, a long value that stays replaces no monitor (replaceOnChanges)", async () => {
  const program = new Program("dynamic", { "uptime:maxRetries": "0" });
  const one = program.resource("monitor", { replaceOnChanges: ["requestHeaders"] });
  const monitor = { ...home, requestHeaders: [{ key: "Cookie", value: "x".repeat(5000) }] };
  await one.up(monitor);
  on("PATCH", answer(500));
  expect(await failureOf(one.up({ ...monitor, interval: 300 }))).toContain("may have been updated");
  emulator.fault = undefined;
  expect(await one.up({ ...monitor, interval: 300 })).toBe("update");
  expect(storedIds()).toEqual(["1"]);
});

// Of a replacement by `--replace` or taint the engine asks no diff.
describe.each(fronts)("a domain that is replaced without a diff (%s)", (front) => {
  test.each(sameName)("is deleted first with deleteBeforeReplace: %s", async (name) => {
    const one = new Program(front).resource("domain");
    await one.up(declared);
    one.nextRun();
    await one.replace({ ...declared, name });
    expect(storedIds("domain")).toEqual(["2"]);
    expect(one.state?.id).toBe("2");
  });

  test.each(sameName)("otherwise fails with an error that names deleteBeforeReplace: %s", async (name) => {
    const program = new Program(front);
    await program.resource("domain").up(declared);
    program.nextRun();
    const failure = await failureOf(program.resource("domain").up({ ...declared, name }));
    expect(failure).toContain("status 422");
    expect(failure).toContain("deleteBeforeReplace");
    expect(failure).toContain("If a domain in the trash still has it, restore that one");
    expect(storedIds("domain")).toEqual(["1"]);
  });
});

describe.each(fronts)("a domain whose name the API has stored differently (%s)", (front) => {
  const www = { name: "www.shop.example" };
  const withoutWww = (): Fault => answer(201, { ...emulator.domains.add({ name: "shop.example" }) });

  async function created(options = {}) {
    const program = new Program(front);
    const one = program.resource("domain", options);
    on("POST", withoutWww);
    expect(await failureOf(one.up(www))).toContain(
      'name was sent as "www.shop.example" and is "shop.example"',
    );
    emulator.fault = undefined;
    program.nextRun();
    return { program, one };
  }

  test("is the same error in each run as long as another name is declared, and no record is left over", async () => {
    const { program, one } = await created();
    for (let run = 0; run < 3; run++) {
      on("POST", withoutWww);
      expect(await failureOf(one.up(www))).toContain('and is "shop.example"');
      program.nextRun();
    }
    await one.destroy();
    expect(storedIds("domain")).toEqual([]);
  });

  test("changes in its other fields if its name is in ignoreChanges", async () => {
    const { one } = await created({ ignoreChanges: ["name"] });
    expect(await one.up({ ...www, homepageUrl: "https://shop.example/" })).toBe("update");
  });

  test("is as declared once the program has the name that is stored", async () => {
    const { program, one } = await created();
    expect(await one.up({ name: "shop.example" })).not.toBe("replace");
    program.nextRun();
    expect(await one.up({ name: "shop.example" })).toBe("same");
    expect(storedIds("domain")).toEqual(["1"]);
  });

  test("is replaced if another name is declared, and can be deleted", async () => {
    const { program, one } = await created();
    expect(await one.up({ name: "other.example" })).toBe("replace");
    expect(storedIds("domain")).toEqual(["2"]);
    program.nextRun();
    await one.destroy();
    expect(storedIds("domain")).toEqual([]);
  });
});
