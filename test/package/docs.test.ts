import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { readSettings } from "../../provider/api/settings";

const root = join(__dirname, "..", "..");
const definitions = [domain, monitor];
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
const resources = read("docs", "resources.md");
const settings = read("docs", "settings.md");

const docs = () => import("../tools/docs.mjs");

test("the API's pages can be made, and nothing that they name is missing", () => {
  const typedoc = join(root, "node_modules", ".bin", "typedoc");
  const { status, stdout, stderr } = spawnSync(typedoc, ["--emit", "none"], { cwd: root, encoding: "utf8" });
  expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining("[warning]")]);
});

describe("the tables of fields", () => {
  test("docs/resources.md has them as the declarations are", async () => {
    const { withTables } = await docs();
    // If this fails: npm run docs
    expect(resources).toBe(withTables(resources, definitions));
  });

  test("a declaration that has changed changes them", async () => {
    const { withTables } = await docs();
    const [[name, interval] = [], ...others] = Object.entries(monitor.fields).sort(
      ([a], [b]) => Number(b === "interval") - Number(a === "interval"),
    );
    if (name === undefined || interval === undefined) throw new Error("Monitor has no fields.");
    const changed: Definition = {
      ...monitor,
      fields: { ...Object.fromEntries(others), [name]: { ...interval, allowed: [60, 7200] } },
    };
    const text = withTables(resources, [changed]);
    expect(text).not.toBe(resources);
    expect(text).toContain("| `60`, `7200` |");
  });

  test("a sentence that has changed changes them, and a field needs one", async () => {
    const { sentencesOf, tableOf } = await docs();
    const source = read("provider", "definitions", "monitor.ts");
    const before = tableOf(monitor, sentencesOf(source));
    const after = tableOf(monitor, sentencesOf(source.replace("Check interval", "How often, in seconds")));
    expect(resources).toContain(before);
    expect(after).toBe(before.replace("Check interval", "How often, in seconds"));
    const without = sentencesOf(source.replace(/\/\*\*\s+\* Check interval[^/]*\*\//, ""));
    expect(() => tableOf(monitor, without)).toThrow(
      "Monitor.interval has no comment that says what it means.",
    );
  });

  test("a resource without a place on the page is noticed", async () => {
    const { withTables } = await docs();
    expect(() => withTables("# pulumi-uptime\n", definitions)).toThrow(
      "docs/resources.md has no place for the fields of Domain",
    );
  });

  test.each(definitions)(
    "the sentences of $label name each allowed value and default",
    async (definition) => {
      const { sentencesOf } = await docs();
      const sentences = sentencesOf(read("provider", "definitions", `${definition.singular}.ts`));
      const missing = Object.entries(definition.fields).flatMap(([key, { allowed = [], default: preset }]) =>
        [...allowed, ...(preset === undefined ? [] : [preset])]
          .filter((value) => !new RegExp(`\\b${value}\\b`).test(sentences.get(key) ?? ""))
          .map((value) => `${key}: ${value}`),
      );
      expect(missing).toEqual([]);
    },
  );
});

describe("docs/settings.md", () => {
  /** The cells of each row that is about a setting. */
  const rows = settings
    .split("\n")
    .filter((line) => line.startsWith("| `uptime:"))
    .map((line) => line.split("|").map((cell) => cell.trim()));

  test("lists each setting that is read, and no other", () => {
    const asked = new Set<string>();
    const noting = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void asked.add(String(name)) });
    const get = (key: string): string | undefined => {
      asked.add(key);
      return key === "uptime:accounts" ? '{"name": {}}' : undefined;
    };
    for (const account of [undefined, "name"]) expect(() => readSettings({ get }, noting, account)).toThrow();
    const listed = rows.flatMap(
      (cells) =>
        cells
          .slice(1, 3)
          .join()
          .match(/[\w:]+/g) ?? [],
    );
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
    const wrong = rows.flatMap(([, setting = "", , preset = ""]) => {
      const name = setting.replace(/^`uptime:|`$/g, "");
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
    const ranges = rows.flatMap(([, setting = "", , , meaning = ""]) => {
      const [, least, most] = /(\d+) to (\d+)/.exec(meaning) ?? [];
      return most === undefined
        ? []
        : [{ key: setting.replaceAll("`", ""), least: Number(least), most: Number(most) }];
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
  const [, map = ""] = /\n## The map, in reading order\n(.*?)\n## /s.exec(read("CONTRIBUTING.md")) ?? [];
  const named = [...map.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = ""]) => path);

  test("has ten items, and each file that it names is there", () => {
    expect(map.match(/^\d+\. /gm)).toHaveLength(10);
    const folders = ["", "provider", "provider/cli"];
    expect(named.filter((path) => !folders.some((folder) => existsSync(join(root, folder, path))))).toEqual(
      [],
    );
  });

  test("names each file of the provider", () => {
    const files = readdirSync(join(root, "provider")).filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !named.some((path) => path.split("/").at(-1) === file))).toEqual([]);
  });
});

describe("the picture in the README", () => {
  const svg = read("docs", "preview.svg");
  const picture = () => import("../tools/picture.mjs");

  test("is drawn as the demo draws its text", async () => {
    const { engineIn, svgOf, textIn } = await picture();
    expect(textIn(svg).split("\n").length).toBeGreaterThan(10);
    expect(svgOf(textIn(svg), engineIn(svg) ?? "")).toBe(svg);
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

  test("holds neither a time nor a colour's code of the run that it is of", async () => {
    const { stable } = await picture();
    const printed =
      '\u001b[33m~ updated_at: "2030-01-31T22:00:00.123Z" => "2030-01-31T22:00:01.4Z"\u001b[0m  \n\n';
    expect(stable(printed)).toBe('~ updated_at: "…" => "…"');
  });
});

test("each page in docs/ is in the README's table", () => {
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  expect(pages.filter((name) => !read("README.md").includes(`](docs/${name})`))).toEqual([]);
});
