import { readFileSync } from "node:fs";
import { join } from "node:path";

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
    ["no repository", { manifest: { version: "1.2.3" } }, "names no repository"],
    [
      "the address still to be filled in",
      { manifest: { ...right.manifest, repository: { url: "git+https://example.com/OWNER/uptime.git" } } },
      "has no public address yet",
    ],
    ["a private package", { manifest: { ...right.manifest, private: true } }, "marked as private"],
  ])("fails with %s", async (_, change, problem) => {
    expect(await problemsOf(change)).toEqual([expect.stringContaining(problem)]);
  });
});

describe("the published package", () => {
  const at = (address: string) => ({ version: "1.2.3", repository: { url: `git+${address}.git` } });

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
      nodejs: "@good-watch/uptime",
      python: "pulumi_uptime",
      go: "github.com/Good-Watch/pulumi-uptime/sdk/go/uptime",
      csharp: "GoodWatch",
      java: "com.github.goodwatch",
    });
    const digit = packageNamesOf(at("https://github.com/4you/uptime"));
    expect(digit).toMatchObject({ csharp: "_4you", java: "com.github._4you" });
    const own = JSON.stringify(packageNamesOf(json("package.json")));
    expect(own).not.toMatch(/@pulumi|"pulumi[./]|com\.pulumi/i);
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
