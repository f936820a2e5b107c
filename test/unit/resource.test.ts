import * as pulumi from "@pulumi/pulumi";

import { Domain, Monitor, type MonitorArgs } from "../../provider";
import { monitor } from "../../provider/definitions/monitor";
import * as native from "../../provider/native";
import { dynamicOptions } from "../../provider/sdk/dynamic-binding";
import { secretInputs } from "../../provider/sdk/secret-inputs";
import { pluginBinding } from "../../provider/sdk/plugin-binding";
import { startDynamic } from "../support/calls";
import { engineUnknown } from "../support/marks";
import { startMocks, settled, type Registered } from "../support/mocks";
import { native as nativePolicy, Policy, type PolicyArgs } from "../support/third-resource";

const home: MonitorArgs = { name: "Home", url: "https://a.example", interval: 60 };

let registered: Registered[];
beforeEach(async () => {
  pulumi.runtime.setAllConfig({});
  registered = await startMocks();
});

/** What the engine is told of a resource, when it has been told. */
async function told(resource: pulumi.CustomResource): Promise<Registered> {
  const { value: urn } = await settled(resource.urn);
  const found = registered.find(({ type, name }) => urn?.endsWith(`${type}::${name}`));
  if (!found) throw new Error(`${urn ?? "The resource"} was not registered.`);
  return found;
}

const dynamic = { Monitor, Domain, Policy };
const onPlugin = { ...native, ...nativePolicy };
const classes = [Monitor, Domain, Policy, native.Monitor, native.Domain, nativePolicy.Policy];
const any = { ...home, displayName: "Shop" } as MonitorArgs & PolicyArgs;

test.each(["Domain", "Monitor", "Policy"] as const)(
  "a %s has its type, its provider, and no key that is not declared",
  async (label) => {
    const keysOf = (inputs: object) =>
      Object.keys(inputs).filter((key) => key === "account" || key.startsWith("__"));
    const { type, inputs } = await told(new dynamic[label]("shop", any));
    expect(type).toBe(`pulumi-nodejs:dynamic/uptime:${label}`);
    expect(keysOf(inputs)).toEqual(["__options", "__provider"]);
    const code = `exports.handler=()=>require("pulumi-uptime/provider").${label.toLowerCase()}`;
    expect(inputs.__provider).toBe(code);
    const sent = await told(new onPlugin[label]("shop", any));
    expect(sent.type).toBe(`uptime:index:${label}`);
    expect(keysOf(sent.inputs)).toEqual([]);
    for (const one of [inputs, sent.inputs]) expect(one).toMatchObject(any);
  },
);

test("isInstance recognises resources of its own class, also if another copy of the package made them", () => {
  const resources = classes.map((Class) => new Class("a", any));
  for (const [index, Class] of classes.entries())
    expect(resources.filter((one) => Class.isInstance(one))).toEqual([resources[index]]);
  expect(Monitor.isInstance({ __pulumiType: "pulumi-nodejs:dynamic/uptime:Monitor" })).toBe(true);
  for (const other of [undefined, null, "", 0, {}]) expect(Monitor.isInstance(other)).toBe(false);
});

test("a dynamic resource is refused if its parent has a provider, which it would not use", async () => {
  const provider = new native.Provider("eu", { baseUrl: "https://eu.example", apiKey: "key" });
  const parent = new pulumi.ComponentResource("my:site:Site", "site", {}, { providers: [provider] });
  expect(() => new Monitor("home", home, { parent })).toThrow(
    'Monitor home has a parent with a provider, which only resources of "pulumi-uptime/native" use',
  );
  expect((await told(new native.Monitor("home", home, { parent }))).type).toBe("uptime:index:Monitor");
  // The component's own registration ends a little later.
  await new Promise(setImmediate);
});

test("a resource in the place of a value, which leads to itself again, is not searched for secrets", async () => {
  const shop = new Domain("shop", { name: "shop.example" });
  const self = jest.fn(() => undefined);
  Object.defineProperty(shop, "self", { enumerable: true, get: self });
  expect(await secretInputs({ name: shop, url: pulumi.output("https://a.example") })).toBeUndefined();
  expect(self).not.toHaveBeenCalled();
});

describe.each<[string, Pick<typeof onPlugin, "Monitor" | "Domain"> & { Policy: typeof Policy }, string]>([
  ["pulumi-uptime", dynamic, "pulumi-nodejs:dynamic/uptime:Monitor"],
  ["pulumi-uptime/native", onPlugin, "uptime:index:Monitor"],
])("the class Monitor of %s", (_, { Monitor, Domain, Policy }, type) => {
  /** A class of a program. Its constructor takes other arguments. */
  class Site extends Monitor {
    readonly path: string;
    constructor(path: string) {
      super(`site${path}`, { ...home, name: path });
      this.path = path;
    }
  }

  test("is a class of Pulumi's, with its type and its name", () => {
    const monitor = new Monitor("home", home);
    expect(monitor).toBeInstanceOf(Monitor);
    expect(monitor).toBeInstanceOf(pulumi.CustomResource);
    expect(monitor).not.toBeInstanceOf(Domain);
    expect(pulumi.CustomResource.isInstance(monitor)).toBe(true);
    expect(Monitor.__pulumiType).toBe(type);
    expect(Monitor.name).toBe("Monitor");
  });

  test.each([{}, { id: "" }])(
    "sends the defaults of what it does not declare, with options %j",
    async (options) => {
      const { inputs } = await told(
        new Monitor("home", { ...home, requestMethod: "HEAD", cacheBuster: undefined }, options),
      );
      const expected = { alertCondition: "url_unavailable", requestMethod: "HEAD", cacheBuster: false };
      expect(inputs).toMatchObject(expected);
    },
  );

  test("marks its secrets, and leaves other inputs readable", async () => {
    const basic = { requestAuthPassword: "hunter2", requestAuthUsername: "bob" };
    const monitor = new Monitor("home", { ...home, ...basic });
    const policy = new Policy("policy", { displayName: "Policy", token: "hunter2" });
    expect(await pulumi.isSecret(monitor.requestAuthPassword)).toBe(true);
    expect(await pulumi.isSecret(monitor.requestAuthUsername)).toBe(false);
    expect(await pulumi.isSecret(policy.token)).toBe(true);
  });

  test("can be extended, and get of that class reads a monitor", async () => {
    const site = new Site("/health");
    expect(site).toBeInstanceOf(Site);
    expect(Site.isInstance(site)).toBe(true);
    expect(site.path).toBe("/health");
    expect(await told(site)).toMatchObject({ type, inputs: { ...home, name: "/health" } });
    const read = Site.get("read", "7");
    expect(read).not.toBeInstanceOf(Site);
    expect(read).toBeInstanceOf(Monitor);
    expect(await told(read)).toMatchObject({ type, id: "7" });
  });

  test("has an output of undefined for what is not declared, has no value, or has none that get reads", async () => {
    await pulumi.runtime.setMocks({
      // State has null for each field that a resource does not have.
      newResource: ({ name, inputs, id }) => {
        const all = Object.keys(monitor.fields).map((key) => [key, null]);
        const state = { ...Object.fromEntries(all), ...inputs } as Record<string, unknown>;
        // Somebody has emptied a field that the program leaves to the web UI.
        const shown = { ignoring: { sslAlertDays: null }, read: home }[name];
        return { id: id ?? "1", state: { ...state, ...shown } };
      },
      call: () => ({}),
    });
    // As from another stack, whose outputs have any type.
    const empty = pulumi.output<unknown>(undefined) as pulumi.Output<string>;
    const none = { requestAuthUsername: empty, requestAuthPassword: empty };
    const made = new Monitor("made", { ...home, ...none, sslAlertDays: 7 });
    expect(await settled(made.sslAlertDays)).toEqual({ value: 7, isKnown: true });
    const days = { ...home, sslAlertDays: 7 } as const;
    const ignoring = new Monitor("ignoring", days, { ignoreChanges: ["sslAlertDays"] });
    const empties = new Monitor("null", { ...home, sslAlertDays: null as unknown as undefined });
    for (const one of [ignoring, empties])
      expect(await settled(one.sslAlertDays)).toEqual({ value: undefined, isKnown: true });
    const read = Monitor.get("read", "7");
    expect(await settled(read.interval)).toEqual({ value: home.interval, isKnown: true });
    for (const one of [made, read])
      for (const key of ["account", "alertTextLookup", "requestAuthUsername", "requestAuthPassword"] as const)
        expect(await settled(one[key])).toEqual({ value: undefined, isKnown: true });
  });

  test("passes on what get is given: its id, and of the state nothing but the account", async () => {
    const all = { ...home, sslAlertDays: 7, attributes: { a: 1 }, account: "them" } as const;
    for (const [state, expected] of [
      [undefined, {}],
      [{}, {}],
      [null as unknown as undefined, {}],
      [{ account: undefined }, {}],
      [all, { account: "them" }],
    ] as const) {
      registered.length = 0;
      const { id, inputs } = await told(Monitor.get("home", "7", state));
      expect(id).toBe("7");
      const given = Object.entries(inputs).filter(([key, value]) => key !== "__provider" && value != null);
      expect(Object.fromEntries(given)).toEqual(expected);
    }
  });
});

describe("a resource that is read with `get`", () => {
  test.each([Monitor, Domain, Policy, native.Monitor, native.Domain])(
    "is not read before its account is known, because Pulumi would leave the account out (%p)",
    async (kind) => {
      registered = await startMocks({ preview: true });
      const account = pulumi.output(pulumi.unknown as string);
      expect((await told(kind.get("later", "7", { account }))).id).toBe(engineUnknown);
      const byOption = new (kind as typeof Monitor)("by-option", { ...home, account }, { id: "7" });
      expect((await told(byOption)).id).toBe(engineUnknown);
      for (const known of [pulumi.output("eu"), pulumi.secret("eu"), Promise.resolve("eu"), "eu"])
        expect((await told(kind.get("now", "7", { account: known }))).id).toBe("7");
    },
  );

  test.each([
    ["pulumi-nodejs:dynamic/uptime:Policy", Policy],
    ["pulumi-nodejs:dynamic/uptime:Domain", Domain],
    ["pulumi-nodejs:dynamic/uptime:Monitor", Monitor],
    ["uptime:index:Domain", native.Domain],
    ["uptime:index:Monitor", native.Monitor],
  ])(
    "of %s takes Pulumi's options as the fourth argument, and an id that is an output",
    async (type, kind) => {
      const parent = new pulumi.ComponentResource("my:site:Site", "site");
      const read: pulumi.CustomResource = kind.get("home", pulumi.output("7"), {}, { parent });
      expect((await told(read)).id).toBe("7");
      expect((await settled(read.urn)).value).toMatch(new RegExp(`::my:site:Site\\$${type}::home$`));
    },
  );

  test.each<[string, object, string]>([
    ["parent", { parent: undefined }, 'Monitor.get("home") has parent in its state'],
    ["dependsOn", { account: "a", dependsOn: [] }, "has dependsOn in its state"],
    ["two", { provider: undefined, protect: true }, "has provider, protect in its state"],
  ])("refuses options in place of the state: %s", (_, state, message) => {
    const read = () => Monitor.get("home", "7", state);
    expect(read).toThrow(message);
    expect(read).toThrow("but Monitor has no such output; pass options as the fourth argument.");
    expect(read).toThrow(pulumi.RunError);
  });

  test.each(["", undefined])("needs an id: not %j, with which the SDK would create a resource", (id) => {
    expect(() => Monitor.get("home", id as unknown as string)).toThrow(
      'Monitor.get("home") needs the id of a monitor.',
    );
  });

  test("cannot be imported as well", () => {
    expect(() => Monitor.get("home", "7", {}, { import: "7" })).toThrow(
      "Monitor home has both the options id and import: use id to read a monitor, or import to manage it.",
    );
  });
});

test("errors that a program makes after a resource have their stack traces as before", async () => {
  const before = Error.stackTraceLimit;
  for (const type of [Monitor, native.Monitor]) {
    await told(new type("home", home));
    expect(Error.stackTraceLimit).toBe(before);
  }
});

describe("an error in a resource's arguments", () => {
  const wrong = { parent: { not: "a resource" } } as never;
  const wrongLine = Number(/resource\.test\.ts\S*?:(\d+):\d+/.exec(new Error("here").stack ?? "")?.[1]);
  test.each([
    ["Domain", () => new Domain("shop", { name: "shop.example" }, wrong)],
    ["Monitor", () => new Monitor("home", home, wrong)],
    ["Domain of the plugin", () => new native.Domain("shop", { name: "shop.example" }, wrong)],
    ["Monitor of the plugin", () => new native.Monitor("home", home, wrong)],
  ])("says at which line of the program: %s", (_, make) => {
    const before = Error.stackTraceLimit;
    let thrown: unknown;
    try {
      make();
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof Error)) throw new Error("nothing was thrown");
    const [, first] = thrown.stack?.split(/\n\s+at /) ?? [];
    const [, line] = /resource\.test\.ts\S*?:(\d+):\d+\)?$/.exec(first ?? "") ?? [];
    expect(Number(line)).toBeGreaterThan(wrongLine);
    expect(Number(line)).toBeLessThanOrEqual(wrongLine + 5);
    // Other errors of the program have their traces as before.
    expect(Error.stackTraceLimit).toBe(before);
  });
});

describe("on the provider plugin", () => {
  test("a third resource is looked up by the functions that its definition names", async () => {
    const called: [string, unknown][] = [];
    const found = { id: "7", displayName: "Shop" };
    await pulumi.runtime.setMocks({
      newResource: () => ({ id: "1", state: {} }),
      call: ({ token, inputs }) => {
        called.push([token, inputs]);
        return token.endsWith("getPolicy") ? found : { policies: [found] };
      },
    });
    expect(await nativePolicy.getPolicy({ displayName: "Shop" })).toEqual(found);
    expect(await nativePolicy.getPolicies()).toEqual([found]);
    expect((await settled(nativePolicy.getPolicyOutput({ id: pulumi.output("7") }))).value).toEqual(found);
    expect((await settled(nativePolicy.getPoliciesOutput())).value).toEqual([found]);
    expect(called).toEqual([
      ["uptime:index:getPolicy", { displayName: "Shop" }],
      ["uptime:index:getPolicies", {}],
      ["uptime:index:getPolicy", { id: "7" }],
      ["uptime:index:getPolicies", {}],
    ]);
  });

  test("a setting of a provider that is null is not set", async () => {
    const none = null as unknown as undefined;
    const later = pulumi.output<never>(none as never);
    // The plugin warns of a name that it does not know.
    const others = { colour: "red" } as object;
    const { inputs } = await told(new native.Provider("eu", { apiKey: none, maxRetries: later, ...others }));
    expect(inputs).toEqual({ ...others, apiKey: expect.objectContaining({ value: null }) as unknown });
  });

  test("a provider has its settings as strings, and its keys as secrets", async () => {
    const provider = new native.Provider("eu", {
      baseUrl: "https://eu.example",
      apiKey: "hunter2",
      accounts: { them: { apiKey: "correct horse" } },
      maxRetries: pulumi.output(3),
      sameAccount: ["3f9c=81d0"],
    });
    const { type, inputs } = await told(provider);
    expect(type).toBe("pulumi:providers:uptime");
    const secret = (value: string) => expect.objectContaining({ value }) as unknown;
    expect(inputs).toMatchObject({
      baseUrl: "https://eu.example",
      apiKey: secret("hunter2"),
      accounts: secret('{"them":{"apiKey":"correct horse"}}'),
      maxRetries: "3",
      sameAccount: '["3f9c=81d0"]',
    });
    expect(native.Provider.isInstance(provider)).toBe(true);
    expect(native.Provider.isInstance(new Monitor("home", home))).toBe(false);
    const monitor = new native.Monitor("home", home, { provider });
    expect((await told(monitor)).type).toBe("uptime:index:Monitor");
  });
});

describe("the name by which imports and adoptions know a resource", () => {
  class Site extends pulumi.ComponentResource {
    constructor(type: string, name: string, parent?: pulumi.Resource) {
      super(`my:site:${type}`, name, {}, parent ? { parent } : {});
    }
  }

  test("is the part of its URN that other resources do not have", async () => {
    const front = new Site("Front", "front");
    const made = [
      new Monitor("web", home, { import: "7" }),
      new Monitor("web", home, { import: "7", parent: front }),
      new Policy("web", { displayName: "Web" }, { import: "7", parent: new Site("Back", "back") }),
    ];
    for (const one of made) {
      const { value: urn } = await settled(one.urn);
      const passed = registered.map(({ inputs }) => inputs.__options);
      expect(passed).toContainEqual({ owner: urn?.split("::").slice(2).join("::") });
    }
    const inner = new Site("Inner", "inner", front);
    const deep = new Domain("web", { name: "a.example" }, { import: "8", parent: inner });
    // The SDK's mocks shorten the chain of types in a URN; the engine does not.
    const owner = "my:site:Front$my:site:Inner$pulumi-nodejs:dynamic/uptime:Domain::web";
    expect((await told(deep)).inputs).toMatchObject({ importId: "8", __options: { owner } });
  });

  test("leaves out the stack, as URNs do", async () => {
    const parent = new pulumi.ComponentResource("pulumi:pulumi:Stack", "stack");
    const { inputs } = await told(new Monitor("web", home, { parent: new Site("Front", "front", parent) }));
    const owner = "my:site:Front$pulumi-nodejs:dynamic/uptime:Monitor::web";
    expect(inputs.__options).toEqual({ owner });
  });

  test("is not told with an argument that is called as the id in state is, so that it is refused", async () => {
    const { inputs } = await told(new Monitor("web", { ...home, ...{ importId: "7" } }));
    const { monitor } = startDynamic({ "uptime:baseUrl": "https://a.example", "uptime:apiKey": "key" }, {});
    const { failures } = await monitor.check("urn", {}, inputs);
    expect(failures).toEqual([
      ": import is a resource option: pass it in the options, not as the property importId",
    ]);
  });

  test.each<[object]>([
    [{ import: "7", protect: true }],
    [{ import: "7", deleteBeforeReplace: false }],
    [{ import: undefined }],
  ])("comes with the id as an input; of the options %j the engine gets no import", (options) => {
    const { import: _, ...rest } = options as pulumi.CustomResourceOptions;
    expect(dynamicOptions(monitor, home, options)).toEqual(rest);
  });

  test("replaceWith has no effect beside it, because Pulumi may delete the record before the import is checked", () => {
    const other = new Monitor("other", home);
    const given = { protect: true, replaceWith: [other] };
    expect(dynamicOptions(monitor, home, { ...given, import: "7" })).toEqual({ protect: true });
    expect(dynamicOptions(monitor, home, given)).toEqual(given);
  });

  test.each([pulumi.output("7"), 7, Promise.resolve("7"), ""])(
    "the plugin takes it only as a string that is not empty, not %j",
    (given) => {
      const options = { import: given } as unknown as pulumi.CustomResourceOptions;
      expect(() => new native.Monitor("home", home, options)).toThrow(
        "Monitor home: the option import must be the id of a monitor, as a string; leave it out to create one.",
      );
    },
  );

  test.each<[pulumi.CustomResourceOptions, object]>([
    [{ ignoreChanges: ["name"] }, { ignoreChanges: ["name"] }],
    [{ replaceOnChanges: ["url"] }, { replaceOnChanges: ["url"] }],
    [{ customTimeouts: { create: "5m" } }, { customTimeouts: { create: "5m" } }],
    [{ ignoreChanges: [], replaceOnChanges: [], protect: true }, {}],
  ])("comes with the options that Pulumi does not pass on, of %j", async (options, passed) => {
    const { inputs } = await told(new Monitor("web", home, options));
    const owner = "pulumi-nodejs:dynamic/uptime:Monitor::web";
    expect(inputs.__options).toEqual({ ...passed, owner });
  });

  test("ignoreChanges with * stands for the fields, so that the hidden options are those of this run", () => {
    const { ignoreChanges = [] } = dynamicOptions(monitor, home, { ignoreChanges: ["*"] });
    expect(ignoreChanges).toEqual([...Object.keys(monitor.fields), "account"]);
    const options = { ignoreChanges: ["name"] };
    expect(dynamicOptions(monitor, home, options)).toEqual(options);
  });

  test("additionalSecretOutputs are those of the program and the secret fields that it declares", () => {
    const props = { ...home, requestHeaders: [] };
    expect(dynamicOptions(monitor, props, { additionalSecretOutputs: ["url"] })).toEqual({
      additionalSecretOutputs: ["url", "requestHeaders"],
    });
  });
});

test("a resource of the plugin is also the dynamic resource in state that its other aliases name", async () => {
  const plain = [{ name: "old" }, { parent: pulumi.rootStackResource }, { project: "old" }];
  const given = [...plain, pulumi.output({ name: "later" }), "urn:of:another"];
  const [, , , { aliases = [] }] = pluginBinding.prepare(monitor, "new", home, { aliases: given });
  const type = "pulumi-nodejs:dynamic/uptime:Monitor";
  const known = await Promise.all(
    aliases.slice(given.length).map(async (one) => (await settled(pulumi.output(one))).value),
  );
  const combined = [...plain, { name: "later" }].map((alias) => ({ type, ...alias }));
  expect(known).toEqual([{ type }, ...combined, "urn:of:another"]);
});
