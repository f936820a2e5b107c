import { join } from "node:path";

import ts from "typescript";

import { domain } from "../../provider/definitions/domain";
import { monitor } from "../../provider/definitions/monitor";
import { Editor } from "../support/editor";

const root = join(__dirname, "..", "..");
const examples = ["quickstart/index.ts", "team/index.ts", "team/services.ts", "fleet/index.ts"].map((path) =>
  join(root, "examples", path),
);

/** As a project of one's own has it: nothing of this repository's strictness but `strict`. */
const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2018,
  lib: ["lib.es2018.d.ts"],
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  types: [],
  skipLibCheck: true,
};

const preface = `import * as pulumi from "@pulumi/pulumi";
import * as uptime from "pulumi-uptime";
import * as native from "pulumi-uptime/native";
import { Domain, Monitor } from "pulumi-uptime";
`;
const editor = new Editor(options, preface);
const home = `name: "Home page", url: "https://example.com/", interval: 60`;

describe("programs that compile", () => {
  const programs: Record<string, string> = {
    "the required arguments": `new Monitor("a", { ${home} }); new Domain("d", { name: "d.example" });`,
    "every field": `new Monitor("a", { ${home}, alertCondition: "url_text", alertTextLookup: "text", alertChannelIds: [1, "2"],
        requestMethod: "POST", requestHeaders: [{ key: "X-Token", value: "t" }], requestAuthUsername: "user",
        requestAuthPassword: "password", cacheBuster: true, sslAlertDays: 14, domainAlertDays: 0,
        maintenanceStartAt: "2030-01-31T22:00:00", maintenanceEndAt: "2030-01-31T23:00:00", pause: true });
      new Domain("d", { name: "d.example", homepageUrl: "https://d.example/", notFoundUrl: "https://d.example/404" });`,
    "outputs, secrets and promises as inputs": `const config = new pulumi.Config();
      const { name, id } = new Domain("d", { name: config.require("domain") });
      new Monitor("a", { name, url: pulumi.interpolate\`https://\${name}/\`,
        interval: config.requireNumber("interval") as uptime.MonitorInterval,
        requestMethod: config.require<uptime.RequestMethod>("method"),
        requestHeaders: [{ key: "X-Token", value: config.requireSecret("token") }],
        requestAuthPassword: pulumi.secret("password"), alertChannelIds: [id, pulumi.output(2)] });`,
    "values from variables and objects": `const site = { ${home}, alertCondition: "url_unavailable" } as const;
      const often: uptime.MonitorInterval = 60, days: uptime.AlertDays = 14, when: uptime.AlertCondition = "url_text";
      new Monitor("a", { ...site, sslAlertDays: days, interval: pulumi.output(site.interval) });
      new Monitor("b", { ...site, interval: pulumi.secret(often), alertCondition: when, requestMethod: pulumi.output("HEAD") });`,
    "a class of one's own": `class Site extends Monitor { constructor(name: string) { super(name, { ${home} }); } }
      export const url: pulumi.Output<string> = new Site("a").url;
      export const made: Monitor = new Site("b");`,
    "the provider plugin, with a provider": `const provider = new native.Provider("eu", { baseUrl: "https://eu.example", apiKey: pulumi.secret("key"),
        accounts: { them: { apiKey: "other" } }, maxRetries: 3, sameAccount: ["3f9c=81d0"], allowHttp: pulumi.output(false) });
      const monitor: native.Monitor = new native.Monitor("a", { ${home} }, { provider });
      export const same: Monitor = native.Monitor.get("b", monitor.id, {}, { provider });
      export const name: Promise<string | undefined> = native.getMonitor({ id: 1 }, { provider }).then((m) => m.name);
      export const is = (one: unknown): one is native.Provider => native.Provider.isInstance(one);`,
    "undefined for a field that is not declared": `new Monitor("a", { ${home}, pause: undefined });`,
    "options, and a record that is read with get": `new Monitor("a", { ${home} }, { ignoreChanges: ["interval"], customTimeouts: { create: "1m" } });
      const read = Monitor.get("b", "7");
      export const days: pulumi.Output<number | undefined> = read.sslAlertDays;
      export const interval: pulumi.Output<number> = read.interval;
      const made = new Monitor("d", { ${home}, account: "eu" }, { import: "7" });
      const other = Domain.get("c", made.id, { account: "eu", name: "d.example" }, { parent: made });
      export const account: pulumi.Output<string | undefined> = other.account;
      export const shown: pulumi.Output<unknown> = read.attributes.apply((all) => all["last_checked_at"]);
      const state: import("pulumi-uptime").MonitorState = { name: made.name, sslAlertDays: 7, attributes: {} };
      Monitor.get("e", "7", state, { protect: true });`,
    "a test for the kind of a resource": `export const url = (one: unknown): pulumi.Output<string> | undefined =>
        Monitor.isInstance(one) ? one.url : Domain.isInstance(one) ? one.name : undefined;
      export const type: string = Monitor.__pulumiType;`,
    "lookups with Pulumi's options": `const site = new Monitor("a", { ${home} });
      export const one = uptime.getMonitor({ name: "a" }, { parent: site }).then(({ url }) => url);
      export const all = uptime.getDomains({ search: "a", searchBy: "name", sortBy: "name" }, { parent: site });
      export const later: pulumi.Output<string> =
        uptime.getMonitorOutput({ url: site.url, statusPageId: 3 }, { dependsOn: [site, pulumi.output(site)] }).id;
      export const many: pulumi.Output<number> =
        uptime.getDomainsOutput({}, { dependsOn: site, parent: site }).apply(({ length }) => length);`,
  };
  test.each(Object.entries(programs))("%s", (_, program) => {
    expect(editor.problems(program)).toEqual([]);
  });
});

test.each([monitor, domain])("each input of $label may be an output, and each part of one", (definition) => {
  const { label, fields } = definition;
  const lines = Object.keys(fields).map((key) => {
    const args = `import("pulumi-uptime").${label}Args["${key}"]`;
    return `export const ${key} = (value: pulumi.Unwrap<NonNullable<${args}>>): ${args} => pulumi.output(value);`;
  });
  const parts = `export const ids = (id: pulumi.Output<number>, other: pulumi.Output<string>) => new Monitor("a",
    { ${home}, alertChannelIds: [id, other], requestHeaders: [pulumi.output({ key: "X", value: "v" }), { key: other, value: other }] });`;
  expect(editor.problems([...lines, parts].join("\n"))).toEqual([]);
});

test("inputs with a fixed list of values accept these and nothing else", () => {
  const assign = (key: string, value: unknown) =>
    `{ const value: import("pulumi-uptime").MonitorArgs["${key}"] = ${JSON.stringify(value)}; void value; }`;
  const [right, wrong]: string[][] = [[], []];
  for (const [key, { allowed = [] }] of Object.entries(monitor.fields)) {
    right?.push(...allowed.map((value) => assign(key, value)));
    const others = typeof allowed[0] === "number" ? [4, String(allowed[0])] : ["GET ", 4];
    if (allowed.length > 0) wrong?.push(...others.map((value) => assign(key, value)));
  }
  expect(editor.problems(right?.join("\n") ?? "")).toEqual([]);
  expect(editor.problems(wrong?.join("\n") ?? "")).toHaveLength(2 * 5);
});

describe("programs that do not compile", () => {
  const declared = (more = ""): string => `new Monitor("a", { ${home}, ${more} });`;
  test.each([
    ["a field that is missing", `new Monitor("a", { name: "a", url: "u" });`, /'interval' is missing/],
    ["a domain without a name", `new Domain("d", {});`, /'name' is missing/],
    ["a property that does not exist", declared("sslAlertDay: 7"), /'sslAlertDay' does not exist/],
    ["a number for a string", declared("alertTextLookup: 5"), /'number'/],
    [
      "an interval that the API does not have",
      `new Monitor("a", { name: "a", url: "u", interval: 61 });`,
      /'61' is not/,
    ],
    [
      "any number as an interval",
      `const often = Number("60");\nnew Monitor("a", { name: "a", url: "u", interval: often });`,
      /'number' is not/,
    ],
    ["a number for a boolean", declared("cacheBuster: 1"), /'number'/],
    ["a string for a list", declared('alertChannelIds: "1"'), /'string'/],
    ["a header without a value", declared('requestHeaders: [{ key: "X" }]'), /'value' is missing/],
    ["an assignment to an output", `const m = ${declared()}\nm.interval = m.interval;`, /read-only/],
    [
      "an output that may be undefined",
      `export const lookup: pulumi.Output<string> = new Monitor("a", { ${home} }).alertTextLookup;`,
      /'undefined' is not assignable/,
    ],
    ["options for the state", `Monitor.get("b", "7", { protect: true });`, /'protect' does not exist/],
    ["a domain's list sorted by a URL", `void uptime.getDomains({ sortBy: "url" });`, /"url"/],
    [
      "dependsOn with a promise",
      `void uptime.getMonitors({}, { dependsOn: [] });`,
      /'dependsOn' does not exist/,
    ],
    [
      "a secret in the result of a lookup",
      `void uptime.getMonitor({ id: 1 }).then((m) => m.requestHeaders);`,
      /does not exist/,
    ],
  ])("%s", (_, program, problem) => {
    const problems = editor.problems(program);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });
});

describe("in an editor", () => {
  test("hovering over a property shows its description", () => {
    const texts = editor.hovers(`
      new Monitor("a", { name: "a", url: "https://a.example", interv¦al: 60 });
      const interval = 60;
      const m = new Monitor("b", { name: "b", url: "https://b.example", interv¦al });
      export const of = [m.interv¦al, m.¦account, m.¦attributes];`);
    expect(texts).toEqual([
      ...(Array(3).fill(expect.stringContaining("Check interval: 60, 180, 300")) as string[]),
      expect.stringContaining("The account that the record belongs to"),
      expect.stringContaining("The record's fields that are not managed"),
    ]);
  });

  test.each(["uptime", "native"])("hovering over a class or a lookup shows its description: %s", (front) => {
    const [monitor, domain, made, read, lookup] = editor.hovers(
      `export type All = ${front}.Moni¦tor | ${front}.Dom¦ain;
      new ${front}.Moni¦tor("a", { ${home} }); void ${front}.Monitor.g¦et("b", "7"); void ${front}.get¦Domains;`,
    );
    expect(monitor).toContain("An uptime monitor");
    expect(domain).toContain("A domain");
    expect(made).toMatch(/^Declares a monitor/);
    expect(read).toMatch(/^Reads an existing monitor by its id/);
    expect(lookup).toMatch(/^Finds all domains that the arguments select/);
  });

  test.each(["Domain", "Monitor"])(
    "get and the lookups of %s say what they throw, on both fronts",
    (label) => {
      const lookups = ["", "Output", "s", "sOutput"].map((end) => `get¦${label}${end}`);
      const names = [`${label}.g¦et`, ...lookups];
      const [uptime, native] = ["uptime", "native"].map((front) =>
        editor.tags(names.map((name) => `void ${front}.${name}(...([] as never));`).join(" ")),
      );
      const throwing = (tags?: string[][]) =>
        tags?.map((some) => some.filter((tag) => tag.startsWith("throws if ")));
      expect(throwing(native)).toEqual(throwing(uptime));
      for (const some of throwing(uptime) ?? []) expect(some).toHaveLength(1);
    },
  );

  test.each([
    ["uptime.Mon¦itor", "sdk/monitor.d.ts", /^class Monitor /],
    ["uptime.get¦Domain", "sdk/domain.d.ts", /^function getDomain\(/],
    ["native.Mon¦itor", "native.d.ts", /^class Monitor /],
    ["native.get¦Domain", "native.d.ts", /^const getDomain: /],
  ])("go to definition of %s finds its declaration in %s", (name, file, declaration) => {
    const found = editor.definitions(`void ${name};`);
    expect(found).toContainEqual({
      file: expect.stringMatching(new RegExp(`/dist/provider/${file}$`)) as string,
      text: expect.stringMatching(declaration) as string,
    });
  });

  /** What hovering over properties of a type shows. */
  const textsOf = (type: string, keys: readonly string[]): string[] => {
    const marked = keys.map((key) => `args.¦${key}`);
    const texts = editor.hovers(`export const of = (args: NonNullable<${type}>) => [${marked.join()}];`);
    expect(texts).toHaveLength(keys.length);
    return texts;
  };

  test.each([monitor, domain])(
    "each input of $label is offered and documented",
    async ({ label, singular, fields }) => {
      const { withLinks } = await import("../../tools/declarations.mjs");
      const { readManifest } = await import("../../tools/shared.mjs");
      const page = String(withLinks(`(docs/${singular}.md)`, readManifest()));
      const keys = Object.keys(fields);
      // The account is no field of the API.
      expect(editor.completions(`new ${label}("a", { ¦ });`).sort()).toEqual(["account", ...keys].sort());
      const [account, ...texts] = textsOf(`import("pulumi-uptime").${label}Args`, ["account", ...keys]);
      expect(account).toContain("The account that the record belongs to");
      for (const text of texts) expect(text).toContain(page);
    },
  );

  test.each([
    ["getMonitor", ["id", "account", "name", "url", "search", "searchBy", "statusPageId"]],
    ["getMonitors", ["account", "name", "url", "search", "searchBy", "statusPageId", "sortBy", "sort"]],
    ["getDomain", ["id", "account", "name", "search", "searchBy"]],
    ["getDomains", ["account", "name", "search", "searchBy", "sortBy", "sort"]],
  ])("each argument of %s is offered and documented", (lookup, keys) => {
    expect(editor.completions(`void uptime.${lookup}({ ¦ });`).sort()).toEqual([...keys].sort());
    for (const text of textsOf(`Parameters<typeof uptime.${lookup}>[0]`, keys))
      expect(text).toMatch(/^[A-Z`].{10}/);
    expect(editor.hovers(`void uptime.¦${lookup}({ name: "a" }, {});`)[0]).toMatch(/^Finds (one|all) /);
  });

  test.each([
    ["adoptExisting", "is not equal, nothing is created"],
    ["allowHttp", "exposes the API key"],
    ["sameAccount", "from the error that asks for them"],
  ])("hovering over a provider's setting says what nobody should miss: %s", (setting, text) => {
    expect(textsOf("native.ProviderArgs", [setting])).toEqual([expect.stringContaining(text)]);
  });

  test("hovering over the state of get says that only the account is used", () => {
    const marked = `Monitor.get("a", "7", { ¦account: "eu", ¦name: "a", ¦pause: true, ¦attributes: {} });`;
    const [account, ...others] = editor.declarations(marked);
    expect(account).not.toContain("NotUsed");
    expect(others.slice(0, 2)).toEqual(Array(2).fill(expect.stringContaining("NotUsed<")));
    expect(editor.hovers(marked)[3]).toMatch(/^Not used\./);
  });

  test("hovering over a lookup's argument names the fields that it may be, and shows what is exact", () => {
    const declared = editor.declarations(
      `void uptime.getMonitors({ ¦name: "a", ¦searchBy: "name", ¦sortBy: "id", ¦statusPageId: 3 });`,
    );
    expect(declared).toEqual([
      expect.stringContaining("Exact<string>"),
      expect.stringContaining('searchBy?: "name" | "url" | undefined'),
      expect.stringContaining('sortBy?: "name" | "url" | "id" | undefined'),
      expect.stringContaining("statusPageId?: string | number | undefined"),
    ]);
  });

  test("the values of an enumeration are offered", () => {
    const offered = editor.completions(`new Monitor("a", { ${home}, alertCondition: "¦" });`);
    expect(offered).toEqual(["url_unavailable", "url_text", "url_no_text"]);
  });
});

test("the examples compile with TypeScript 3.8.3, which Pulumi brings along", () => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const old = require("@pulumi/pulumi/vendor/typescript@3.8.3/typescript.js") as typeof ts;
  expect(old.version).toBe("3.8.3");
  // In 3.8.3 the same way of resolving had another name, and the same number.
  const native = join(root, "dist", "provider", "native.d.ts");
  const program = old.createProgram([...examples, native], options);
  const own = program
    .getSourceFiles()
    .filter(({ fileName }) => /\/(?:examples|dist\/provider)\//.test(fileName));
  expect(own.length).toBeGreaterThan(examples.length);
  // As ts-node does, only these are asked: types of Node.js that are newer than the compiler are none of ours.
  const problems = own.flatMap((file) =>
    [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${file.fileName}: ${old.flattenDiagnosticMessageText(messageText, "\n")}`,
    ),
  );
  expect(problems).toEqual([]);
});
