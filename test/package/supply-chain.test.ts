import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Metafile } from "esbuild";
import { parse } from "yaml";
import { z } from "zod";

import { newFolder } from "../support/folder";
import { answering } from "../support/http-server";
import { Shell } from "../support/workflow";

const root = join(__dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** What esbuild says of the bundles. It runs in a process of its own, because it does not take Jest's Uint8Array for one. */
function metafiles(): Metafile[] {
  const tool = pathToFileURL(join(root, "tools", "bundles.mjs")).href;
  const script = `import { makeBundles } from ${JSON.stringify(tool)};
    console.log(JSON.stringify(await makeBundles({ write: false })));`;
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse(
    execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }),
  ) as Metafile[];
}

/** The packages by the folders below node_modules from which there is anything in a bundle. */
function packagesOf(files: Metafile[]): string[] {
  const outputs = files.flatMap((file) => Object.values(file.outputs));
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs));
  const names = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}

const manifestOf = (name: string) =>
  JSON.parse(read(`node_modules/${name}/package.json`)) as { version: string; license: string };

describe("the packages that are in the bundles", () => {
  let names: string[];
  beforeAll(() => {
    names = packagesOf(metafiles());
  });

  test("are all in the notices, with their licenses, and no other is", () => {
    expect(names).toEqual(expect.arrayContaining(["@grpc/grpc-js", "google-protobuf", "undici", "zod"]));
    const notices = read("plugin/THIRD-PARTY-NOTICES.txt");
    const listed = notices.match(/^\S+ \d+\.\d+\.\d+\S* \(.*\)$/gm) ?? [];
    const wanted = names.map((name) => {
      const { version, license } = manifestOf(name);
      return `${name} ${version} (${license})`;
    });
    expect(listed.sort()).toEqual(wanted.sort());
    for (const name of names) {
      const files = readdirSync(join(root, "node_modules", name)).filter((file) => /^licen[cs]e/i.test(file));
      expect([name, files.length]).not.toEqual([name, 0]);
      for (const file of files)
        expect(notices).toContain(read(`node_modules/${name}/${file}`).replaceAll("\r\n", "\n").trim());
    }
  });

  test("are all in the list for scanners, and in the lockfile", () => {
    const sbom = JSON.parse(read("plugin/sbom.cdx.json")) as {
      components: { name: string; version: string; purl: string; licenses: [{ expression: string }] }[];
      metadata: { component: { name: string; version: string } };
    };
    const { components, metadata } = sbom;
    const { version } = JSON.parse(read("package.json")) as { version: string };
    // GitHub's action for statements takes a list without a serial number for something else.
    const uuid = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
    const format = { bomFormat: "CycloneDX", specVersion: "1.5" };
    expect(sbom).toMatchObject({ ...format, serialNumber: expect.stringMatching(uuid) as string });
    expect(metadata.component).toMatchObject({ name: "pulumi-uptime", version });
    expect(components.map(({ name }) => name).sort()).toEqual(names);
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { version: string }>;
    };
    for (const { name, version: present, purl, licenses } of components) {
      expect([name, present]).toEqual([name, packages[`node_modules/${name}`]?.version]);
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${present}`);
      expect(licenses).toEqual([{ expression: manifestOf(name).license }]);
    }
  });
});

test("a package without a license cannot be bundled", async () => {
  const { packagesIn } = await import("../../tools/bundled.mjs");
  const folder = join(newFolder(), "node_modules", "bare");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "bare", "version": "1.0.0", "license": "MIT" }');
  const inputs = { [join(folder, "index.js")]: { bytesInOutput: 1 } };
  const metafile = { inputs: {}, outputs: { "out.js": { bytes: 1, imports: [], exports: [], inputs } } };
  expect(() => packagesIn([metafile], "/")).toThrow("bare has no file with its license");
  writeFileSync(join(folder, "LICENSE"), "Do as you like.\r\nReally.\r\n");
  expect(packagesIn([metafile], "/")).toEqual([
    { name: "bare", version: "1.0.0", license: "MIT", texts: ["Do as you like.\nReally."] },
  ]);
});

describe("an archive", () => {
  const files = [
    { name: "run", content: Buffer.from("#!/bin/sh\necho started\n"), isExecutable: true },
    { name: "data", content: Buffer.alloc(1025, "x"), isExecutable: false },
    { name: "empty", content: Buffer.alloc(0), isExecutable: false },
  ];

  test("is what tar reads, with what may be executed", async () => {
    const { archiveOf } = await import("../../tools/archive.mjs");
    const folder = newFolder();
    writeFileSync(join(folder, "a.tar.gz"), archiveOf(files));
    execFileSync("tar", ["-xzf", "a.tar.gz"], { cwd: folder });
    expect(execFileSync(join(folder, "run"), { encoding: "utf8" })).toBe("started\n");
    for (const { name, content } of files)
      expect([name, readFileSync(join(folder, name)).equals(content)]).toEqual([name, true]);
    expect(archiveOf(files).equals(archiveOf(files))).toBe(true);
  });

  test("refuses a name that would be cut", async () => {
    const { archiveOf } = await import("../../tools/archive.mjs");
    const long = { name: "n".repeat(100), content: Buffer.alloc(0), isExecutable: false };
    expect(() => archiveOf([long])).toThrow("does not fit into an archive");
  });
});

test("what is downloaded to run Pulumi must have the hash that is known", async () => {
  const { download } = await import("../../tools/engine/sources.mjs");
  const url = await answering(Buffer.from("an archive"));
  const known = createHash("sha256").update("an archive").digest("hex");
  expect((await download(url, known)).toString()).toBe("an archive");
  await expect(download(url, "0".repeat(64))).rejects.toThrow(
    `${url} could not be downloaded: its SHA-256 is ${known}, not 0000`,
  );
  const missing = await answering("", {}, 404);
  await expect(download(missing, known)).rejects.toThrow("it responded with 404");
});

const workflowFiles = readdirSync(join(root, ".github", "workflows"));
const workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      environment: z.unknown().optional(),
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(z.object({ name: z.string(), uses: z.string(), run: z.string() }).partial()),
    }),
  ),
});
const readWorkflow = (name: string) => workflow.parse(parse(read(`.github/workflows/${name}`)));
const stepsOf = (name: string) => Object.values(readWorkflow(name).jobs).flatMap(({ steps }) => steps);

describe("the workflows", () => {
  test.each(workflowFiles)("%s runs only what is pinned by a hash", (name) => {
    const text = read(`.github/workflows/${name}`);
    for (const line of text.match(/^.*\buses:.*$/gm) ?? [])
      expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    for (const { run = "" } of stepsOf(name))
      expect(run).not.toMatch(
        /npm (install|exec)|npx|curl|wget|go (run|install|get)|pipx|pip\W+install (?!--require-hashes)/,
      );
  });

  test("publish.yml gives its permissions only to a job that runs nothing of the repository", () => {
    const { permissions, jobs } = readWorkflow("publish.yml");
    expect(permissions).toEqual({ contents: "read" });
    const { publish, ...others } = jobs;
    expect(Object.keys(others)).toEqual(["pack", "test"]);
    for (const job of Object.values(others)) {
      expect(job.permissions).toBeUndefined();
      expect(job.environment).toBeUndefined();
    }
    expect(publish).toMatchObject({ needs: ["pack", "test"], environment: "npm" });
    for (const { uses = "", run = "" } of publish?.steps ?? []) {
      expect(uses).not.toMatch(/checkout/);
      expect(run).not.toMatch(/npm (ci|run|test)|\bnode\b/);
    }
  });
});

describe("publishing", () => {
  const stepOf = (name: string) => {
    const step = stepsOf("publish.yml").find((one) => one.name === name);
    if (step?.run === undefined) throw new Error(`publish.yml has no step "${name}" that runs anything.`);
    return step.run;
  };
  const env = { GITHUB_REF_NAME: "v1.2.3", GITHUB_REPOSITORY: "me/uptime" };

  test("is refused for a commit that is not on main", async () => {
    const folder = newFolder();
    const shell = new Shell(folder, { PATH: process.env.PATH ?? "" });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Me", "-c", "user.email=me@example.com", ...args], {
        cwd: folder,
        stdio: "pipe",
      });
    const commit = (message: string) => git("commit", "--quiet", "--allow-empty", "--message", message);
    git("init", "--quiet", "--initial-branch", "main");
    commit("One");
    commit("Two");
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    const check = () => shell.run(stepOf("Only what was reviewed for main is published"), env);
    expect(await check()).toMatchObject({ code: 0 });
    git("checkout", "--quiet", "--detach", "HEAD~1");
    expect(await check()).toMatchObject({ code: 0 });
    commit("Three");
    expect(await check()).toMatchObject({
      code: 1,
      output: expect.stringContaining("The commit of v1.2.3 is not on main.") as string,
    });
  });

  test("is refused for what another job has put in the place of what was packed", async () => {
    const folder = newFolder();
    const release = join(folder, "release");
    mkdirSync(release);
    mkdirSync(join(folder, "dist"));
    symlinkSync(release, join(folder, "dist", "package"));
    const shell = new Shell(folder, { PATH: process.env.PATH ?? "" });
    const write = async (name: string, text: string): Promise<void> => {
      writeFileSync(join(release, name), text);
      await shell.run("cd release && sha256sum plugin.tar.gz package.tgz > SHA256SUMS", {});
    };
    await write("plugin.tar.gz", "archive");
    await write("package.tgz", "package");
    const output = join(folder, "output");
    expect(await shell.run(stepOf("Say what was packed"), { GITHUB_OUTPUT: output })).toMatchObject({
      code: 0,
    });
    const SUMS = readFileSync(output, "utf8")
      .trim()
      .replace(/^sums=/, "");
    const check = () => shell.run(stepOf("Only what was packed is published"), { SUMS });
    expect(await check()).toMatchObject({ code: 0 });
    writeFileSync(join(release, "more.tgz"), "more");
    expect(await check()).toMatchObject({ code: 1 });
    rmSync(join(release, "more.tgz"));
    await write("package.tgz", "other");
    expect(await check()).toMatchObject({ code: 1 });
  });

  /** A shell with what was packed, and programs that keep what they were given as GitHub and npm do. */
  function newPublisher() {
    const folder = newFolder();
    mkdirSync(join(folder, "release"));
    const packed = {
      SHA256SUMS: "hashes\n",
      "uptime.tar.gz": "archive",
      "pulumi-uptime-1.2.3.tgz": "package",
    };
    for (const [name, text] of Object.entries(packed)) writeFileSync(join(folder, "release", name), text);
    const shell = new Shell(folder, { PATH: process.env.PATH ?? "" });
    const kept = join(folder, "kept.json");
    const keep = (value: object) => writeFileSync(kept, JSON.stringify(value));
    keep({});
    const standIn = (program: string, code: string) => {
      const script = `#!/usr/bin/env node
        const fs = require("node:fs");
        const args = process.argv.slice(2);
        const kept = JSON.parse(fs.readFileSync(${JSON.stringify(kept)}, "utf8"));
        const fail = () => void (process.exitCode = 1);
        const keep = (more) => fs.writeFileSync(${JSON.stringify(kept)}, JSON.stringify({ ...kept, ...more }));
        process.stdout.write(String((() => { ${code} })() ?? ""));`;
      writeFileSync(join(shell.bin, program), script, { mode: 0o755 });
    };
    standIn(
      "gh",
      `const { release } = kept;
      const [, verb] = args;
      if (verb === "view") return release ? release.draft : fail();
      if (verb === "create") return release ? fail() : keep({ release: { draft: true, files: {} } });
      if (!release || (verb !== "download" && !release.draft)) return fail();
      if (verb === "upload" && kept.noUpload) return fail();
      if (verb === "upload") {
        const files = Object.fromEntries(args.slice(3, -1).map((file) => [file, fs.readFileSync(file, "utf8")]));
        return keep({ release: { draft: true, files } });
      }
      if (verb === "edit") return keep({ release: { ...release, draft: false } });
      if (verb === "download") return release.files["release/SHA256SUMS"];
      return fail();`,
    );
    standIn(
      "npm",
      `if (args[0] === "view") return kept.npm ?? fail();
      if (args[0] !== "publish" || kept.npm || kept.noPublish) return fail();
      const hash = require("node:crypto").createHash("sha512").update(fs.readFileSync(args[1]));
      return keep({ npm: "sha512-" + hash.digest("base64") });`,
    );
    return {
      keep,
      present: () =>
        JSON.parse(readFileSync(kept, "utf8")) as {
          release?: { draft: boolean; files: object };
          npm?: string;
        },
      archives: () => shell.run(stepOf("Release the archives"), env),
      package: () => shell.run(stepOf("Publish the package"), env),
    };
  }

  test("can be repeated after a step that failed, and changes nothing that is published", async () => {
    const publisher = newPublisher();
    publisher.keep({ noUpload: true });
    expect(await publisher.archives()).toMatchObject({ code: 1 });
    expect(publisher.present().release).toMatchObject({ draft: true });
    publisher.keep({ ...publisher.present(), noUpload: false, noPublish: true });
    expect(await publisher.archives()).toMatchObject({ code: 0 });
    const { release } = publisher.present();
    expect(release).toMatchObject({ draft: false });
    expect(Object.keys(release?.files ?? {})).toHaveLength(3);
    expect(await publisher.package()).toMatchObject({ code: 1 });
    publisher.keep({ release });
    expect(await publisher.package()).toMatchObject({ code: 0 });
    expect(await publisher.archives()).toMatchObject({ code: 0 });
    expect(await publisher.package()).toMatchObject({ code: 0 });
    expect(publisher.present()).toEqual({ release, npm: expect.stringMatching(/^sha512-.+==$/) as string });
  });

  test("fails if something else is published under that version", async () => {
    const publisher = newPublisher();
    const release = { draft: false, files: { "release/SHA256SUMS": "other hashes\n" } };
    publisher.keep({ release, npm: "sha512-other" });
    expect(await publisher.archives()).toMatchObject({ code: 1 });
    expect(await publisher.package()).toMatchObject({
      code: 1,
      output: expect.stringContaining("npm has v1.2.3 as sha512-other") as string,
    });
    expect(publisher.present()).toEqual({ release, npm: "sha512-other" });
  });
});

test("what is bundled is audited like what is installed, and nothing else", async () => {
  const { vulnerabilitiesOf } = await import("../../tools/audit.mjs");
  const found = (title: string, ...nodes: string[]) => ({
    severity: "high",
    nodes: nodes.map((name) => `node_modules/${name}`),
    via: [{ title, url: `https://example.com/${title}` }],
  });
  const vulnerabilities = {
    zod: found("installed", "zod"),
    "@grpc/grpc-js": found("bundled", "@grpc/grpc-js"),
    jest: found("development", "jest"),
    long: found("copies", "jest/node_modules/long", "long"),
    protobufjs: { severity: "low", nodes: ["node_modules/protobufjs"], via: ["long"] },
  };
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { dev?: true }> };
  const isDev = (name: string): boolean => packages[`node_modules/${name}`]?.dev === true;
  expect([isDev("@grpc/grpc-js"), isDev("zod")]).toEqual([true, false]);
  const bundled = ["@grpc/grpc-js", "long", "protobufjs"];
  expect(vulnerabilitiesOf({ vulnerabilities }, { lock: { packages }, bundled })).toEqual([
    "zod (high): installed, https://example.com/installed",
    "@grpc/grpc-js (high): bundled, https://example.com/bundled",
    "long (high): copies, https://example.com/copies",
    "protobufjs (low): by long",
  ]);
});
