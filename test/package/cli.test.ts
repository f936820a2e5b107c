import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import ts from "typescript";
import { parse } from "yaml";

import { newFolder } from "../support/folder";
import { readProject } from "../../provider/cli/shared/project";
import { shellWord } from "../../provider/cli/shared/quoting";
import { scaffold } from "../../provider/cli/shared/scaffold";
import type { Emulator } from "../../provider/emulator";
import { anyCharacter } from "../support/arbitraries";
import { answer, startEmulator } from "../support/emulator";
import { cli, declaredBy } from "../support/cli";
import type { Outcome } from "../support/cli";
import { sample } from "../support/size";

const root = join(__dirname, "..", "..");
const { version, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  peerDependencies: object;
};
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const run = (...args: string[]): Promise<Outcome> => cli({ url: "", apiKey: "" }, folder, args);
const text = (...path: string[]): string => readFileSync(join(folder, ...path), "utf8");
/** Any string that a path, a name or an id may be; all of Unicode, and what shells and programs treat in their own way. */
const anything = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(...Array.from("'\"`\\$(){};|&<>!#*?~\n\r\u2028 -/=,:.a1")),
    maxLength: 40,
  }),
);

describe("arguments", () => {
  test('an unknown option is reported before a missing one, with "did you mean"', async () => {
    const misspelt = await run("export", "--jsn");
    expect(misspelt).toMatchObject({ code: 1, stdout: "" });
    expect(misspelt.stderr).toMatch(/^error: unknown option '--jsn'\n\(Did you mean --json\?\)/);
    expect((await run("export")).stderr).toMatch(/^error: required option '--out <dir>' not specified/);
    expect((await run("exprt")).stderr).toMatch(/unknown command 'exprt'\n\(Did you mean export\?\)/);
  });

  test("help lists every command, and each command has its own", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Exit codes:\s+0 [^]*1 [^]*2 /);
    for (const name of ["init", "export", "drift", "comment", "doctor", "emulator"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
      if (name !== "emulator")
        expect((await run(name, "--help")).stdout).toContain(`Usage: pulumi-uptime ${name}`);
    }
    expect((await run("help", "drift")).stdout).toContain("--unmanaged");
  });
});

describe("init", () => {
  test("writes a project with one monitor that compiles, and says what to do next", async () => {
    const { code, stdout, stderr } = await run("init", "my site's checks");
    expect([code, stderr]).toEqual([0, ""]);
    const project = "my site's checks";
    // The package itself, because another clone of the project does not have this checkout.
    const tarball = `pulumi-uptime-${version}.tgz`;
    expect(readdirSync(join(folder, project)).sort()).toEqual(
      [".gitignore", "Pulumi.yaml", "index.ts", "package.json", tarball, "tsconfig.json"].sort(),
    );
    expect(parse(text(project, "Pulumi.yaml"))).toMatchObject({
      name: "my-site-s-checks",
      runtime: "nodejs",
    });
    expect(text(project, "index.ts")).toContain("\nexport const homeId = home.id;\n");
    expect(text(project, ".gitignore")).toBe("node_modules/\nsecrets.json\nstate.json\n");
    expect(JSON.parse(text(project, "package.json"))).toMatchObject({
      scripts: { up: "pulumi up --refresh --run-program", destroy: "pulumi destroy --run-program" },
      dependencies: { ...peerDependencies, "pulumi-uptime": `file:${tarball}` },
      devDependencies: {
        "@types/node": expect.any(String) as string,
        typescript: expect.any(String) as string,
      },
    });
    const packed = execFileSync("tar", ["-tzf", join(folder, project, tarball)], { encoding: "utf8" });
    expect(packed.split("\n")).toEqual(
      expect.arrayContaining(["package/package.json", "package/dist/provider/cli/main.js"]),
    );
    expect(stdout).toContain("  cd 'my site'\\''s checks'\n  npm install\n");
    expect(stdout).toContain(
      "  pulumi config set --secret uptime:apiKey\n  npx --no pulumi-uptime doctor\n  pulumi preview\n  pulumi up\n",
    );

    const before = readdirSync(join(folder, project)).map((file) => text(project, file));
    expect(await run("init", project)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("holds a Pulumi project already") as string,
    });
    expect(readdirSync(join(folder, project)).map((file) => text(project, file))).toEqual(before);
  });

  test("overwrites nothing", async () => {
    writeFileSync(join(folder, "package.json"), "{}");
    const { code, stderr } = await run("init", ".");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("package.json exists already, and is not overwritten"),
    ]);
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });

  test.each(["2024", "true", "null", "1e3", "2024-01-31", "yes", "0x1f", "off"])(
    "a project in the folder %s has a name that YAML reads as a string",
    (name) => {
      const yaml = scaffold(readProject(join(folder, name)), "").get("Pulumi.yaml") ?? "";
      for (const version of ["1.1", "1.2"] as const) expect(parse(yaml, { version })).toMatchObject({ name });
      // Go's reader takes more for numbers than either version allows.
      expect(yaml).toMatch(/^name: "/);
    },
  );

  test("does not name a project uptime, where the provider could not tell its settings from the project's", () => {
    expect(readProject(join(folder, "uptime")).name).toBe("monitoring");
  });
});

test("a shell reads any quoted string as one word", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        anything.filter((word) => !word.includes("\0")),
        { minLength: 1 },
      ),
      (words) => {
        const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
        const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
        const read = stdout.split("\0").slice(0, -1);
        expect(read).toEqual(words.map((word) => (word.startsWith("-") ? `./${word}` : word).toWellFormed()));
        return Promise.resolve();
      },
    ),
    { numRuns: sample(10, 100, 2000) },
  );
});

describe("an export of records with any content", () => {
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await startEmulator({ dialect: { ids: "string" } });
  });

  const newProject = (): void => {
    rmSync(join(folder, "out"), { recursive: true, force: true });
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "out", "Pulumi.yaml"), "name: mine # a comment\nruntime: nodejs\n");
  };
  beforeEach(newProject);
  const exported = (...args: string[]): Promise<Outcome> =>
    cli(emulator, folder, ["export", "--out", "out", "--max-retries", "0", ...args]);
  /** The API has one monitor, with whatever values. */
  const onlyMonitor = (record: object): void => {
    emulator.fault = ({ path }) =>
      answer(200, { data: path.endsWith("/domains") ? [] : path.endsWith("/monitors") ? [record] : record });
  };
  const isNewMonitor = (entry: ts.ObjectLiteralElementLike): boolean =>
    ts.isPropertyAssignment(entry) &&
    ts.isNewExpression(entry.initializer) &&
    entry.initializer.expression.getText() === "Monitor";
  /** Whether a statement is an import, the configuration, or an object of new monitors. */
  function isDeclaration(statement: ts.Statement): boolean {
    if (ts.isImportDeclaration(statement)) return true;
    if (!ts.isVariableStatement(statement)) return false;
    return statement.declarationList.declarations.every(({ name, initializer }) =>
      initializer && ts.isObjectLiteralExpression(initializer)
        ? initializer.properties.every(isNewMonitor)
        : name.getText() === "config" && initializer?.getText() === "new pulumi.Config()",
    );
  }

  test("has nothing but declarations", async () => {
    const seen = { active: 0, comments: 0 };
    await fc.assert(
      fc.asyncProperty(
        anything,
        anything,
        anything,
        anything,
        fc.boolean(),
        async (id, anyName, url, anyHeader, isValid) => {
          // What the provider would refuse becomes a comment, so half of the records are such that it does not.
          const name = isValid ? `[${anyName}]` : anyName;
          onlyMonitor({
            id,
            name,
            url: `https://x.example/${isValid ? encodeURIComponent(url.toWellFormed()) : url}`,
            interval: isValid ? 60 : 45,
            request_headers: [{ key: isValid ? "X-Token" : anyHeader, value: "v4lue" }],
          });
          newProject();
          const { code, stdout, stderr } = await exported();
          // An id that cannot be one is an error of its own.
          expect(`${stdout}${stderr}`).not.toMatch(/(?!\n)[\p{Cc}\u2028\u2029]/u);
          if (code !== 0 || !existsSync(join(folder, "out", "monitors.ts"))) return;
          const source = text("out", "monitors.ts");
          const { statements } = ts.createSourceFile("x.ts", source, ts.ScriptTarget.ES2022, true);
          expect(statements.every(isDeclaration)).toBe(true);
          const [declared] = declaredBy(join(folder, "out"));
          seen[declared ? "active" : "comments"]++;
          if (declared) expect([declared.args.name, declared.options.import]).toEqual([name, id]);
          // Known from then on.
          expect((await exported()).stdout).toMatch(/^Nothing is new: 1 record known already/);
          // A fence of the page ends only where the page ends it.
          const page = text("out", "NEXT-STEPS.md").split("\n");
          expect(page.filter((line) => line.startsWith("```")).length % 2).toBe(0);
        },
      ),
      { numRuns: sample(3, 25, 500) },
    );
    expect(seen.active).toBeGreaterThan(0);
    expect(seen.comments).toBeGreaterThan(0);
  });

  test("keeps an id that looks like code in strings and comments", async () => {
    const id = "5\nrequire('node:fs').writeFileSync('pwned','')//";
    onlyMonitor({ id, name: "x", url: "https://x.example/", interval: 45 });
    const { code } = await exported();
    const file = join(folder, "out", "monitors.ts");
    if (code !== 0) expect(existsSync(file)).toBe(false);
    else
      for (const line of readFileSync(file, "utf8").split("\n"))
        expect(line).toMatch(/^( *\/\/ .*|export const monitors = \{|\};|)$/);
  });

  test("prints commands that name its files, in any folder", async () => {
    emulator.monitors.add({
      name: "Shop",
      url: "https://x.example/",
      interval: 60,
      request_headers: [{ key: "A", value: "1" }],
    });
    mkdirSync(join(folder, "my secrets; rm -rf '$HOME'"));
    const secrets = "my secrets; rm -rf '$HOME'/values.json";
    expect(await exported("--secrets", secrets)).toMatchObject({ code: 0 });
    const command =
      text("out", "NEXT-STEPS.md")
        .split("\n")
        .find((line) => line.startsWith("rm ")) ?? "";
    expect(command).toBe("rm '../my secrets; rm -rf '\\''$HOME'\\''/values.json'");
    execFileSync("sh", ["-c", command], { cwd: join(folder, "out") });
    expect(existsSync(join(folder, secrets))).toBe(false);
  });

  test("gives each secret a key of its own, also beside those of the project", async () => {
    const header = (key: string, value: string) => ({ request_headers: [{ key, value }] });
    const shop = { url: "https://x.example/", interval: 60 };
    emulator.monitors.add({
      ...shop,
      name: "Shop",
      request_auth_username: "bob",
      request_headers: [
        { key: "Password", value: "v1" },
        { key: "X-Token", value: "v2" },
      ],
    });
    emulator.monitors.add({ ...shop, name: "Shop X", ...header("Token", "v3") });
    emulator.monitors.add({ ...shop, name: "Set", ...header("Key", "v4") });
    emulator.monitors.add({ ...shop, name: "Read", ...header("Key", "v5") });
    writeFileSync(join(folder, "out", "Pulumi.prod.yaml"), "config:\n  mine:set-key: other\n");
    writeFileSync(join(folder, "out", "index.ts"), 'export const key = new Config().require("read-key");\n');
    expect(await exported("--secrets", "secrets.json")).toMatchObject({ code: 0 });
    const values = JSON.parse(text("secrets.json")) as Record<string, string>;
    expect(Object.values(values).sort()).toEqual(["v1", "v2", "v3", "v4", "v5"]);
    const keys = [...text("out", "monitors.ts").matchAll(/Secret\("(.*)"\)/g)].map(([, key]) => key);
    expect(new Set(keys).size).toBe(6);
    expect(keys).not.toContain("set-key");
    expect(keys).not.toContain("read-key");
  });
});
