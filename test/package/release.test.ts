import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

import { nodeVersions } from "../support/installs";

import type { Release } from "../../tools/release.mjs" with { "resolution-mode": "import" };

const root = join(__dirname, "..", "..");
const json = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8")) as unknown;

describe("a release", () => {
  const right: Release = {
    tag: "v1.2.3",
    manifest: { version: "1.2.3", repository: { url: "git+https://example.com/me/uptime.git" } },
    lock: { version: "1.2.3", packages: { "": { version: "1.2.3" } } },
    changelog:
      "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2030-01-31\n\n- Something.\n\n## [1.2.2] - 2029-01-01\n\n- Old.\n",
    hasCorpus: true,
    registry: () => [],
    nodes: [{ version: "24", until: "2029-04-30" }],
    today: "2029-04-30",
  };
  const problemsOf = async (change: Partial<Release>) =>
    (await import("../../tools/release.mjs")).problemsOf({ ...right, ...change });

  test("passes if tag, version, lockfile, changelog and corpus agree", async () => {
    expect(await problemsOf({})).toEqual([]);
    expect(await problemsOf({ changelog: right.changelog.replace("## [Unreleased]\n", "") })).toEqual([]);
  });

  test.each<[string, Partial<Release>, string]>([
    ["another tag", { tag: "v1.2.4" }, "the tag must be v1.2.3"],
    ["a tag without v", { tag: "1.2.3" }, "the tag must be v1.2.3"],
    ["an old lockfile", { lock: { version: "1.2.2", packages: { "": {} } } }, "is not of version 1.2.3"],
    [
      "entries that are not released",
      { changelog: right.changelog.replace("[Unreleased]\n", "[Unreleased]\n\n### Added\n\n- New.\n") },
      "still has entries under Unreleased",
    ],
    ["an old changelog", { changelog: "## [1.2.2] - 2029-01-01\n\n- Old.\n" }, "not [1.2.3]"],
    ["no changelog", { changelog: "" }, "is missing, not [1.2.3]"],
    ["no date", { changelog: "## [1.2.3]\n\n- Something.\n" }, "does not give 1.2.3 a date"],
    ["no entries", { changelog: "## [1.2.3] - 2030-01-31\n" }, "lists no changes for 1.2.3"],
    ["no state of the version", { hasCorpus: false }, "test/corpus holds no state of 1.2.3"],
    [
      "what breaks programs in a version that may not",
      { sinceLast: { last: "1.1.9", breaks: ["The value 60 is removed."] } },
      "1.2.3 may not break programs of 1.1.9: The value 60 is removed.",
    ],
    ["what the registry would refuse", { registry: () => ["There is no title."] }, "There is no title."],
    ["no repository", { manifest: { version: "1.2.3" } }, "names no repository"],
    [
      "the address still to be filled in",
      { manifest: { ...right.manifest, repository: { url: "git+https://example.com/OWNER/uptime.git" } } },
      "has no public address yet",
    ],
    ["a version of Node.js that has ended", { today: "2029-05-01" }, "supported until 2029-04-30"],
    ["a private package", { manifest: { ...right.manifest, private: true } }, "marked as private"],
  ])("fails with %s", async (_, change, problem) => {
    expect(await problemsOf(change)).toEqual([expect.stringContaining(problem)]);
  });
});

test("the supported versions of Node.js are those that CI and the tests of installations use", () => {
  const supported = json(".github/node-versions.json") as { version: string; until: string }[];
  const versions = supported.map(({ version }) => version);
  expect(json("package.json")).toMatchObject({ engines: { node: `>=${versions[0] ?? ""}` } });
  expect(["18", ...versions]).toEqual(nodeVersions);
  const { jobs } = parse(readFileSync(join(root, ".github", "workflows", "ci.yml"), "utf8")) as {
    jobs: { versions: { outputs: object; steps: { id?: string; run?: string }[] }; test: object };
  };
  expect(jobs.test).toMatchObject({
    needs: "versions",
    strategy: { matrix: { node: "${{ fromJSON(needs.versions.outputs.node) }}" } },
  });
  expect(jobs.versions.outputs).toEqual({ node: "${{ steps.read.outputs.node }}" });
  expect(jobs.versions.steps.find(({ id }) => id === "read")?.run).toBe(
    `echo "node=$(jq --compact-output 'map(.version)' .github/node-versions.json)" >> "$GITHUB_OUTPUT"`,
  );
});

describe("what breaks programs", () => {
  test("is for a major version, and before 1.0.0 for a minor one", async () => {
    const { mayBreak } = await import("../../tools/compatibility.mjs");
    const cases = { "1.2.3 1.3.0": false, "1.2.3 2.0.0": true, "0.1.0 0.1.1": false, "0.1.0 0.2.0": true };
    for (const [versions, expected] of Object.entries(cases)) {
      const [earlier = "", version = ""] = versions.split(" ");
      expect([versions, mayBreak(earlier, version)]).toEqual([versions, expected]);
    }
  });

  test("is found in the plugin's schema", async () => {
    const { schemaBreaks } = await import("../../tools/compatibility.mjs");
    const schema = () => JSON.parse(readFileSync(join(root, "plugin", "schema.json"), "utf8")) as Schema;
    const [before, now] = [schema(), schema()];
    expect(schemaBreaks(before, now)).toEqual([]);
    const monitor = now.resources["uptime:index:Monitor"];
    if (!monitor) throw new Error("The schema has no Monitor.");
    delete now.functions["uptime:index:getMonitors"];
    delete monitor.inputProperties.pause;
    monitor.requiredInputs.push("sslAlertDays");
    monitor.required.splice(monitor.required.indexOf("interval"), 1);
    Object.assign(monitor.properties.name ?? {}, { type: "integer" });
    now.types["uptime:index:MonitorRequestMethod"]?.enum?.shift();
    // What is added breaks nothing.
    Object.assign(monitor.inputProperties, { retries: { type: "integer" } });
    expect(schemaBreaks(before, now)).toEqual([
      "An input of uptime:index:Monitor.pause is removed.",
      "An input of uptime:index:Monitor.sslAlertDays must be set now.",
      "An output of uptime:index:Monitor.name has another type.",
      "An output of uptime:index:Monitor.interval may be missing now.",
      "uptime:index:getMonitors is removed.",
      "The value GET of uptime:index:MonitorRequestMethod is removed.",
    ]);
  });

  interface Schema {
    resources: Record<
      string,
      {
        required: string[];
        requiredInputs: string[];
        properties: Record<string, object>;
        inputProperties: Record<string, object>;
      }
    >;
    functions: Record<string, object>;
    types: Record<string, { enum?: object[] }>;
  }

  test("is found in the types of TypeScript", async () => {
    const { typeBreaks } = await import("../../tools/compatibility.mjs");
    const now = join(root, "dist", "provider");
    // In this repository, where Pulumi's types are found.
    const cache = join(root, "node_modules", ".cache");
    mkdirSync(cache, { recursive: true });
    const before = mkdtempSync(join(cache, "pulumi-uptime-types-"));
    try {
      cpSync(now, before, { recursive: true, filter: (file) => !/\.(js|map)$/.test(file) });
      const edit = (file: string, from: string, to: string) => {
        const text = readFileSync(join(before, file), "utf8");
        expect(text).toContain(from);
        writeFileSync(join(before, file), text.replace(from, to));
      };
      // What an earlier version had.
      edit("definitions/monitor.d.ts", "3600]", "3600, 7200]");
      edit("definitions/field.d.ts", "account?:", "tenant?: Input<string>;\n    account?:");
      const account = "readonly account: Output<string";
      edit("sdk/resource.d.ts", `${account} | undefined>`, `${account}>`);
      const exported = 'export * from "./sdk/domain";';
      edit("index.d.ts", exported, `${exported}\nexport declare const old: number;`);
      const breaks = typeBreaks(before, now);
      // And nothing that is the same.
      expect(breaks).toHaveLength(9);
      for (const part of [
        "MonitorInterval: Type '7200'",
        "DomainArgs: tenant is removed",
        "Monitor: ",
        "old: Property 'old' does not exist",
      ])
        expect(breaks).toContainEqual(expect.stringContaining(part));
    } finally {
      rmSync(before, { recursive: true });
    }
  });
});

describe("the pages and the schema that Pulumi's registry publishes", () => {
  const overviewFile = "docs/_index.md";
  const repository = { url: "git+https://github.com/me/pulumi-uptime.git" };
  const manifest = { name: "pulumi-uptime", version: "1.2.3", repository };
  /** What the registry gets once the address is known, as `npm run docs` writes it. */
  async function published() {
    const { registryPageOf, registryPages } = await import("../../tools/registry.mjs");
    const { linksOf } = await import("../../tools/schema.mjs");
    const written = json("provider/engine/plugin/schema.json") as object;
    const schema = { ...written, ...linksOf(manifest), publisher: "me" };
    const page = (file: string) =>
      registryPageOf(file, readFileSync(join(root, file), "utf8"), { manifest, schema });
    const { overview, installation } = registryPages;
    return { manifest, schema, overview: page(overview), installation: page(installation) };
  }
  type Published = Awaited<ReturnType<typeof published>>;

  test("pass, with the address and the version of the release", async () => {
    const { problemsOfRegistry } = await import("../../tools/registry.mjs");
    const release = await published();
    expect(problemsOfRegistry(release)).toEqual([]);
    expect(release.installation).toContain(
      "pulumi plugin install resource uptime 1.2.3 --server github://api.github.com/me/pulumi-uptime\n",
    );
    expect(release.overview + release.installation).not.toMatch(/(https|github):\S*OWNER/);
  });

  const inOverview =
    (from: string | RegExp, to: string) =>
    (release: Published): Partial<Published> => ({ overview: release.overview.replace(from, to) });
  const inInstallation =
    (from: string | RegExp, to: string) =>
    (release: Published): Partial<Published> => ({ installation: release.installation.replace(from, to) });
  const inSchema =
    (change: object) =>
    (release: Published): Partial<Published> => ({ schema: { ...release.schema, ...change } });
  const inLanguages = (more: object) =>
    inSchema({ language: { nodejs: { packageName: "pulumi-uptime" }, ...more } });
  const notAbsolute = "link or image that is not absolute";
  test.each<[string, (release: Published) => Partial<Published>, string]>([
    ["a relative link", inOverview(/\]\(https:[^)]*api\.md\)/, "](api.md)"), notAbsolute],
    ["a relative image", inInstallation("## SDKs", "![logo](./logo.svg)"), notAbsolute],
    [
      "an image in HTML",
      inInstallation("## SDKs", '<img alt="" src="logo.svg">'),
      "image that is not at an absolute address",
    ],
    ["a link in HTML", inInstallation("## SDKs", '<a href="/x">x</a>'), "link that is not absolute"],
    ["another layout", inOverview("layout: package", "layout: page"), "is not of the layout package"],
    [
      "another title",
      inInstallation("Installation & Configuration", "Setup"),
      'the title "Uptime Installation & Configuration"',
    ],
    ["no example in a language", inOverview("```go", "```text"), `${overviewFile} has no example in go`],
    [
      "the command for another address",
      inInstallation("api.github.com/me", "api.github.com/you"),
      "must show the command",
    ],
    ["no link to the SDK", inInstallation("npmjs.com/package/", "npmjs.com/"), "must link the SDK on npm"],
    ["a publisher that is not the owner", inSchema({ publisher: "Pulumi Uptime" }), "publisher must be me"],
    ["no plugin address", inSchema({ pluginDownloadURL: undefined }), "pluginDownloadURL must be github://"],
    ["another npm name", inLanguages({ nodejs: { packageName: "@me/uptime" } }), "must name pulumi-uptime"],
    ["a package in Python", inLanguages({ python: {} }), "a package in Python, which is not published"],
    ["a module in Go", inLanguages({ go: {} }), "a module in Go, which is not published"],
  ])("fail with %s", async (_, change, problem) => {
    const { problemsOfRegistry } = await import("../../tools/registry.mjs");
    const release = await published();
    expect(problemsOfRegistry({ ...release, ...change(release) })).toEqual([
      expect.stringContaining(problem),
    ]);
  });
});

describe("the published package", () => {
  const at = (address: string) => ({
    name: "pulumi-uptime",
    version: "1.2.3",
    repository: { url: `git+${address}.git` },
  });

  test("has homepage and bugs from the repository's address, which is one line of package.json", async () => {
    const { publishedManifest } = await import("../../tools/package.mjs");
    expect(publishedManifest(at("https://example.com/me/uptime"))).toMatchObject({
      homepage: "https://example.com/me/uptime#readme",
      bugs: { url: "https://example.com/me/uptime/issues" },
    });
    const text = readFileSync(join(root, "package.json"), "utf8");
    expect(text.match(/^.*https?:.*$/gm)).toEqual([expect.stringMatching(/"url": "git\+https:.*\.git"$/)]);
  });

  // The build compares the plugin's schema with what follows from package.json.
  test("names each language's SDK after that address, and none in a namespace of Pulumi", async () => {
    const { packageNamesOf } = await import("../../tools/schema.mjs");
    expect(packageNamesOf(at("https://github.com/Good-Watch/pulumi-uptime"))).toEqual({
      nodejs: "pulumi-uptime/native",
      python: "pulumi_uptime",
      go: "github.com/Good-Watch/pulumi-uptime/sdk/go/uptime",
      csharp: "GoodWatch",
      java: "com.github.goodwatch",
    });
    const digit = packageNamesOf(at("https://github.com/4you/uptime"));
    expect(digit).toMatchObject({ csharp: "_4you", java: "com.github._4you" });
    const own = JSON.stringify(packageNamesOf(json("package.json")));
    expect(own).not.toMatch(/@pulumi|"pulumi[./]|com\.pulumi/i);
    const { language } = json("plugin/schema.json") as { language: object };
    expect(language).toMatchObject({ nodejs: { packageName: "pulumi-uptime/native" } });
    const schema = json("provider/engine/plugin/schema.json");
    expect(schema).toMatchObject({
      name: "uptime",
      keywords: expect.arrayContaining(["pulumi"]) as string[],
    });
    expect(schema).not.toHaveProperty("namespace");
  });

  test("has no links before that address is known", async () => {
    const { linksOf } = await import("../../tools/schema.mjs");
    expect(linksOf(at("https://github.com/me/pulumi-uptime"))).toEqual({
      homepage: "https://github.com/me/pulumi-uptime",
      repository: "https://github.com/me/pulumi-uptime",
      logoUrl: "https://github.com/me/pulumi-uptime/raw/main/docs/logo.svg",
      pluginDownloadURL: "github://api.github.com/me/pulumi-uptime",
    });
    expect(linksOf(at("https://github.com/OWNER/pulumi-uptime"))).toEqual({});
  });

  test("links the pages that comments name, once that address is known", async () => {
    const { withLinks } = await import("../../tools/declarations.mjs");
    const comment = "/** Name of the monitor. (docs/monitor.md) */";
    const page = "https://example.com/me/uptime/blob/v1.2.3/docs/monitor.md";
    expect(withLinks(comment, at("https://example.com/me/uptime"))).toBe(
      `/** Name of the monitor. ([docs/monitor.md](${page})) */`,
    );
    expect(withLinks(comment, at("https://example.com/OWNER/uptime"))).toBe(comment);
  });
});
