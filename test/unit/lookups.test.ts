import * as pulumi from "@pulumi/pulumi";

import * as uptime from "../../provider";
import * as native from "../../provider/native";
import { dialectChoices, type Dialect } from "../../provider/emulator";
import { canary } from "../support/canary.cjs";
import { isList, sentRequests } from "../support/sent";
import { answer, emulator, failureOf, on, settingsOf, withServer } from "../support/server";
import { settled, startMocks } from "../support/mocks";
import { site } from "../support/monitors";
import { sample } from "../support/size";
import { getPolicies, getPolicy, getPolicyOutput } from "../support/third-resource";

withServer({ settled: true });
beforeEach(() => pulumi.runtime.setAllConfig(settingsOf(), ["uptime:apiKey"]));

type Query = readonly (readonly [string, string])[];
const isSearch = (query: Query): boolean => query.some(([name]) => name === "search");
const isPage = (query: Query, page: number): boolean =>
  query.some(([name, value]) => name === "page" && Number(value) === page);
/** So many monitors, with the ids from 1 on. */
const addShops = (count: number): void => {
  for (let number = 0; number < count; number++) emulator.monitors.add(site(`Shop ${number}`));
};
const idsFound = async (): Promise<number[]> =>
  (await uptime.getMonitors()).map(({ id }) => Number(id)).sort((one, other) => one - other);
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("one record", () => {
  test("has every field under its input's name, and the rest in attributes", async () => {
    const { id } = emulator.monitors.add(
      site("Shop", {
        alert_channel_ids: [1, 2],
        cache_buster: 1,
        ssl_alert_days: 14,
        request_auth_username: "bob",
        pause: true,
        last_checked_at: "yesterday",
      }),
    );
    const found = await uptime.getMonitor({ id });
    expect(found).toEqual({
      id: String(id),
      name: "Shop",
      url: "https://Shop.example/",
      interval: 300,
      alertCondition: "url_unavailable",
      alertTextLookup: undefined,
      alertChannelIds: [1, 2],
      requestMethod: "GET",
      requestAuthUsername: "bob",
      cacheBuster: true,
      sslAlertDays: 14,
      domainAlertDays: undefined,
      maintenanceStartAt: undefined,
      maintenanceEndAt: undefined,
      pause: true,
      attributes: {
        last_checked_at: "yesterday",
        created_at: expect.any(String) as string,
        updated_at: expect.any(String) as string,
      },
    });
    for (const args of [{ name: "Shop" }, { url: "HTTPS://shop.EXAMPLE" }, { search: "sho" }])
      expect(await uptime.getMonitor(args)).toEqual(found);
    expect(await uptime.getMonitor({ id: String(id) })).toEqual(found);
    emulator.domains.add({ name: "shop.example", homepage_url: "https://shop.example/" });
    expect(await uptime.getDomain({ name: "SHOP.example" })).toMatchObject({
      id: "1",
      name: "shop.example",
      homepageUrl: "https://shop.example/",
      notFoundUrl: undefined,
    });
    expect(emulator.writes()).toEqual([]);
  });

  test("holds no secret, wherever the API shows it", async () => {
    emulator.apiKey = canary("key");
    pulumi.runtime.setConfig("uptime:apiKey", emulator.apiKey);
    const badge = `https://status.example/badge?key=${emulator.apiKey}`;
    const extraFields = { team: "s3cret-token", note: "correct horse", badge };
    emulator.dialect = { password: "plain", extraFields };
    const request_headers = [{ key: "Authorization", value: "s3cret-token" }];
    emulator.monitors.add(site("Shop", { request_headers, request_auth_password: "correct horse" }));
    const found = await uptime.getMonitor({ name: "Shop" });
    const shown = JSON.stringify([found, await uptime.getMonitors()]);
    for (const secret of ["s3cret", "horse", emulator.apiKey]) expect(shown).not.toContain(secret);
    expect(Object.keys(found)).not.toContain("requestHeaders");
    expect(found.attributes).toMatchObject({
      team: "(the server repeats a secret)",
      note: "(the server repeats a secret)",
    });
  });

  test("that is not there is an error that says what was looked for and where", async () => {
    emulator.monitors.add(site("Shop 2"));
    expect(await failureOf(uptime.getMonitor({ name: "Shop" }))).toBe(
      `getMonitor found no monitor with name "Shop" at ${emulator.url}.`,
    );
    expect(await failureOf(uptime.getMonitor({ id: 7 }))).toBe(
      `getMonitor found no monitor with id 7 at ${emulator.url}.`,
    );
    expect(await failureOf(uptime.getDomain({ search: "x", searchBy: "name" }))).toContain(
      'no domain with search "x" and searchBy "name"',
    );
  });

  test("is found by its URL, however that is written", async () => {
    for (const url of ["https://a.example", "https://A.example/", "https://b.example/"])
      emulator.monitors.add(site("Shop", { url }));
    expect(await failureOf(uptime.getMonitor({ url: "https://a.example/" }))).toContain("found 2 monitors");
    expect(await uptime.getMonitors({ url: "https://a.example" })).toHaveLength(2);
  });

  test("that is one of several matches is an error that names some of them", async () => {
    for (let number = 0; number < 8; number++) emulator.monitors.add(site("Shop"));
    expect(await failureOf(uptime.getMonitor({ name: "Shop" }))).toBe(
      'getMonitor found 8 monitors with name "Shop": 8 ("Shop"), 7 ("Shop"), 6 ("Shop"), 5 ("Shop"), 4 ("Shop") and 3 ' +
        "more. Pass the id of the one that you mean, or use getMonitors.",
    );
  });

  test("is found among many with one short list, also if the API's search does not find it", async () => {
    addShops(230);
    const { id } = await uptime.getMonitor({ name: "Shop 7" });
    expect(id).toBe("8");
    expect(sentRequests()).toEqual(["GET /api/v1/monitors", "GET /api/v1/monitors/8"]);
    // Some searches read % as "anything", or find only what is indexed already.
    emulator.fault = ({ query }) => (isSearch(query) ? answer(200, "[]") : undefined);
    expect((await uptime.getMonitor({ name: "Shop 7" })).id).toBe("8");
  });

  test("is found by its exact name, also if the server ignores the search", async () => {
    emulator.monitors.add(site("Shop"));
    emulator.monitors.add(site("Shop and more"));
    emulator.fault = ({ query }) =>
      isSearch(query) ? answer(200, [site("x", { id: 3 }), site("Shop", { id: 1 })]) : undefined;
    expect((await uptime.getMonitor({ name: "Shop" })).id).toBe("1");
  });

  test("whose name the API shows with HTML entities is found and returned without them", async () => {
    emulator.dialect = { escapeHtml: true };
    emulator.monitors.add(site("Tom & Jerry's <shop>"));
    expect((await uptime.getMonitor({ name: "Tom & Jerry's <shop>" })).name).toBe("Tom & Jerry's <shop>");
  });

  test.each([
    ["as it is, if the server does not escape", false, "&copy; Shop"],
    ["unescaped, if the server escapes", true, "a & &copy;"],
  ])("has a text with an entity %s", async (_, escapeHtml, text) => {
    emulator.dialect = { escapeHtml };
    emulator.monitors.add(site("Shop", { alert_condition: "url_text", alert_text_lookup: text }));
    emulator.monitors.add({ ...site("Other"), url: "https://example.com/?a=1&b=2" });
    for (const args of [{ id: 1 }, { name: "Shop" }])
      expect((await uptime.getMonitor(args)).alertTextLookup).toBe(text);
    const texts = (await uptime.getMonitors()).map(({ alertTextLookup }) => alertTextLookup);
    expect(texts).toEqual([undefined, text]);
  });

  test("that is deleted while it is looked up is an error, and none of many", async () => {
    on(
      ({ path }) => path.endsWith("/1"),
      () => void emulator.monitors.remove(1),
    );
    emulator.monitors.add(site("Shop"));
    expect(await failureOf(uptime.getMonitor({ name: "Shop" }))).toContain(
      "was deleted while it was looked up",
    );
    emulator.monitors.add(site("Shop", { id: 1 }));
    expect(await uptime.getMonitors({ name: "Shop" })).toEqual([]);
  });

  test("has the values of its own address, if the search shows older ones", async () => {
    const shop = emulator.monitors.add(site("Shop"));
    on(isList, answer(200, { data: [{ ...shop, interval: 60 }] }));
    expect((await uptime.getMonitor({ name: "Shop" })).interval).toBe(300);
  });

  test.each(["id", "name"])(
    "that does not exist is an error without the API key, given as its %s",
    async (key) => {
      const failure = await failureOf(uptime.getMonitor({ [key]: emulator.apiKey }));
      expect(failure).toContain(`getMonitor found no monitor with ${key} `);
      expect(failure).not.toContain(emulator.apiKey);
    },
  );

  test("with a value that cannot be read is an error that names it", async () => {
    emulator.monitors.add(site("Shop", { interval: "often" }));
    expect(await failureOf(uptime.getMonitor({ id: 1 }))).toBe(
      'Monitor 1 cannot be read. The API shows interval as "often", but a whole number was expected.',
    );
  });
});

describe("many records", () => {
  const dialects: Partial<Dialect>[] = dialectChoices.paging.flatMap((paging) =>
    dialectChoices.listBrief.flatMap((listBrief) =>
      dialectChoices.emptyAs.map((emptyAs) => ({ paging, listBrief, emptyAs })),
    ),
  );
  test.each(dialects.filter((_, index) => index % sample(13, 5, 1) === 0))(
    "are all there, with all their fields: %j",
    async (dialect) => {
      emulator.dialect = { ...dialect, list: "bare", ids: "string" };
      for (let number = 0; number < 120; number++)
        emulator.monitors.add(
          site(`Shop ${number}`, number % 2 === 0 ? { ssl_alert_days: 7 } : { request_auth_username: "bob" }),
        );
      const found = await uptime.getMonitors();
      expect(found.map(({ id }) => Number(id))).toEqual(from(1, 120).reverse());
      expect(found.every(({ interval }) => interval === 300)).toBe(true);
      expect(found.filter(({ sslAlertDays }) => sslAlertDays === 7)).toHaveLength(60);
      expect(found.filter(({ requestAuthUsername }) => requestAuthUsername === "bob")).toHaveLength(60);
      // If the list shows all fields, it is enough; one record is read to find that out.
      if (dialect.listBrief === false && dialect.emptyAs !== "absent")
        expect(sentRequests().filter((read) => /\d$/.test(read))).toHaveLength(1);
    },
  );

  test("are selected and sorted as asked", async () => {
    for (const name of ["b", "C", "a", "B"]) emulator.monitors.add(site(name, { status_page_id: 3 }));
    emulator.monitors.add(site("bb"));
    const names = async (args?: uptime.GetMonitorsArgs) =>
      (await uptime.getMonitors(args)).map(({ name, id }) => `${String(name)}${id}`);
    expect(await names()).toEqual(["bb5", "B4", "a3", "C2", "b1"]);
    expect(await names({ sort: "asc" })).toEqual(["b1", "C2", "a3", "B4", "bb5"]);
    expect(await names({ sortBy: "name", sort: "asc" })).toEqual(["a3", "b1", "B4", "bb5", "C2"]);
    expect(await names({ statusPageId: "3", sortBy: "url" })).toEqual(["C2", "B4", "b1", "a3"]);
    expect(await names({ search: "b" })).toEqual(["bb5", "B4", "b1"]);
    expect(await names({ search: "BB.ex", searchBy: "url" })).toEqual(["bb5"]);
    expect(await names({ search: "b", name: "bb" })).toEqual(["bb5"]);
    expect(await names({ name: "nothing" })).toEqual([]);
    expect(await uptime.getDomains()).toEqual([]);
  });

  test("are an error, and never a short list, if the list breaks off or repeats itself", async () => {
    addShops(150);
    emulator.dialect = { paging: "meta" };
    emulator.fault = ({ query }) => (isPage(query, 2) ? answer(200, { message: "try again" }) : undefined);
    expect(await failureOf(uptime.getMonitors())).toContain("did not return a list of monitors");
    const body = { data: [site("x", { id: 150 })], meta: { current_page: 1, last_page: 2 } };
    emulator.fault = () => answer(200, body);
    expect(await failureOf(uptime.getMonitors())).toContain("cannot be read completely");
  });

  describe("a list whose pages move while it is read", () => {
    beforeEach(() => void (emulator.dialect = { paging: "meta" }));
    /** Something happens whenever the second page is asked for. */
    const onSecondPage = (act: () => unknown): void => {
      emulator.fault = ({ query }) => {
        if (isPage(query, 2)) act();
        return undefined;
      };
    };

    test.each(["meta", "nextPageUrl"] as const)(
      "is read again if a record is deleted, so that nothing is missed: %s",
      async (paging) => {
        addShops(250);
        emulator.dialect = { paging };
        // What was first of the second page becomes last of the first one, which has been read.
        onSecondPage(() => emulator.monitors.remove(249));
        expect(await idsFound()).toEqual(expect.arrayContaining([...from(1, 248), 250]));
        expect(sentRequests().filter((read) => read.endsWith("monitors"))).toHaveLength(6);
      },
    );

    test("is read again if as many are created as deleted", async () => {
      addShops(101);
      onSecondPage(() => {
        if (emulator.monitors.remove(1)) emulator.monitors.add(site("New"));
      });
      expect(await idsFound()).toEqual(expect.arrayContaining(from(2, 102)));
    });

    test("is an error if records are deleted during every read", async () => {
      addShops(250);
      let newest = 250;
      onSecondPage(() => emulator.monitors.remove(newest--));
      expect(await failureOf(uptime.getMonitors())).toContain("monitors are deleted while it is read");
    });

    test("is read once if records are only created", async () => {
      addShops(250);
      emulator.fault = () => {
        emulator.monitors.add(site("New"));
        return undefined;
      };
      expect(await idsFound()).toEqual(expect.arrayContaining(from(1, 250)));
    });

    test("is whole if the server counts records that it does not list", async () => {
      const meta = { current_page: 1, last_page: 1, total: 2 };
      emulator.monitors.add(site("x"));
      on(isList, answer(200, { data: [site("x", { id: 1 })], meta }));
      expect(await idsFound()).toEqual(from(1, 1));
    });
  });

  test("are read one by one if the list leaves out a field that the fullest of them has", async () => {
    const [plain, full] = [site("Plain", { id: 2 }), site("Full", { id: 1, request_method: "GET" })];
    emulator.fault = (request) => {
      if (isList(request)) return answer(200, { data: [plain, full] });
      return answer(200, request.path.endsWith("/1") ? { ...full, alert_channel_ids: [5] } : plain);
    };
    const found = await uptime.getMonitors();
    expect(found.map(({ id, alertChannelIds }) => [id, alertChannelIds])).toEqual([
      ["2", undefined],
      ["1", [5]],
    ]);
  });

  test("are an error if one that the list holds cannot be read", async () => {
    emulator.dialect = { listBrief: true };
    addShops(3);
    emulator.fault = ({ path }) => (path.endsWith("/2") ? answer(404) : undefined);
    const ofOne = [{ id: 2 }, { name: "Shop 1" }].map((args) => () => uptime.getMonitor(args));
    for (const lookup of [() => uptime.getMonitors(), ...ofOne])
      expect(await failureOf(lookup())).toContain("but the list of monitors holds 2");
  });

  test("are without one that is deleted while the list is read", async () => {
    emulator.dialect = { listBrief: true };
    addShops(3);
    emulator.fault = ({ path }) => {
      if (path.endsWith("/3")) emulator.monitors.remove(2);
      return undefined;
    };
    expect((await uptime.getMonitors()).map(({ id }) => id)).toEqual(["3", "1"]);
  });
});

test("a record cannot be looked up by what the list does not show", async () => {
  emulator.monitors.add(site("Shop"));
  on(isList, answer(200, [{ id: 1, name: "Shop" }]));
  expect(await failureOf(uptime.getMonitor({ url: "https://shop.example/" }))).toContain(
    "does not show the url of 1, so it cannot be looked up by its url. Look it up by its id.",
  );
});

test("a record of another account is looked up with that account's key", async () => {
  emulator.monitors.add(site("Shop"));
  emulator.apiKey = "theirs";
  expect(await failureOf(uptime.getMonitor({ name: "Shop" }))).toContain("status 401");
  pulumi.runtime.setConfig("uptime:accounts", JSON.stringify({ them: { apiKey: "theirs" } }));
  expect(await uptime.getMonitor({ name: "Shop", account: "them" })).toMatchObject({ account: "them" });
  expect(await uptime.getMonitors({ account: "them" })).toMatchObject([{ name: "Shop", account: "them" }]);
  expect(await failureOf(uptime.getMonitors({ account: "us" }))).toContain('no account "us"; it has them');
});

test("arguments that make no sense are refused before anything is sent", async () => {
  const { getDomain, getDomains, getDomainOutput, getMonitor, getMonitors } = uptime;
  const object = "needs its arguments as an object, not";
  const wrong: [Promise<unknown>, string][] = [
    [getMonitor({}), "getMonitor needs to know which monitor: pass one of id, name, url, search"],
    [getDomain({ name: undefined }), "pass one of id, name, search."],
    [getMonitor({ id: 1, name: "x" }), "takes an id alone, because an id names one monitor; leave out name"],
    [getMonitor({ name: " " }), "name must not be empty"],
    [getMonitors({ search: "x", searchBy: "uri" as "url" }), 'searchBy must be "name" or "url"'],
    [getDomains({ search: "x", searchBy: "url" as "name" }), 'searchBy must be "name"'],
    [getMonitors({ searchBy: "url" }), "searchBy requires search"],
    [getMonitors({ sortBy: "interval" as "id" }), 'sortBy must be "id" or "name" or "url"'],
    [getMonitors({ sort: "down" as "desc" }), 'sort must be "desc" or "asc"'],
    [getMonitors({ statusPageId: "main" }), "statusPageId must be the id of a status page, a whole number"],
    [getMonitors({ id: 1 } as never), "getMonitors cannot take these arguments: it has no argument id, only"],
    [getDomains({ url: "x" } as never), "it has no argument url"],
    ...[true, "", " ", "1 ", "..", [1]].map((id): [Promise<unknown>, string] => [
      getMonitor({ id: id as string }),
      "id must be the id of a monitor, a string or a number",
    ]),
    [getMonitor({ name: 7 as never }), "name must be a string"],
    [getMonitor({ id: pulumi.output("7") as never }), "id is an output; use getMonitorOutput"],
    [getDomains({ search: pulumi.output("shop") as never }), "search is an output; use getDomainsOutput"],
    [getDomain("shop.example" as never), `getDomain ${object} "shop.example"`],
    [getDomain(undefined as never), `getDomain ${object} undefined`],
    [settled(getDomainOutput(undefined as never)), `getDomain ${object} undefined`],
    [getMonitors(["a"] as never), `getMonitors ${object} ["a"]`],
  ];
  for (const [refused, message] of wrong) expect(await failureOf(refused)).toContain(message);
  expect(emulator.requests).toEqual([]);
});

test("missing settings are an error without a stack", async () => {
  pulumi.runtime.setAllConfig({});
  const error: unknown = await uptime.getMonitors().catch((reason: unknown) => reason);
  expect(pulumi.RunError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ message: expect.stringContaining("uptime:baseUrl is not set") as string });
});

test("the output forms take inputs", async () => {
  emulator.monitors.add(site("Shop"));
  emulator.domains.add({ name: "shop.example" });
  const value = async <T>(output: pulumi.Output<T>): Promise<T | undefined> => (await settled(output)).value;
  expect(await value(uptime.getMonitorOutput({ id: pulumi.output("1") }).name)).toBe("Shop");
  expect(await value(uptime.getDomainOutput({ name: Promise.resolve("shop.example") }).id)).toBe("1");
  expect(await value(uptime.getMonitorsOutput({ search: pulumi.output("shop") }))).toHaveLength(1);
  expect(await value(uptime.getMonitorsOutput({ search: pulumi.output("none") }))).toEqual([]);
  expect(await value(uptime.getDomainsOutput())).toHaveLength(1);
});

describe("Pulumi's options", () => {
  const home = { name: "Home", url: "https://a.example/", interval: 60 as const };

  test("parent is accepted and has no effect", async () => {
    await startMocks();
    emulator.monitors.add(site("Shop"));
    const parent = new pulumi.ComponentResource("my:site:Site", "site");
    await settled(parent.urn);
    expect(await uptime.getMonitor({ id: 1 }, { parent, async: true })).toMatchObject({ name: "Shop" });
    expect(await uptime.getMonitors({}, { parent })).toHaveLength(1);
  });

  test("provider is refused, because dynamic resources have no provider resource", async () => {
    await startMocks();
    class Provider extends pulumi.ProviderResource {
      constructor() {
        super("other", "other", {});
      }
    }
    const provider = new Provider();
    const providers = [new native.Provider("eu", { baseUrl: emulator.url, apiKey: "x" })];
    const parent = new pulumi.ComponentResource("x:y:Site", "site", {}, { providers });
    await settled(parent.urn);
    for (const [name, refused] of [
      ["getMonitor", uptime.getMonitor({ id: 1 }, { parent })],
      ["getMonitor", uptime.getMonitor({ id: 1 }, { provider })],
      ["getMonitors", uptime.getMonitors({}, { provider })],
      ["getDomain", uptime.getDomain({ id: 1 }, { provider })],
      ["getDomains", uptime.getDomains({}, { provider })],
      ["getMonitor", settled(uptime.getMonitorOutput({ id: 1 }, { provider }))],
    ] as const)
      expect(await failureOf(refused)).toMatch(
        new RegExp(`^${name} takes no provider, .* argument account\\.$`),
      );
    expect(emulator.requests).toEqual([]);
  });

  test("each lookup explains a refused key, because a program may catch the first one's error", async () => {
    emulator.fault = () => answer(401);
    await startMocks();
    const failures = [await failureOf(uptime.getMonitors()), await failureOf(uptime.getMonitor({ id: 1 }))];
    expect(failures).toEqual([expect.stringContaining("status 401"), expect.stringContaining("status 401")]);
  });

  test("dependsOn waits for resources: alone, in lists, as outputs and in components", async () => {
    const order: string[] = [];
    await startMocks({ created: (name) => void order.push(name) });
    emulator.fault = () => {
      order.push("lookup");
      return undefined;
    };
    class Site extends pulumi.ComponentResource {
      constructor(name: string) {
        super("my:site:Site", name);
        new uptime.Monitor(`${name}-child`, home, { parent: this });
        this.registerOutputs({});
      }
    }
    const ways: ((name: string) => pulumi.InvokeOutputOptions["dependsOn"])[] = [
      (name) => new uptime.Monitor(name, home),
      (name) => [new uptime.Monitor(name, home), pulumi.output(new uptime.Monitor(`${name}-2`, home))],
      (name) => pulumi.output([new uptime.Monitor(name, home)]),
      (name) => Promise.resolve(new uptime.Monitor(name, home)),
      (name) => new Site(name),
      (name) => [new Site(name)],
    ];
    for (const [index, way] of ways.entries()) {
      order.length = 0;
      const dependsOn = way(`m${index}`) as pulumi.Input<pulumi.Resource>;
      const found = uptime.getMonitorsOutput({}, { dependsOn });
      expect(await settled(found)).toEqual({ value: [], isKnown: true });
      expect(order.indexOf("lookup")).toBe(order.length - 1);
      expect(order.length).toBeGreaterThan(1);
    }
  });

  test("dependsOn makes a lookup unknown in a preview that creates the resource", async () => {
    await startMocks({ preview: true });
    const dependsOn = new uptime.Monitor("made", home);
    expect(await settled(uptime.getMonitorsOutput({}, { dependsOn }))).toMatchObject({ isKnown: false });
    expect(emulator.requests).toEqual([]);
    const lookup = uptime.getMonitorsOutput({}, { dependsOn: [] });
    expect(await settled(lookup)).toEqual({ value: [], isKnown: true });
  });

  test("dependsOn with something other than resources is an error", async () => {
    const found = uptime.getDomainsOutput({}, { dependsOn: "home" as never });
    expect(await failureOf(settled(found))).toBe(
      "A lookup has an option dependsOn with a value that is not a resource.",
    );
  });

  test("a result depends on the resources that its lookup waits for", async () => {
    await startMocks();
    const made = new uptime.Monitor("made", home);
    const found = uptime.getMonitorsOutput({}, { dependsOn: made }) as unknown as {
      allResources(): Promise<Set<pulumi.Resource>>;
    };
    expect([...(await found.allResources())]).toEqual([made]);
  });
});

test("a third resource is looked up by what its definition says", async () => {
  const records = [
    { id: 1, display_name: "Status", applies: "nights", token: "hunter2", visitors: 7 },
    { id: 2, display_name: "Other", applies: "always", notice: "Hello" },
  ];
  emulator.fault = ({ path }) => {
    const [, id] = /\/policies(?:\/(\d+))?$/.exec(path) ?? [];
    return answer(200, id === undefined ? records : records.find((record) => String(record.id) === id));
  };
  const shown = { displayName: "Status", applies: "nights", attributes: { visitors: 7 } };
  const status = { id: "1", account: undefined, notice: undefined, ...shown };
  expect(await getPolicy({ id: 1 })).toEqual(status);
  expect(await getPolicy({ displayName: "Status" })).toEqual(status);
  const later = getPolicyOutput({ displayName: pulumi.output("Status") });
  expect((await settled(later)).value).toEqual(status);
  const sorted = await getPolicies({ sortBy: "displayName", sort: "asc" });
  expect(sorted.map(({ displayName }) => displayName)).toEqual(["Other", "Status"]);
  expect(await failureOf(getPolicy({}))).toBe(
    "getPolicy needs to know which policy: pass one of id, displayName, search, rotaId.",
  );
  expect(await failureOf(getPolicies({ url: "https://a.example" } as object))).toContain(
    "it has no argument url",
  );
});

test("the API is asked to search and filter by its own names of a third resource's fields", async () => {
  const status = { id: 1, display_name: "Status", applies: "nights", notice: "", token: "" };
  emulator.fault = ({ path }) => answer(200, path.endsWith("/policies") ? [status] : status);
  await getPolicies({ displayName: "Status", rotaId: 3 });
  await getPolicies({ search: "stat", searchBy: "displayName" });
  const lists = emulator.requests.filter(({ path }) => path.endsWith("/policies"));
  expect(lists.map(({ query }) => Object.fromEntries(query))).toMatchObject([
    { search: "Status", search_by: "display_name", rota: "3" },
    { search: "stat", search_by: "display_name" },
  ]);
});
