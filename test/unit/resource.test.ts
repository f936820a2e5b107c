import * as pulumi from "@pulumi/pulumi";

import { Domain, Monitor, type MonitorArgs } from "../../provider";
import { monitor } from "../../provider/definitions/monitor";
import * as native from "../../provider/native";
import { pulumiOptions } from "../../provider/sdk/dynamic-binding";
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

describe("a resource", () => {
  test.each([
    ["Domain", { Dynamic: Domain, Native: native.Domain, args: { name: "shop.example" } }],
    ["Monitor", { Dynamic: Monitor, Native: native.Monitor, args: home }],
    ["Policy", { Dynamic: Policy, Native: nativePolicy.Policy, args: { displayName: "Shop" } }],
  ])(
    "%s has its type, its provider, and no key that is not declared",
    async (label, { Dynamic, Native, args }) => {
      const keysOf = (inputs: object) =>
        Object.keys(inputs).filter((key) => key === "account" || key.startsWith("__"));
      const { type, inputs } = await told(new Dynamic("shop", args as MonitorArgs & PolicyArgs));
      expect(type).toBe(`pulumi-nodejs:dynamic/uptime:${label}`);
      expect(keysOf(inputs)).toEqual(["__options", "__provider"]);
      expect(inputs.__provider).toBe(
        `exports.handler=()=>require("pulumi-uptime/provider").${label.toLowerCase()}`,
      );
      const onPlugin = await told(new Native("shop", args as MonitorArgs & PolicyArgs));
      expect(onPlugin.type).toBe(`uptime:index:${label}`);
      expect(keysOf(onPlugin.inputs)).toEqual([]);
      for (const one of [inputs, onPlugin.inputs]) expect(one).toMatchObject(args);
    },
  );

  test.each([
    ["pulumi-uptime", Monitor],
    ["pulumi-uptime/native", native.Monitor],
  ])("sends the defaults of what it does not declare: %s", async (_, Class) => {
    const { inputs } = await told(
      new Class("home", { ...home, requestMethod: "HEAD", cacheBuster: undefined }),
    );
    expect(inputs).toMatchObject({
      alertCondition: "url_unavailable",
      requestMethod: "HEAD",
      cacheBuster: false,
    });
  });

  test.each([
    ["pulumi-uptime", Monitor, Policy],
    ["pulumi-uptime/native", native.Monitor, nativePolicy.Policy],
  ])("marks its secrets, and leaves other inputs readable: %s", async (_, Monitor, Policy) => {
    const basic = { requestAuthPassword: "hunter2", requestAuthUsername: "bob" };
    const monitor = new Monitor("home", { ...home, ...basic });
    const policy = new Policy("policy", { displayName: "Policy", token: "hunter2" });
    expect(await pulumi.isSecret(monitor.requestAuthPassword)).toBe(true);
    expect(await pulumi.isSecret(monitor.requestAuthUsername)).toBe(false);
    expect(await pulumi.isSecret(policy.token)).toBe(true);
  });

  test("is recognised by isInstance of its own class, also if another copy of the package made it", () => {
    const resources = [
      new Monitor("a", home),
      new Domain("a", { name: "a.example" }),
      new Policy("a", { displayName: "A" }),
      new native.Monitor("a", home),
      new native.Domain("a", { name: "a.example" }),
      new nativePolicy.Policy("a", { displayName: "A" }),
    ];
    for (const [index, of] of [
      Monitor,
      Domain,
      Policy,
      native.Monitor,
      native.Domain,
      nativePolicy.Policy,
    ].entries())
      expect(resources.filter((one) => of.isInstance(one))).toEqual([resources[index]]);
    expect(Monitor.isInstance({ __pulumiType: "pulumi-nodejs:dynamic/uptime:Monitor" })).toBe(true);
    for (const other of [undefined, null, "", 0, {}]) expect(Monitor.isInstance(other)).toBe(false);
  });
});

describe.each<[string, Pick<typeof native, "Monitor" | "Domain">, string]>([
  ["pulumi-uptime", { Monitor, Domain }, "pulumi-nodejs:dynamic/uptime:Monitor"],
  ["pulumi-uptime/native", native, "uptime:index:Monitor"],
])("the class Monitor of %s", (_, { Monitor, Domain }, type) => {
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

  test("makes what get reads", async () => {
    const read = Monitor.get("home", "7");
    expect(read).toBeInstanceOf(Monitor);
    expect(await told(read)).toMatchObject({ type, id: "7" });
  });

  test("can be extended, and get of that class reads a monitor", async () => {
    const site = new Site("/health");
    expect(site).toBeInstanceOf(Site);
    expect(site).toBeInstanceOf(Monitor);
    expect(Site.isInstance(site)).toBe(true);
    expect(site.path).toBe("/health");
    expect(await told(site)).toMatchObject({ type, inputs: { ...home, name: "/health" } });
    const read = Site.get("read", "7");
    expect(read).not.toBeInstanceOf(Site);
    expect(await told(read)).toMatchObject({ id: "7" });
  });
});

describe("an output without a value is undefined", () => {
  const nothing = { value: undefined, isKnown: true };
  /** An engine whose state has null for each field that a resource does not have. */
  const startNulls = () =>
    pulumi.runtime.setMocks({
      newResource: ({ inputs, id }) => {
        const all = Object.keys(monitor.fields).map((key) => [key, null]);
        const state = { ...Object.fromEntries(all), ...inputs } as Record<string, unknown>;
        return { id: id ?? "1", state };
      },
      call: () => ({}),
    });

  test.each([
    ["pulumi-uptime", Monitor],
    ["pulumi-uptime/native", native.Monitor],
  ])("not declared, declared without a value, or read by get: %s", async (_, Class) => {
    await startNulls();
    // As from another stack, whose outputs have any type.
    const empty = pulumi.output<unknown>(undefined) as pulumi.Output<string>;
    const none = { requestAuthUsername: empty, requestAuthPassword: empty };
    const made = new Class("made", { ...home, ...none, sslAlertDays: 7 });
    expect(await settled(made.sslAlertDays)).toEqual({ value: 7, isKnown: true });
    for (const one of [made, Class.get("read", "7")])
      for (const key of ["account", "alertTextLookup", "requestAuthUsername", "requestAuthPassword"] as const)
        expect(await settled(one[key])).toEqual(nothing);
  });
});

describe("a resource that is read with `get`", () => {
  test("passes on its id, and nothing of the state but the account", async () => {
    const all = { ...home, sslAlertDays: 7, attributes: { a: 1 }, account: "them" } as const;
    for (const [state, account] of [
      [undefined, undefined],
      [{}, undefined],
      [{ account: undefined }, undefined],
      [all, "them"],
    ] as const) {
      registered.length = 0;
      const { id, inputs } = await told(Monitor.get("home", "7", state));
      expect(id).toBe("7");
      const given = Object.entries(inputs).filter(([key, value]) => key !== "__provider" && value != null);
      expect(Object.fromEntries(given)).toEqual(account ? { account } : {});
    }
  });

  test("takes Pulumi's options as the fourth argument, and an id that is an output", async () => {
    const parent = new pulumi.ComponentResource("my:site:Site", "site");
    const policy = Policy.get("policy", pulumi.output("7"), {}, { parent });
    expect((await told(policy)).id).toBe("7");
    expect((await settled(policy.urn)).value).toContain(
      "my:site:Site$pulumi-nodejs:dynamic/uptime:Policy::policy",
    );
    expect((await settled(Domain.get("shop", "1").id)).value).toBe("1");
  });

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

  test("cannot be imported as well", () => {
    expect(() => Monitor.get("home", "7", {}, { import: "7" })).toThrow(
      "Monitor home has both the options id and import: use id to read a monitor, or import to manage it.",
    );
  });
});

describe("an error in a resource's arguments", () => {
  const wrong = { parent: { not: "a resource" } } as never;
  const wrongLine = Number(/resource\.test\.ts\S*?:(\d+):\d+/.exec(new Error("here").stack ?? "")?.[1]);
  test.each([
    ["Domain", () => new Domain("shop", { name: "shop.example" }, wrong)],
    ["Monitor", () => new Monitor("home", home, wrong)],
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
    expect(Number(line)).toBeLessThanOrEqual(wrongLine + 3);
    // Other errors of the program have their traces as before.
    expect(Error.stackTraceLimit).toBe(before);
  });
});

describe("on the provider plugin", () => {
  test("a third resource is read by its id", async () => {
    expect(await told(nativePolicy.Policy.get("read", "7", { account: "them" }))).toMatchObject({
      id: "7",
      inputs: { account: "them" },
    });
    expect(() => nativePolicy.Policy.get("read", "7", { parent: undefined } as object)).toThrow(
      "has parent in its state, but Policy has no such output",
    );
  });

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
    const inner = new Site("Inner", "inner", front);
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
    const deep = new Domain("web", { name: "a.example" }, { import: "8", parent: inner });
    const { inputs } = await told(deep);
    // The SDK's mocks shorten the chain of types in a URN; the engine does not.
    expect(inputs.__options).toEqual({
      owner: "my:site:Front$my:site:Inner$pulumi-nodejs:dynamic/uptime:Domain::web",
    });
    expect(inputs.importId).toBe("8");
  });

  test.each<[object]>([
    [{ import: "7", protect: true }],
    [{ import: "7", deleteBeforeReplace: false }],
    [{ import: undefined }],
  ])("comes with the id as an input; of the options %j the engine gets no import", (options) => {
    const { import: _, ...rest } = options as pulumi.CustomResourceOptions;
    expect(pulumiOptions(monitor, home, options)).toEqual(rest);
  });

  test("is not sent to read a resource", async () => {
    expect((await told(Monitor.get("web", "7"))).inputs).not.toHaveProperty("__options");
  });
});
