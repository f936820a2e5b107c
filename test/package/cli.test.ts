import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";

import fc from "fast-check";
import ts from "typescript";
import { parse } from "yaml";

import { runCommand } from "../../provider/cli/commands";
import { readProject } from "../../provider/cli/shared/project";
import { shellWord } from "../../provider/cli/shared/quoting";
import { scaffold } from "../../provider/cli/shared/scaffold";
import { anyCharacter } from "../support/arbitraries";
import { cli, declaredBy, emulator, errorOf, folder, type Outcome, unset, withCli } from "../support/cli";
import { answer } from "../support/emulator";
import { sample } from "../support/size";

const root = join(__dirname, "..", "..");
const { version, peerDependencies } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  peerDependencies: object;
};
withCli({ dialect: { ids: "string" } });

const run = (...args: string[]): Promise<Outcome> => cli(unset, folder, args);
const text = (...path: string[]): string => fs.readFileSync(join(folder, ...path), "utf8");
const write = (path: string, content: string): void => {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true });
  fs.writeFileSync(join(folder, path), content);
};
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

test("an unexpected error is printed with its stack, and without the API key that it may quote", async () => {
  let stderr = "";
  const code = await runCommand(["doctor"], {
    stdout: {
      write: () => {
        throw new TypeError(`cannot print ${emulator.apiKey}`);
      },
    },
    stderr: { write: (chunk: string) => (stderr += chunk) },
    cwd: folder,
    env: { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey },
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^\(the server repeats a secret\)\nTypeError\n +at .*cli\.test\.ts/);
  expect(stderr).toContain("This is a bug in pulumi-uptime; please report it.\n");
  expect(stderr).not.toContain(emulator.apiKey);
});

describe("init", () => {
  test("writes a project with one monitor that compiles, and says what to do next", async () => {
    const { code, stdout, stderr } = await run("init", "my site's checks");
    expect([code, stderr]).toEqual([0, ""]);
    const project = "my site's checks";
    // The package itself, because another clone of the project does not have this checkout.
    const tarball = `pulumi-uptime-${version}.tgz`;
    const files = [".gitignore", "Pulumi.yaml", "index.ts", "package.json", tarball, "tsconfig.json"];
    expect(fs.readdirSync(join(folder, project)).sort()).toEqual(files);
    const described = { name: "my-site-s-checks", runtime: "nodejs" };
    expect(parse(text(project, "Pulumi.yaml"))).toMatchObject(described);
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
    for (const file of ["package.json", "dist/provider/cli/main.js"])
      expect(packed).toContain(`package/${file}\n`);
    expect(stdout).toContain("  cd 'my site'\\''s checks'\n  npm install\n");
    expect(stdout).toContain(
      "  pulumi config set --secret uptime:apiKey\n  npx --no pulumi-uptime doctor\n  pulumi preview\n  pulumi up\n",
    );

    const before = files.map((file) => text(project, file));
    expect(await errorOf(run("init", project))).toContain("holds a Pulumi project already");
    expect(files.map((file) => text(project, file))).toEqual(before);
  });

  test("overwrites nothing", async () => {
    write("package.json", "{}");
    expect(await errorOf(run("init", "."))).toContain("package.json exists already, and is not overwritten");
    expect(fs.readdirSync(folder)).toEqual(["package.json"]);
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

test("a shell reads any quoted string as one word", () => {
  const word = anything.filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
      const read = stdout.split("\0").slice(0, -1);
      expect(read).toEqual(words.map((word) => (word.startsWith("-") ? `./${word}` : word).toWellFormed()));
    }),
    { numRuns: sample(10, 100, 2000) },
  );
});

describe("an export of records with any content", () => {
  const newProject = (): void => {
    fs.rmSync(join(folder, "out"), { recursive: true, force: true });
    write("out/Pulumi.yaml", "name: mine # a comment\nruntime: nodejs\n");
  };
  beforeEach(newProject);
  const exported = (...args: string[]): Promise<Outcome> =>
    cli(emulator, folder, ["export", "--out", "out", "--max-retries", "0", ...args]);
  /** The API has one monitor, with whatever values. */
  const onlyMonitor = (record: object): void => {
    emulator.fault = ({ path }) =>
      answer(200, { data: path.endsWith("/domains") ? [] : path.endsWith("/monitors") ? [record] : record });
  };
  const addMonitor = (name: string, request_headers: readonly object[], more: object = {}): unknown =>
    emulator.monitors.add({ name, url: "https://x.example/", interval: 60, request_headers, ...more });
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
          if (code !== 0 || !fs.existsSync(join(folder, "out", "monitors.ts"))) return;
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

  test("is refused if an id looks like code", async () => {
    const id = "5\nrequire('node:fs').writeFileSync('pwned','')//";
    onlyMonitor({ id, name: "x", url: "https://x.example/", interval: 45 });
    expect(await errorOf(exported())).toMatch(/ is not the id of a monitor\.\n$/);
    expect(fs.existsSync(join(folder, "out", "monitors.ts"))).toBe(false);
  });

  test("prints commands that name its files, in any folder", async () => {
    addMonitor("Shop", [{ key: "A", value: "1" }]);
    fs.mkdirSync(join(folder, "my secrets; rm -rf '$HOME'"));
    const secrets = "my secrets; rm -rf '$HOME'/values.json";
    expect(await exported("--secrets", secrets)).toMatchObject({ code: 0 });
    const [command = ""] = /^rm .*$/m.exec(text("out", "NEXT-STEPS.md")) ?? [];
    expect(command).toBe("rm '../my secrets; rm -rf '\\''$HOME'\\''/values.json'");
    execFileSync("sh", ["-c", command], { cwd: join(folder, "out") });
    expect(fs.existsSync(join(folder, secrets))).toBe(false);
  });

  test("gives each secret a key of its own, also beside those of the project", async () => {
    const headers = [
      { key: "Password", value: "v1" },
      { key: "X-Token", value: "v2" },
    ];
    addMonitor("Shop", headers, { request_auth_username: "bob" });
    addMonitor("Shop X", [{ key: "Token", value: "v3" }]);
    addMonitor("Set", [{ key: "Key", value: "v4" }]);
    addMonitor("Read", [{ key: "Key", value: "v5" }]);
    write("out/Pulumi.prod.yaml", "config:\n  mine:set-key: other\n");
    write("out/index.ts", 'export const key = new Config().require("read-key");\n');
    expect(await exported("--secrets", "secrets.json")).toMatchObject({ code: 0 });
    const values = JSON.parse(text("secrets.json")) as Record<string, string>;
    expect(Object.values(values).sort()).toEqual(["v1", "v2", "v3", "v4", "v5"]);
    const keys = [...text("out", "monitors.ts").matchAll(/Secret\("(.*)"\)/g)].map(([, key]) => key);
    expect(new Set(keys).size).toBe(6);
    expect(keys).not.toContain("set-key");
    expect(keys).not.toContain("read-key");
  });
});
