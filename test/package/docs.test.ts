import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { readSettings } from "../../provider/api/settings";
import { isFull } from "../support/size";

const root = join(__dirname, "..", "..");
const definitions = [domain, monitor];
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
const settings = read("docs", "settings.md");

const docs = () => import("../../tools/docs.mjs");

test("the API's reference can be built, and every name in it is there", async () => {
  // TypeDoc's warnings are errors.
  const { buildSite } = await import("../../tools/site.mjs");
  expect(() => {
    buildSite();
  }).not.toThrow();
});

if (isFull)
  describe("the site, in a browser", () => {
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-site-"));
      const { buildSite } = await import("../../tools/site.mjs");
      buildSite(folder);
    });
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    test("can be read on a phone, in light and dark, searched, and each link leads somewhere", async () => {
      const { problemsIn } = await import("../../tools/site.mjs");
      expect(await problemsIn(folder)).toEqual([]);
    });

    test("is refused if a page is too wide, cannot be read, or links to nothing", async () => {
      const { problemsIn } = await import("../../tools/site.mjs");
      const page = join(folder, "docs", "drift.html");
      const wrong =
        '<p style="width: 900px; color: #ccc; background: #ddd"><a href="ci.html#nowhere">wide</a></p></body>';
      writeFileSync(page, readFileSync(page, "utf8").replace("</body>", wrong));
      const problems = await problemsIn(folder);
      for (const problem of [
        /drift.html: is \d+ pixels wider/,
        /can hardly be read/,
        /ci.html#nowhere leads nowhere/,
      ])
        expect(problems).toContainEqual(expect.stringMatching(problem));
    });
  });

describe("the page of", () => {
  const source = (name: string) => read("provider", "definitions", `${name}.ts`);
  const page = async (definition: Definition, from?: { source?: string; present?: string }) =>
    (await docs()).pageOf(definition, from);

  test.each(definitions)("$label says what its definition says", async (definition) => {
    const present = read("docs", `${definition.singular}.md`);
    // If this fails: npm run docs
    expect(present).toBe(await page(definition, { present }));
  });

  test("a resource has an entry for each argument, with everything that is known of it", async () => {
    const text = await page(monitor);
    const entries = text.split(/^### /m).map((entry) => entry.trim());
    for (const key of [...Object.keys(monitor.fields), "account", "id", "attributes"])
      expect(entries.filter((entry) => entry.startsWith(`${key}\n`))).toHaveLength(1);
    expect(entries).toContainEqual(
      "requestMethod\n\nstring · default `GET` · `request_method` in the API\n\n" +
        "HTTP method of the check request: GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS.",
    );
    expect(text).not.toMatch(/^\|/m);
  });

  test("a resource changes with its definition and its comments, and keeps what is written by hand", async () => {
    const present = read("docs", "monitor.md");
    const { interval } = monitor.fields;
    if (!interval) throw new Error("Monitor has no interval.");
    const changed: Definition = {
      ...monitor,
      fields: { ...monitor.fields, interval: { ...interval, replace: true } },
    };
    expect(await page(changed, { present })).toBe(
      present.replace("number · required", "number · required · a change replaces the monitor"),
    );
    const reworded = source("monitor").replace("Check interval", "How often, in seconds");
    expect(await page(monitor, { present, source: reworded })).toBe(
      present.replace("Check interval", "How often, in seconds"),
    );
  });

  test("a third resource is written from its definition alone", async () => {
    const { interval, url } = monitor.fields;
    if (!interval || !url) throw new Error("Monitor has no interval or URL.");
    const third: Definition = {
      ...monitor,
      label: "Probe",
      singular: "probe",
      plural: "probes",
      fields: { url, interval },
      rules: [],
    };
    const written = await page(third, {
      source: "export const probeFields = {\n/** Where. */ url: 1,\n/** How often. */ interval: 1 };",
    });
    expect(written.match(/^## .*$/gm)).toEqual(
      ["Example", "Arguments", "Outputs", "Import", "Probe.get", "Lookups"].map((title) => `## ${title}`),
    );
    for (const part of [
      'new Probe("example", {',
      "How often.",
      "getProbes(",
      "Probe.get(name, id, state?, options?)",
    ])
      expect(written).toContain(part);
    expect(written).not.toMatch(/monitor/i);
  });

  test("a resource needs a comment for each field, and a place for each part", async () => {
    const silent = source("monitor").replace(/\/\*\*\s+\* Check interval[^*]*\*[^*]*\*\//, "");
    await expect(page(monitor, { source: silent })).rejects.toThrow(
      "Monitor.interval has no comment that says what it means.",
    );
    await expect(page(domain, { present: "# Domain\n" })).rejects.toThrow(
      "docs/domain.md has no place for its arguments",
    );
  });

  test.each(definitions)("$label names each allowed value and default", async (definition) => {
    const { sentencesOf } = await docs();
    const sentences = sentencesOf(source(definition.singular));
    const missing = Object.entries(definition.fields).flatMap(([key, { allowed = [], default: preset }]) =>
      [...allowed, ...(preset === undefined ? [] : [preset])]
        .filter((value) => !new RegExp(`\\b${value}\\b`).test(sentences.get(key) ?? ""))
        .map((value) => `${key}: ${value}`),
    );
    expect(missing).toEqual([]);
  });
});

describe("docs/settings.md", () => {
  /** Each entry: the setting, the line with its default and its variable, and what it means. */
  const rows = settings
    .split(/^### /m)
    .filter((entry) => entry.startsWith("uptime:"))
    .map((entry) => {
      const [key = "", facts = "", ...meaning] = entry.split("\n\n");
      return {
        key,
        preset: /default (none|`[^`]*`)/.exec(facts)?.[1],
        variable: /environment `(\w+)`/.exec(facts)?.[1],
        meaning: meaning.join(" "),
      };
    });

  test("lists each setting that is read, and no other", () => {
    const asked = new Set<string>();
    const noting = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void asked.add(String(name)) });
    const get = (key: string): string | undefined => {
      asked.add(key);
      return key === "uptime:accounts" ? '{"name": {}}' : undefined;
    };
    for (const account of [undefined, "name"]) expect(() => readSettings({ get }, noting, account)).toThrow();
    const listed = rows.flatMap(({ key, variable }) => [key, ...(variable === undefined ? [] : [variable])]);
    expect(listed.sort()).toEqual([...asked].sort());
  });

  const readWith = (more: Record<string, string> = {}): Record<string, unknown> => {
    const config: Record<string, string> = {
      "uptime:baseUrl": "https://uptime.example.com",
      "uptime:apiKey": "key",
      ...more,
    };
    return { ...readSettings({ get: (key) => config[key] }, {}) };
  };

  test("gives the default of each that has one", () => {
    const { baseUrl, monitorsBaseUrl, ...read } = readWith();
    const wrong = rows.flatMap(({ key, preset }) => {
      const name = key.replace("uptime:", "");
      if (["baseUrl", "apiKey", "monitorsBaseUrl"].includes(name)) return [];
      const value = read[name] ?? [];
      return preset === (Array.isArray(value) ? "none" : `\`${JSON.stringify(value).replaceAll('"', "")}\``)
        ? []
        : [name];
    });
    expect(wrong).toEqual([]);
    expect(monitorsBaseUrl).toEqual(baseUrl);
  });

  test("gives the range of each that has one", () => {
    const ranges = rows.flatMap(({ key, meaning }) => {
      const [, least, most] = /(\d+) to (\d+)/.exec(meaning) ?? [];
      return most === undefined ? [] : [{ key, least: Number(least), most: Number(most) }];
    });
    expect(ranges).toHaveLength(4);
    for (const { key, least, most } of ranges) {
      for (const value of [least, most]) expect(() => readWith({ [key]: String(value) })).not.toThrow();
      for (const value of [least - 1, most + 1])
        expect(() => readWith({ [key]: String(value) })).toThrow(key);
    }
  });
});

describe("the map in CONTRIBUTING.md", () => {
  const [, map = ""] = /\n## The map\n(.*?)\n## /s.exec(read("CONTRIBUTING.md")) ?? [];
  const named = [...map.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = ""]) => path);

  test("has at most ten lines, and each path that it names is there", () => {
    expect(map.match(/^\d+\. /gm)?.length).toBeLessThanOrEqual(10);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(["provider", "test"])("names each folder and file of %s", (folder) => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true }).map(
      (entry) => `${folder}/${entry.name}${entry.isDirectory() ? "/" : ""}`,
    );
    expect(entries.filter((path) => !named.includes(path))).toEqual([]);
  });
});

describe("the picture in the README", () => {
  const svg = read("docs", "preview.svg");
  const picture = () => import("../../tools/picture.mjs");

  test("is drawn as the demo draws its text", async () => {
    const { engineIn, svgOf, textIn } = await picture();
    expect(textIn(svg).split("\n").length).toBeGreaterThan(10);
    expect(svgOf(textIn(svg), engineIn(svg) ?? "")).toBe(svg);
  });

  test("can be read on a phone: no line is longer than a narrow terminal", async () => {
    const { columns } = await picture();
    const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
    // At 360 pixels, a character is then at least 5 pixels wide.
    expect((360 / width) * (width / (columns + 4))).toBeGreaterThan(5);
    const long = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].filter(
      ([, line = ""]) => line.replace(/&\w+;/g, ".").length > columns,
    );
    expect(long).toEqual([]);
  });

  test("is of the program above it", () => {
    const program = /^```ts\n(.*?)^```$/ms.exec(read("README.md"))?.[1] ?? "";
    for (const value of ["Home page", "https://www.shop.example/"]) {
      expect(program).toContain(value);
      expect(svg).toContain(`"${value}"`);
    }
  });

  test("is described for who cannot see it", async () => {
    const { textIn } = await picture();
    const [, description = ""] = /!\[(.*)\]\(docs\/preview\.svg\)/.exec(read("README.md")) ?? [];
    const changes = description.match(/\d+ => \d+/g) ?? [];
    expect(changes).toHaveLength(2);
    for (const change of changes) expect(textIn(svg)).toContain(` ${change}\n`);
  });

  test("is wrong when other values are printed, but not for another engine's other words", async () => {
    const { engineIn, shows, textIn } = await picture();
    const text = textIn(svg);
    const engine = engineIn(svg) ?? "";
    const [inOtherWords, withOtherValues] = [
      text.replace("Previewing", "Looking at"),
      text.replace("3600", "1800"),
    ];
    expect(inOtherWords).not.toBe(text);
    expect([text, inOtherWords, withOtherValues].map((one) => shows(svg, one, engine))).toEqual([
      true,
      false,
      false,
    ]);
    expect([text, inOtherWords, withOtherValues].map((one) => shows(svg, one, "0.0.0"))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("holds neither times nor colour codes of the run", async () => {
    const { stable } = await picture();
    const printed =
      '\u001b[33m~ updated_at: "2030-01-31T22:00:00.123Z" => "2030-01-31T22:00:01.4Z"\u001b[0m  \n\n';
    expect(stable(printed)).toBe('~ updated_at: "…" => "…"');
  });
});

test("the README lists each page in docs/ under Documentation, from where the site takes its pages", () => {
  const [, list = ""] = /\n## Documentation\n(.*?)\n## /s.exec(read("README.md")) ?? [];
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  expect(pages.filter((name) => !list.includes(`](docs/${name})`))).toEqual([]);
});
