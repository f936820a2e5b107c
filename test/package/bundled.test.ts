import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Metafile } from "esbuild";

import { newFolder } from "../support/folder";

const root = join(__dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const tool = (name: string) => pathToFileURL(join(root, "tools", name)).href;

/** What esbuild says of the bundles. It runs in a process of its own, because it does not take Jest's Uint8Array for one. */
function metafiles(): Metafile[] {
  const script = `import { makeBundles } from ${JSON.stringify(tool("bundles.mjs"))};
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
    const { components, metadata } = JSON.parse(read("plugin/sbom.cdx.json")) as {
      components: { name: string; version: string; purl: string; licenses: [{ expression: string }] }[];
      metadata: { component: { name: string; version: string } };
    };
    const { version } = JSON.parse(read("package.json")) as { version: string };
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
