import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

import { runCommand } from "../../provider/cli/commands";
import { readProject } from "../../provider/cli/shared/project";
import { scaffold } from "../../provider/cli/shared/scaffold";
import { cli, emulator, failed, folder, type Outcome, unset, withCli } from "../support/cli";
import { startProgram } from "../support/processes";

const root = join(__dirname, "..", "..");
const { version, peerDependencies } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  peerDependencies: object;
};
withCli();

const run = (...args: string[]): Promise<Outcome> => cli(unset, folder, args);
const text = (...path: string[]): string => fs.readFileSync(join(folder, ...path), "utf8");

describe("arguments", () => {
  test('an unknown option is reported before a missing one, with "did you mean"', async () => {
    const misspelt = await run("export", "--jsn");
    expect(misspelt).toMatchObject({ code: 1, stdout: "" });
    expect(misspelt.stderr).toMatch(/^error: unknown option '--jsn'\n\(Did you mean --json\?\)/);
    expect((await run("export")).stderr).toMatch(/^error: required option '--out <dir>' not specified/);
    expect((await run("exprt")).stderr).toMatch(/unknown command 'exprt'\n\(Did you mean export\?\)/);
    expect(await run("help", "exprt")).toEqual(await run("exprt"));
    // The option --help would be that of npx.
    expect((await run("exprt")).stderr).toContain("(see `pulumi-uptime help`)");
    expect(misspelt.stderr).toContain("(see `pulumi-uptime help export`)");
  });

  test("help lists every command, and each command has its own", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Exit codes:\s+0 [^]*1 [^]*2 /);
    const names = [...stdout.matchAll(/^ {2}([a-z]+) .*[A-Z]/gm)].map(([, name = ""]) => name);
    expect(names.sort().join(" ")).toBe("comment doctor drift emulator export init plugin try");
    for (const name of ["", ...names]) {
      const { stdout: help, ...rest } = await run(...name.split(" ").filter(Boolean), "--help");
      expect(rest).toEqual({ code: 0, stderr: "" });
      expect(help).toContain(`Usage: pulumi-uptime ${name}`);
      expect(help).toMatch(/\nOptions:\n/);
      // It fits a terminal of 80 columns, also where nothing wraps it.
      expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
    expect((await run("help", "drift")).stdout).toContain("--unmanaged");
  });
});

test("a failure is one also if the reader of the output has read enough", async () => {
  fs.writeFileSync(join(folder, "drift.json"), '{"checked":0,"drifted":[],"errors":[]}');
  const main = join(root, "dist", "provider", "cli", "main.js");
  const args = [main, "comment", "--drift", "drift.json", "--reviewed", ""];
  const { child, done } = startProgram(process.execPath, args, { cwd: folder });
  child.stdout?.destroy();
  expect(await done).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Nothing is applied/) as string,
  });
});

test("an output that cannot be written is an error, and no bug", () => {
  const main = join(root, "dist", "provider", "cli", "main.js");
  // As on a full disk, a write fails: the file is open for reading alone.
  const unwritable = fs.openSync(main, "r");
  const { status, stderr } = spawnSync(process.execPath, [main, "help"], {
    stdio: ["ignore", unwritable, "pipe"],
    encoding: "utf8",
  });
  fs.closeSync(unwritable);
  expect(stderr).toMatch(/^The output cannot be written: EBADF.*\n$/);
  expect(status).toBe(1);
});

test("an unexpected error is printed with its stack, and without the API key that it may quote", async () => {
  let stderr = "";
  const code = await runCommand(["doctor"], {
    stdout: {
      write: (chunk: string) => {
        if (chunk.includes("domains:")) throw new TypeError(`cannot print ${emulator.apiKey}`);
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
    // Otherwise nobody would learn that somebody has paused it.
    expect(text(project, "index.ts")).toContain("\n  pause: false,\n");
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
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain(
      "  pulumi config set --secret uptime:apiKey\n  npx --no pulumi-uptime doctor\n  pulumi preview\n  pulumi up\n",
    );

    const before = files.map((file) => text(project, file));
    expect(await failed(run("init", project))).toMatch(
      /already contains a Pulumi project\. .* `npm install /,
    );
    expect(files.map((file) => text(project, file))).toEqual(before);
  });

  test("cannot write below a file", async () => {
    fs.writeFileSync(join(folder, "file"), "");
    expect(await failed(run("init", "file/x"))).toMatch(/x cannot be written: .*ENOTDIR/);
  });

  test("overwrites nothing", async () => {
    fs.writeFileSync(join(folder, "package.json"), "{}");
    expect(await failed(run("init", "."))).toContain(
      "package.json already exists, and is not overwritten: move it away",
    );
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
