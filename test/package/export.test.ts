import { execFileSync, execSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import ts from "typescript";

import { dependencySpec } from "../../provider/cli/shared/scaffold";
import { shellWord } from "../../provider/cli/shared/quoting";
import { domain } from "../../provider/definitions/domain";
import { monitor } from "../../provider/definitions/monitor";
import { type Dialect, dialectChoices } from "../../provider/emulator";
import { anyCharacter } from "../support/arbitraries";
import { emulator, failed, folder, withStack } from "../support/cli";
import { answer } from "../support/emulator";
import {
  addMonitor,
  declaredResources,
  exported,
  exportedWith,
  files,
  newProject,
  out,
  text,
  withExports,
  write,
} from "../support/exports";
import { addNasty, nastyMonitor } from "../support/nasty";
import { expected, held, snake } from "../support/oracle";
import { assertProperty } from "../support/property";
import { sample } from "../support/size";

const root = join(__dirname, "..", "..");
const { version } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const definitions = { monitor, domain };
withExports();

/** What a tool finds wrong in the exported project. */
function problems(script: string, options: string): string {
  const args = [join(root, "node_modules", script), ...options.split(" ")];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: out(), encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

describe("the exported program", () => {
  test("comes with a project that compiles and is linted and formatted, and with the package, if the folder has none", async () => {
    addNasty(emulator, 60);
    fs.rmSync(out(), { recursive: true });
    const { code, stdout } = await exported("--only", "monitors");
    expect(code).toBe(0);
    const tarball = `pulumi-uptime-${version}.tgz`;
    const scaffold = [".gitignore", "Pulumi.yaml", "index.ts", "package.json", "tsconfig.json"];
    const written = [...scaffold, "NEXT-STEPS.md", "monitors.ts", tarball].sort();
    expect(files()).toEqual(written);
    for (const file of written) expect(stdout).toContain(`\n  ${file}\n`);
    const { dependencies } = JSON.parse(text("package.json")) as { dependencies: Record<string, string> };
    expect(dependencies["pulumi-uptime"]).toBe(`file:${tarball}`);
    for (const file of written) if (file !== tarball) expect(text(file)).not.toContain(root);

    fs.symlinkSync(join(root, "node_modules"), out("node_modules"));
    expect((await exported("--only", "domains")).stdout).toContain("domains.ts");
    write("index.ts", `${text("index.ts")}import "./domains";\n`);
    for (const [compiler, major] of Object.entries({ typescript: "5", typescript6: "6" })) {
      const manifest = fs.readFileSync(join(root, "node_modules", compiler, "package.json"), "utf8");
      expect(manifest).toContain(`"version": "${major}.`);
      expect(problems(`${compiler}/lib/tsc.js`, "--noUnusedLocals --exactOptionalPropertyTypes")).toBe("");
    }
    expect(problems("eslint/bin/eslint.js", `--config ${join(root, "eslint.config.mjs")} .`)).toBe("");
    // One property per line, however long it is.
    const anyWidth = "--no-config --trailing-comma all --print-width 100000";
    expect(problems("prettier/bin/prettier.cjs", `${anyWidth} --check .`)).toBe("");
  });

  test.each([
    ["a registry", undefined, `^${version}`],
    ["a registry, by an older range", "~0.1.0", `^${version}`],
    ["a file", "file:../clone", `file:pulumi-uptime-${version}.tgz`],
  ])("depends on the package from the same source as this one: %s", (_, source, wanted) => {
    const installed = join(folder, "node_modules", "pulumi-uptime");
    fs.mkdirSync(join(installed, "dist", "provider"), { recursive: true });
    fs.copyFileSync(join(root, "package.json"), join(installed, "package.json"));
    const manifest = JSON.stringify({ dependencies: { "pulumi-uptime": source } });
    if (source !== undefined) fs.writeFileSync(join(folder, "package.json"), manifest);
    expect(dependencySpec(join(installed, "dist", "provider"))).toBe(wanted);
  });

  test("declares every value except defaults", async () => {
    addMonitor("Home page", { url: "https://home.example/" });
    addMonitor("Full", {
      alert_condition: "url_text",
      alert_text_lookup: 'a "word"',
      alert_channel_ids: [2, 1],
      request_method: "HEAD",
      request_headers: [{ key: "X-Token", value: "s3cret" }],
      request_auth_username: "bob",
      request_auth_password: "s3cret",
      cache_buster: 1,
      ssl_alert_days: 14,
      domain_alert_days: 0,
      maintenance_start_at: "2030-01-31T22:00:00",
      pause: true,
    });
    emulator.dialect = { password: "plain" };
    await exported();
    expect(text("monitors.ts"))
      .toBe(`// Written by \`pulumi-uptime export\` from the records in the API. You can edit it.
import * as pulumi from "@pulumi/pulumi";
import { Monitor } from "pulumi-uptime";

const config = new pulumi.Config();
const secret = (key: string): pulumi.Output<string> => {
  const value = config.getSecret(key);
  if (!value) throw new Error(\`Run \\\`pulumi config set --secret \${key}\\\`: the program needs it.\`);
  return value;
};
// Pulumi deletes none of these records. To let it, run \`pulumi config set protect false\` and then \`pulumi up\`.
const protect = config.getBoolean("protect") ?? true;

export const monitors = {
  "home-page": new Monitor(
    "home-page",
    {
      name: "Home page",
      url: "https://home.example/",
      interval: 300,
      pause: false,
    },
    { import: "1", protect },
  ),

  full: new Monitor(
    "full",
    {
      name: "Full",
      url: "https://Full.example/",
      interval: 300,
      alertCondition: "url_text",
      alertTextLookup: 'a "word"',
      alertChannelIds: [2, 1],
      requestMethod: "HEAD",
      requestHeaders: [
        {
          key: "X-Token",
          value: secret("full-x-token"),
        },
      ],
      requestAuthUsername: "bob",
      requestAuthPassword: config.getSecret("full-password"),
      cacheBuster: true,
      sslAlertDays: 14,
      domainAlertDays: 0,
      maintenanceStartAt: "2030-01-31T22:00:00",
      pause: true,
    },
    { import: "2", protect },
  ),
};
`);
  });

  test("loses the option import by the command in NEXT-STEPS.md", async () => {
    addMonitor("Shop");
    emulator.domains.add({ name: "shop.example" });
    await exported();
    const [command = ""] = /^node -e .*$/m.exec(text("NEXT-STEPS.md")) ?? [];
    execSync(command, { cwd: out() });
    for (const name of ["monitors.ts", "domains.ts"]) expect(text(name)).toMatch(/^ {4}\{ protect \},$/m);
  });

  test("leaves out a record that the provider would refuse, and says why", async () => {
    addMonitor("Shop");
    addMonitor("Odd", { interval: 45, alert_text_lookup: " blank", request_method: "get*/" });
    addMonitor("Shapeless", { ssl_alert_days: { often: true } });
    addMonitor("Two\u2028lines\n", { request_headers: [{ key: "A", value: "1" }] });
    const { code, stdout } = await exported();
    expect(code).toBe(0);
    for (const reason of [
      "  Monitor 2 (odd): interval must be one of 60, 180, 300, 600, 900, 1800, 3600, not 45; the nearest is 60; alertTextLookup must not " +
        'begin or end with spaces, not " blank"; requestMethod must be one of "GET"',
      "  Monitor 3 (shapeless): sslAlertDays cannot be read. The API shows ssl_alert_days as",
      "  Monitor 4 (two-lines): name must not begin or end with spaces",
    ])
      expect(stdout).toContain(reason);
    expect(declaredResources().map(({ name }) => name)).toEqual(["shop"]);
    // Otherwise the next export would declare those again that state does not have yet.
    expect(stdout).toContain("export again once the stack's state has the others:\n");
  });

  test("reads a URL with a password from the configuration, as a secret, and says so", async () => {
    const url = "https://user:s3cret-pw@cred.example/";
    addMonitor("Cred", { url });
    const { stdout } = await exported("--secrets", "secrets.json");
    expect(stdout).toMatch(/^Wrote 1 resource to out:\n/);
    expect(stdout).toContain(
      "A URL of cred has a password. The program reads it from the stack's configuration, as a secret.",
    );
    expect(text("monitors.ts")).toContain('url: secret("cred-url"),');
    for (const place of [text("monitors.ts"), stdout, text("NEXT-STEPS.md")])
      expect(place).not.toContain("s3cret-pw");
    expect(fs.readFileSync(join(folder, "secrets.json"), "utf8")).toContain(url);
    expect(text("NEXT-STEPS.md")).toContain("pulumi config set --secret cred-url");
    newProject({ "Pulumi.yaml": "name: mine\nruntime: yaml\n" });
    const yaml = await exported("--language", "yaml");
    expect(yaml.stdout).toMatch(/^Wrote 1 resource to out:\n/);
    expect(yaml.stdout).toContain("A URL of cred has a password. Pulumi writes it in plain text");
    expect(text("NEXT-STEPS.md")).toContain(
      "The generated code has a password, in a URL of `cred`. After this `pulumi up`, set ",
    );
  });

  test.each([
    "https://joe:s3cret-pw@a.example/x",
    "ftp://joe:s3cret-pw@a.example/",
    "https://joe:s3cret-pw@a.example:99999/",
    "https://joe:s3cret/pw@a.example/",
    "https:/joe:s3cret-pw@a.example/",
  ])("shows the password of %j neither in a resource's name nor in a reason", async (url) => {
    addMonitor("\u76e3\u8996", { url });
    for (const [runtime, ...args] of [["nodejs"], ["yaml", "--language", "yaml"], ["nodejs", "--json"]]) {
      newProject({ "Pulumi.yaml": `name: mine\nruntime: ${runtime}\n` });
      const { code, stdout } = await exported(...args);
      expect(code).toBe(0);
      const shown = [stdout, ...files().map((file) => text(file))].join();
      expect(shown).toMatch(/a-example|Monitor 1\b/);
      expect(shown).not.toMatch(/s3cret|joe/);
    }
  });

  test("has no name that the code which Pulumi generates takes for something else", async () => {
    for (const name of ["0x1F", "404", "24-shop", "True", "false", "null", "Uptime", "Range"])
      addMonitor(name);
    newProject({ "Pulumi.yaml": "name: mine\nruntime: yaml\n" });
    await exported("--language", "yaml");
    const { resources } = JSON.parse(text("uptime-import.json")) as { resources: { name: string }[] };
    expect(resources.map(({ name }) => name)).toEqual([
      "monitor-0x1f",
      "monitor-404",
      "monitor-24-shop",
      "true-4",
      "false-5",
      "null-6",
      "uptime-7",
      "range-8",
    ]);
  });

  test("gives the reason for which a header would be refused, without its value", async () => {
    addMonitor("Blank", { request_headers: [{ key: "A", value: "s3cret-value " }] });
    addMonitor("Short", { request_headers: [{ key: "E", value: "x\ny" }] });
    const { stdout } = await exported();
    expect(stdout).toContain("requestHeaders[0].value must not begin or end with spaces");
    expect(stdout).toContain("requestHeaders[0].value must be one line");
    expect(stdout).not.toMatch(/s3cret|x\\ny/);
  });

  test("takes a name from a name as it is, and from a URL its host and path", async () => {
    addMonitor("Payments // checkout", { url: "https://p.example/" });
    addMonitor("\u76e3\u8996", { url: "https://h.example/x//y?z=1" });
    await exported();
    const names = declaredResources().map(({ name }) => name);
    expect(names.sort()).toEqual(["h-example-x-y", "payments-checkout"]);
  });

  test("is written whole or not at all", async () => {
    addMonitor("Shop", { request_headers: [{ key: "A", value: "s3cret" }] });
    fs.rmSync(out(), { recursive: true });
    fs.writeFileSync(join(folder, "file"), "");
    const { code, stderr } = await exported("--secrets", "file/secrets.json");
    expect([code, stderr]).toEqual([1, expect.stringContaining("secrets.json cannot be written") as string]);
    expect(fs.existsSync(out())).toBe(false);
    const { PATH } = process.env;
    process.env.PATH = folder;
    try {
      const failed = await exported("--secrets", "secrets.json");
      expect([failed.code, failed.stderr]).toEqual([
        1,
        expect.stringContaining("cannot be packed") as string,
      ]);
    } finally {
      process.env.PATH = PATH;
    }
    expect(files()).toEqual([]);
    expect(fs.existsSync(join(folder, "secrets.json"))).toBe(false);
    expect((await exported("--secrets", "secrets.json")).code).toBe(0);
  });

  const misplaced = `https://${"p".repeat(80)}.example/?t=emulator-key`;
  test.each<[string, "domains" | "monitors", object, string]>([
    [
      "a header, and the key, from a value that cannot be read",
      "monitors",
      { name: "Odd", ssl_alert_days: { often: ["emulator-key", "s3cret-header"] } },
      "shows ssl_alert_days as (the server repeats a secret)",
    ],
    ["a part of a key from a URL", "monitors", { url: misplaced.replace("https", "ftp") }, "url (the server"],
    ["a key from a name", "domains", { name: "https://emulator-key" }, "name (the server repeats a secret)"],
  ])("quotes no secret: %s", async (_, kind, fields, reason) => {
    const request_headers = [{ key: "A", value: "s3cret-header" }];
    if (kind === "domains") emulator.domains.add({ ...fields });
    else addMonitor("refused", { request_headers, ...fields });
    const { stdout } = await exported();
    expect(stdout).toContain(reason);
    expect(stdout).not.toMatch(/emulator-key|s3cret-header/);
  });

  // An export only reads.
  const ofWrites =
    /^(create|update|delete|error|patch|emptyLists|emptyDays|resetOnUpdate|ignoreInvalid|unique)/;
  const single = Object.entries(dialectChoices)
    .filter(([option]) => !ofWrites.test(option))
    .flatMap(([option, choices]) => choices.slice(1).map((choice) => ({ [option]: choice })));
  const both = [
    { escapeHtml: true, listBrief: true, emptyAs: "absent", headers: "map", channels: "objects" },
    { escapeHtml: true, listsAsText: true },
    { hidden: ["interval", "request_headers"] },
  ] as const;
  const dialects: Partial<Dialect>[] = [{}, ...single, ...both];
  const leftOut: unknown[] = [null, undefined, false, 0, "GET", "url_unavailable"];
  test.each(dialects)(
    "declares every record with its values, whatever the name and dialect: %j",
    async (dialect) => {
      const count = dialect === dialects[0] ? 120 : 24;
      // Not PHP's way to show no header, which is that of none of these.
      for (let index = 0; index < count; index++)
        if (index % 11 !== 9) emulator.monitors.add(nastyMonitor(index));
      // It is declared as it is, also if the server escapes.
      addMonitor("Shop & <Co>", { url: "https://shop.example/", alert_text_lookup: "&nbsp;" });
      addNasty(emulator, 0);
      emulator.domains.add({ name: "docs.example", not_found_url: "https://docs.example/404?a=1&b=2" });
      emulator.dialect = dialect;
      expect(await exported("--secrets", "secrets.json")).toMatchObject({ code: 0, stderr: "" });
      const file = join(folder, "secrets.json");
      const read = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "{}";
      const secrets = JSON.parse(read) as Record<string, string>;
      const isRefused = "hidden" in dialect || dialect.dates === "+02:00";
      const declared = declaredResources(secrets);
      if (!isRefused) expect(declared).toHaveLength(emulator.monitors.size + emulator.domains.size);
      expect(new Set(declared.map(({ name }) => name)).size).toBe(declared.length);
      expect(emulator.writes()).toEqual([]);
      for (const { kind, args, options } of declared) {
        const of = kind === "Monitor" ? "monitor" : "domain";
        const record = emulator[`${of}s`].get(String(options.import));
        if (!record) throw new Error("There is no such record.");
        expect(options).toEqual({ import: String(record.id), protect: true });
        const wanted = expected(of, args);
        expect(held(of, record, wanted)).toEqual(wanted);
        const whole = Object.keys(definitions[of].fields).filter((key) => {
          const value = record[snake(key)];
          const isZeroDays = value === 0 && key.endsWith("AlertDays");
          const isDeclared = isZeroDays || key === "pause" || !leftOut.includes(value);
          return Array.isArray(value) ? value.length > 0 : isDeclared;
        });
        if (dialect.pauseShown !== "hidden") expect(Object.keys(args).sort()).toEqual(whole.sort());
      }
    },
  );
});

test.each([
  ["typescript", "pulumi config set --secret shop-x-key-2\n"],
  [
    "python",
    "- `shop`, the monitor `31`: `requestHeaders` (`shop-x-key`, `shop-x-key-2`, `shop-header`); " +
      "`requestAuthPassword`, if it has one (`shop-password`)\n",
  ],
])(
  "secrets are in the file of --secrets only, and NEXT-STEPS.md has the commands that set them: %s",
  async (language, said) => {
    addNasty(emulator, 30);
    emulator.dialect = { password: "plain" };
    addMonitor("Shop", {
      request_headers: [
        { key: "X-Key", value: "s3cret-1" },
        { key: "x-key", value: "s3cret-2" },
        { key: "~!", value: "s3cret-3" },
      ],
      request_auth_username: "bob",
      request_auth_password: "s3cret-4",
    });
    newProject({});
    const first = await exported("--language", language, "--dry-run", "--json");
    const second = await exported("--language", language, "--secrets", "secrets.json");
    const written = files().map((file) => text(file));
    expect([first.stdout, second.stdout, second.stderr, ...written].join()).not.toContain("s3cret");
    const page = text("NEXT-STEPS.md");
    expect(page).toContain(
      `node -p 'JSON.parse(fs.readFileSync("../secrets.json"))["shop-x-key"]' | pulumi config set --secret shop-x-key\n`,
    );
    expect(page).toContain("pulumi config set --secret shop-password\n");
    const secrets = join(folder, "secrets.json");
    expect(fs.statSync(secrets).mode & 0o777).toBe(0o600);
    expect(JSON.parse(fs.readFileSync(secrets, "utf8"))).toMatchObject({
      "shop-x-key": "s3cret-1",
      "shop-x-key-2": "s3cret-2",
      "shop-header": "s3cret-3",
    });
    // Without that file each one is named.
    newProject({});
    expect((await exported("--language", language)).code).toBe(0);
    for (const line of [
      "\npulumi config set --secret uptime:apiKey\n",
      "\npulumi config set --secret shop-x-key\n",
      said,
    ])
      expect(text("NEXT-STEPS.md")).toContain(line);
  },
);

test("the next steps say how to see a paused monitor if the generated code leaves out `pause: false`", async () => {
  addMonitor("Paused", { pause: true });
  const pageIn = async (language: string, present = {}): Promise<string> => {
    newProject(present);
    await exported("--language", language);
    return text("NEXT-STEPS.md");
  };
  expect(await pageIn("python")).not.toContain("declare `pause` as false");
  addMonitor("Running");
  expect(await pageIn("python")).toContain("declare `pause` as false");
  // In a folder without a project, the package would be packed for the program.
  const present = { "Pulumi.yaml": "name: mine\nruntime: nodejs\n" };
  expect(await pageIn("typescript", present)).not.toContain("declare `pause` as false");
});

test("the commands that set secrets read a file of any name", async () => {
  addMonitor("Shop", { request_headers: [{ key: "X-Key", value: '"s3cret" $1' }] });
  for (const name of ["secrets", "it's secret.txt", "-s.js"]) {
    newProject({ "Pulumi.yaml": "name: mine\nruntime: nodejs\n" });
    expect((await exported(`--secrets=out/${name}`)).code).toBe(0);
    const [, reading = ""] = /^(node -p .*) \| pulumi /m.exec(text("NEXT-STEPS.md")) ?? [];
    const read = execFileSync("sh", ["-c", reading], { cwd: out(), encoding: "utf8" });
    expect(read).toBe('"s3cret" $1\n');
  }
});

test("git ignores the file with secrets, whatever its name", async () => {
  addMonitor("Shop", { request_headers: [{ key: "X-Key", value: "s3cret" }] });
  fs.rmSync(out(), { recursive: true });
  const name = "#[my] *\\?.json ";
  expect((await exported(`--secrets=out/${name}`)).code).toBe(0);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: out(), encoding: "utf8" });
  git("init", "--quiet");
  const untracked = git("-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all");
  expect(untracked).toContain("?? NEXT-STEPS.md");
  expect(untracked).not.toContain("[my]");
  // Git knows no file outside of the folder.
  fs.rmSync(out(), { recursive: true });
  expect((await exported("--secrets=outside.json")).stdout).toContain(
    "outside.json has secrets in plain text",
  );
  expect(text(".gitignore")).not.toContain("outside");
  // A project that is there keeps its own .gitignore.
  newProject({ "Pulumi.yaml": "name: mine\nruntime: nodejs\n", ".gitignore": "dist/\n" });
  const { stdout } = await exported("--secrets", "mine.json");
  expect(stdout).toContain("mine.json has secrets in plain text: do not commit it");
});

const special = "'\"`\\$(){};|&<>!#*?~\n\r\u2028 -/=,:.a1";
/** Any string that a path, a name or an id may be; all of Unicode, and what shells and programs treat in their own way. */
const anything = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(...Array.from(special)), maxLength: 40 }),
);

test("a shell reads any quoted string as one word", () => {
  const word = anything.filter((text) => !text.includes("\0"));
  assertProperty(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
      const read = stdout.split("\0").slice(0, -1);
      expect(read).toEqual(words.map((word) => (word.startsWith("-") ? `./${word}` : word).toWellFormed()));
    }),
    { numRuns: sample(10, 40, 2000) },
  );
});

describe("an export of records with any content", () => {
  /** The API has one monitor, with whatever values. */
  const onlyMonitor = (record: object): void => {
    emulator.fault = ({ path }) =>
      answer(200, { data: path.endsWith("/domains") ? [] : path.endsWith("/monitors") ? [record] : record });
  };
  const isNewMonitor = (entry: ts.ObjectLiteralElementLike): boolean =>
    ts.isPropertyAssignment(entry) &&
    ts.isNewExpression(entry.initializer) &&
    entry.initializer.expression.getText() === "Monitor";
  /** What a module may read from the configuration. */
  const settings: Readonly<Record<string, string>> = {
    config: "new pulumi.Config()",
    protect: 'config.getBoolean("protect") ?? true',
  };

  /** Whether a statement is an import, the configuration, or an object of new monitors. */
  function isDeclaration(statement: ts.Statement): boolean {
    if (ts.isImportDeclaration(statement)) return true;
    if (!ts.isVariableStatement(statement)) return false;
    return statement.declarationList.declarations.every(({ name, initializer }) =>
      initializer && ts.isObjectLiteralExpression(initializer)
        ? initializer.properties.every(isNewMonitor)
        : initializer !== undefined &&
          (name.getText() === "secret" || initializer.getText() === settings[name.getText()]),
    );
  }

  test("has nothing but declarations", async () => {
    const seen = { declared: 0, refused: 0 };
    await assertProperty(
      fc.asyncProperty(
        anything,
        anything,
        anything,
        anything,
        fc.boolean(),
        async (id, anyName, url, anyHeader, isValid) => {
          // What the provider would refuse is left out, so half of the records are such that it does not.
          const name = isValid ? `[${anyName}]` : anyName;
          onlyMonitor({
            id,
            name,
            url: `https://x.example/${isValid ? encodeURIComponent(url.toWellFormed()) : url}`,
            interval: isValid ? 60 : 45,
            request_headers: [{ key: isValid ? "X-Token" : anyHeader, value: "v4lue" }],
          });
          newProject({ "Pulumi.yaml": "name: mine # a comment\nruntime: nodejs\n" });
          const { code, stdout, stderr } = await exported("--max-retries", "0");
          // An id that cannot be one is an error of its own.
          expect(`${stdout}${stderr}`).not.toMatch(/(?!\n)[\p{Cc}\u2028\u2029]/u);
          if (code !== 0) return;
          seen[fs.existsSync(out("monitors.ts")) ? "declared" : "refused"]++;
          if (!fs.existsSync(out("monitors.ts"))) return;
          const source = text("monitors.ts");
          const { statements } = ts.createSourceFile("x.ts", source, ts.ScriptTarget.ES2022, true);
          expect(statements.every(isDeclaration)).toBe(true);
          const [declared] = declaredResources();
          expect([declared?.args.name, declared?.options.import]).toEqual([name, id]);
          // A fence of the page ends only where the page ends it.
          const page = text("NEXT-STEPS.md").split("\n");
          expect(page.filter((line) => line.startsWith("```")).length % 2).toBe(0);
        },
      ),
      { numRuns: sample(3, 10, 500) },
    );
    expect(seen.declared).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test("is refused if an id looks like code", async () => {
    const id = "5\nrequire('node:fs').writeFileSync('pwned','')//";
    onlyMonitor({ id, name: "x", url: "https://x.example/", interval: 45 });
    expect(await failed(exported())).toMatch(/ is not the id of a monitor\.\n$/);
    expect(fs.existsSync(out("monitors.ts"))).toBe(false);
  });

  test("prints commands that name its files, in any folder", async () => {
    addMonitor("Shop", { request_headers: [{ key: "A", value: "1" }] });
    fs.mkdirSync(join(folder, "my secrets; rm -rf '$HOME'"));
    const secrets = "my secrets; rm -rf '$HOME'/values.json";
    expect(await exported("--secrets", secrets)).toMatchObject({ code: 0 });
    const [command = ""] = /^rm .*$/m.exec(text("NEXT-STEPS.md")) ?? [];
    expect(command).toBe("rm '../my secrets; rm -rf '\\''$HOME'\\''/values.json'");
    execFileSync("sh", ["-c", command], { cwd: out() });
    expect(fs.existsSync(join(folder, secrets))).toBe(false);
  });

  test("gives each secret a key and each resource a name of its own, also beside those of the stack", async () => {
    const password = { key: "Password", value: "v1" };
    const headers = [password, { key: "X-Token", value: "v2" }];
    addMonitor("Shop", { request_headers: headers, request_auth_username: "bob" });
    addMonitor("Shop-X", { request_headers: [{ key: "Token", value: "v3" }] });
    addMonitor("Set", { request_headers: [{ key: "Key", value: "v4" }] });
    const type = "pulumi-nodejs:dynamic/uptime:Monitor";
    const managed = { urn: `urn:pulumi:prod::mine::${type}::set`, type, id: "7" };
    const config = { "uptime:apiKey": emulator.apiKey, "mine:set-3-key": "other" };
    const env = withStack(folder, config, [managed]);
    expect(await exportedWith(env, "--secrets", "secrets.json")).toMatchObject({ code: 0 });
    const values = JSON.parse(text("..", "secrets.json")) as Record<string, string>;
    expect(Object.values(values).sort()).toEqual(["v1", "v2", "v3", "v4"]);
    const keys = [...text("monitors.ts").matchAll(/ecret\("(.*)"\)/g)].map(([, key]) => key);
    expect(new Set(keys).size).toBe(5);
    expect(keys).toContain("set-3-key-2");
    expect(text("monitors.ts")).toContain('"set-3": new Monitor(');
  });
});
