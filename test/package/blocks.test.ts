import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { newFolder } from "../support/folder";
import { anchorOf, type Block, blocksOf, commandsIn, pages } from "../support/blocks";
import * as uptime from "../../provider";
import { Editor } from "../support/editor";
import { exampleLanguages, examplesIn } from "../support/schema-examples";
import { startEmulator } from "../support/emulator";

const root = join(__dirname, "..", "..");
const blocks = pages.flatMap((page) => blocksOf(page));
const at = ({ page, line }: Block) => `${page}:${line}`;
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));
const pathOf = ({ page, line, file }: Block) =>
  join("examples", file ?? `${basename(page, ".md")}-${line}.mts`);

/** A program of one's own, with Node.js's types beside this package's; the sources need the library. */
const editor = new Editor({
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2020,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  types: ["node"],
  skipLibCheck: true,
});

/** A program as it is, a part of one with the imports that it leaves out. */
function programOf({ code }: Block): string {
  const exported = Object.keys(uptime);
  const imports = `import * as pulumi from "@pulumi/pulumi"; import { ${exported.join(", ")} } from "pulumi-uptime";\n`;
  return /^import /m.test(code) ? code : imports + code;
}

const partOfSource = ({ file }: Block) => file?.startsWith("provider/") ?? false;

test("every block names its language, which a test knows", () => {
  // "text" is what a command prints.
  const known = ["ts", "js", "sh", "sql", "yaml", "json", "text", ...exampleLanguages];
  expect(blocks.length).toBeGreaterThan(10);
  expect(blocks.filter(({ language }) => !known.includes(language)).map(at)).toEqual([]);
});

test("TypeScript on the pages and in the schema's examples compiles, and a mistake is found", () => {
  const programs = inLanguage("ts").filter((block) => !partOfSource(block));
  expect(programs.length).toBeGreaterThan(3);
  const sources = programs.map((block) => [pathOf(block), programOf(block)] as const);
  const examples = [...examplesIn("typescript")].map(
    ([name, code]) => [`examples/${name}.ts`, code] as const,
  );
  // The only SDK for it.
  for (const [, code] of examples) expect(code).toContain('from "pulumi-uptime/native";');
  const wrong = (code = "") => code.replace(/interval: \d+/, 'interval: "often"');
  const problems = editor.problems({
    ...Object.fromEntries([...sources, ...examples]),
    "examples/wrong.ts": wrong(sources[0]?.[1]),
    "examples/wrong-example.ts": wrong(examplesIn("typescript").get("Monitor")),
  });
  expect(problems).toEqual(
    ["wrong", "wrong-example"].map((name) => expect.stringMatching(`^${name}\\.ts: .*string`) as string),
  );
});

test("JavaScript and JSON on the pages can be parsed", () => {
  for (const { code } of inLanguage("js"))
    expect(ts.transpileModule(code, { reportDiagnostics: true }).diagnostics).toEqual([]);
  for (const { code } of inLanguage("json")) expect(() => JSON.parse(code) as unknown).not.toThrow();
});

describe("the commands on the pages", () => {
  /** The scripts of the package that a page is about: an example's, or this repository's. */
  const scriptsOf = (page: string): Record<string, string> => {
    const own = join(root, dirname(page), "package.json");
    const file = existsSync(own) ? own : join(root, "package.json");
    return (JSON.parse(readFileSync(file, "utf8")) as { scripts?: Record<string, string> }).scripts ?? {};
  };
  const helps = new Map<string, { stdout: string; stderr: string }>();
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const { ensureEngine } = await import("../../tools/engine/install.mjs");
    const { enginePath } = await import("../../tools/engine/env.mjs");
    const path = enginePath(await ensureEngine({ log: console.warn }), process.env.PATH);
    env = { ...process.env, PATH: path, PULUMI_SKIP_UPDATE_CHECK: "true" };
  });

  const help = ([program = "", ...path]: readonly string[]): string => {
    const key = [program, ...path].join(" ");
    const options = { cwd: root, env, encoding: "utf8" } as const;
    const printed = helps.get(key) ?? spawnSync(program, [...path, "--help"], options);
    helps.set(key, printed);
    return printed.stdout + printed.stderr;
  };

  /** What is wrong with a command, in as far as that can be told without running it. */
  function problemOf([command = "", ...args]: string[], page: string): string | undefined {
    if (["[", "cd", "curl", "echo", "exit", "export"].includes(command) || /^\w+=/.test(command))
      return undefined;
    const line = [command, ...args].join(" ");
    // Installed by the line before it.
    if (line === "npx tsx --test monitors.test.ts") return undefined;
    const [first = "", ...words] = args.filter((arg) => !arg.startsWith("-"));
    if (command === "npm") {
      const [script = ""] = first === "run" ? words : [first];
      const isKnown = ["audit", "install"].includes(first) || script in scriptsOf(page);
      return isKnown ? undefined : `package.json has no script ${script}`;
    }
    // By its name, or by the path of a clone.
    if (command === "npx" && /^(pulumi-uptime|\.\.\/path\/to\/clone)$/.test(first))
      return missingIn(["node", "dist/provider/cli/main.js"], args.slice(args.indexOf(first) + 1));
    if (command === "node") {
      // A page about the recipes names their script as users have copied it.
      const file = [dirname(page), "examples/ci"].map((folder) => join(root, folder, first)).find(existsSync);
      if (file === undefined) return first;
      const text = readFileSync(file, "utf8");
      return args.find((arg) => arg.startsWith("--") && !text.includes(arg));
    }
    if (command === "npx") {
      const files = [join("node_modules", ".bin", first), ...words];
      return files.find((file) => !existsSync(join(root, file)));
    }
    // Its flags are a resource's own, and test/engine/native.test.ts runs it.
    if (command === "pulumi" && first === "do") return undefined;
    return command === "pulumi" ? missingIn([command], args) : `${line} is not known here`;
  }

  /** The subcommand or flag that the help of a program does not name. */
  function missingIn(program: readonly string[], args: readonly string[]): string | undefined {
    const words = args.filter((arg) => /^\w/.test(arg));
    const path = [...program];
    for (const word of words) {
      if (!new RegExp(`^  ${word}\\s`, "m").test(help(path))) break;
      path.push(word);
    }
    if (path.length === program.length) return words[0] ?? "a subcommand";
    const flags = args.filter((arg) => /^--?[a-z]/i.test(arg)).map((flag) => flag.replace(/=.*/s, ""));
    return flags.find((flag) => !new RegExp(`(^|[\\s,[])${flag}(?![\\w-])`, "m").test(help(path)));
  }

  test("exist, with their flags", () => {
    const all = inLanguage("sh").flatMap((block) =>
      commandsIn(block.code).map((words) => ({ page: block.page, place: at(block), words })),
    );
    expect(all.length).toBeGreaterThan(10);
    const problems = all.map(({ page, place, words }) => ({ place, problem: problemOf(words, page) }));
    expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });
});

const commandsOn = (page: string): string[][] =>
  inLanguage("sh").flatMap((block) => (block.page === page ? commandsIn(block.code) : []));

/** Sends what curl would, which a machine need not have, with some of its text replaced. */
function sendAsCurl(words: readonly string[], replacements: Record<string, string>): Promise<Response> {
  const filled = words.map((word) =>
    Object.entries(replacements).reduce(
      (text, [written, value]) => text.replaceAll(written, value),
      word.replace(/^(["'])(.*)\1$/, "$2"),
    ),
  );
  const after = (flag: string) => filled.filter((_, index) => filled[index - 1] === flag);
  const [method = "GET"] = after("-X");
  const data = after("-d");
  return fetch(filled.find((word) => word.startsWith("http")) ?? "", {
    method,
    headers: after("-H").map((header) => header.split(": ") as [string, string]),
    body: data.length > 0 ? new URLSearchParams(data.join("&")) : null,
  });
}

test("the first request in the README reads a list", async () => {
  const emulator = await startEmulator();
  // The key is no argument of curl's, because the list of processes shows those.
  const [[, header = ""] = [], words = []] = commandsOn("README.md");
  expect(words[0]).toBe("curl");
  expect(words.join(" ")).not.toContain("$UPTIME_API_KEY");
  const variables = { $UPTIME_BASE_URL: emulator.url, $UPTIME_API_KEY: emulator.apiKey };
  const answer = await sendAsCurl(words, { "@-": header.replaceAll('"', ""), ...variables });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ data: [] });
});

test("the request in docs/testing.md edits a monitor of the emulator", async () => {
  const emulator = await startEmulator();
  emulator.monitors.add({ name: "Home", url: "https://www.shop.example/", interval: 300 });
  const words = commandsOn("docs/testing.md").find(([command]) => command === "curl") ?? [];
  const { status } = await sendAsCurl(words, { "http://127.0.0.1:8080": emulator.url });
  expect(status).toBe(200);
  expect(emulator.monitors.all()).toMatchObject([{ id: 1, name: "Home", interval: 3600 }]);
});

test("the unit test in docs/testing.md passes for its program and fails for another", () => {
  const folder = newFolder();
  const files = inLanguage("ts").filter(({ page, file }) => page === "docs/testing.md" && file);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NODE_|JEST_|TS_)/.test(name)),
  );
  const compilerOptions = { module: ts.ModuleKind.CommonJS };
  const passes = (change: (code: string) => string): boolean => {
    for (const { file = "", code } of files) {
      const { outputText } = ts.transpileModule(change(code), { compilerOptions });
      writeFileSync(join(folder, file.replace(/\.ts$/, ".js")), outputText);
    }
    const options = { cwd: folder, env, encoding: "utf8" } as const;
    const { stdout, status } = spawnSync(process.execPath, ["--test", folder], options);
    expect(stdout).toMatch(/(# |ℹ )tests 1\b/);
    return status === 0;
  };
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  expect(passes((code) => code)).toBe(true);
  expect(passes((code) => code.replace("/health`,", "/wrong`,"))).toBe(false);
});

test("the block in CONTRIBUTING.md is all that a new field needs", async () => {
  const block = inLanguage("ts").find(partOfSource);
  const file = block?.file;
  if (!block || file === undefined) throw new Error("CONTRIBUTING.md does not show how to add a field.");
  const source = readFileSync(join(root, file), "utf8");
  const changed = source.replace(/Fields = \{\n/, (start) => start + block.code);
  expect(changed).not.toBe(source);
  const key = /^(\w+): /m.exec(block.code)?.[1] ?? "";
  const program = (value: string) =>
    `import { Monitor } from "../provider";
    new Monitor("a", { name: "a", url: "https://a.example", interval: 60, ${key}: ${value} }).${key}.apply((n: number | undefined) => n);`;
  const others = { "examples/right.ts": program("30"), "examples/wrong.ts": program("31") };
  const problems = editor.problems({ [file]: changed, ...others });
  expect(problems).toEqual([expect.stringMatching(/^wrong\.ts: Type '31' is not assignable/)]);
  const { sentencesOf } = await import("../../tools/docs.mjs");
  expect(sentencesOf(changed).get(key)).toContain("Default 10.");
});

test("links between the pages lead to pages and headings", () => {
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return [...text.matchAll(/\]\((?!https?:)([^)#\s]+)?(#[^)\s]+)?\)/g)]
      .map(([, path = basename(page), anchor = ""]) => ({ path: join(dirname(page), path), anchor }))
      .filter(({ path, anchor }) => {
        if (!existsSync(join(root, path))) return true;
        return anchor !== "" && !anchorsOf(readFileSync(join(root, path), "utf8")).includes(anchor);
      })
      .map(({ path, anchor }) => `${page}: ${path}${anchor}`);
  });
  expect(broken).toEqual([]);
});

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
