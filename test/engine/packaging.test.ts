import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { newFolder } from "../support/folder";
import { serve } from "../support/http-server";
import { cleanEnv, lay, npm, pack, packLibrary, Tools, versionIn } from "../support/installs";
import type { Manager, NodeVersion } from "../support/installs";
import type { Result } from "../support/processes";
import { fullTest, isFull } from "../support/size";
import { startStack, yamlMonitor, yamlOf } from "../support/stack";
import type { Workspace } from "../support/workspace";

const repository = join(__dirname, "..", "..");
const { version, scripts, peerDependencies } = JSON.parse(
  readFileSync(join(repository, "package.json"), "utf8"),
) as Record<"scripts" | "peerDependencies", Record<string, string>> & { version: string };
const filesOfPlugin = ["LICENSE", "THIRD-PARTY-NOTICES.txt", "provider.cjs", "sbom.cdx.json", "schema.json"];
const folder = newFolder();
let packed: ReturnType<typeof pack>;
beforeAll(() => {
  packed = pack(folder);
});

/** Puts a program into the project in place of the one that was there. */
function replace({ project }: Workspace, main: string, source: string): void {
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as object;
  for (const name of readdirSync(project)) if (name.startsWith("index.")) rmSync(join(project, name));
  lay(project, { "package.json": { ...manifest, main }, [main]: source });
}

const resources = `
const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/" });
new Monitor("site", { name: "Site", url: "https://shop.example/", interval: 60, alertCondition: "url_text", alertTextLookup: "Shop" });
`;
const commonJs = `const { Domain, Monitor } = require("pulumi-uptime");\n${resources}`;
const esModule = `import { Domain, Monitor } from "pulumi-uptime";\n${resources}`;
/** Notes which compiler has compiled it, and uses all that has a type. */
const typeScript = `import * as fs from "fs";
import * as pulumi from "@pulumi/pulumi";
import { Domain, DomainArgs, Monitor, MonitorArgs } from "pulumi-uptime";
const compilers = Object.keys(require.cache).filter((path) => /[\\\\/]typescript\\.js$/.test(path));
fs.writeFileSync("compilers.json", JSON.stringify(compilers));
const domainArgs: DomainArgs = { name: "shop.example", homepageUrl: "https://shop.example/" };
const shop = new Domain("shop", domainArgs);
const args: MonitorArgs = { name: "Site", url: pulumi.interpolate\`https://\${shop.name}/\`, interval: 60, alertCondition: "url_text", alertTextLookup: "Shop" };
const site = new Monitor("site", args);
const interval: pulumi.Output<number> = site.interval;
const days: pulumi.Output<number | undefined> = site.sslAlertDays;
const headers: pulumi.Output<{ key: string; value: string }[] | undefined> = site.requestHeaders;
const text: pulumi.Output<string | undefined> = shop.homepageUrl;
`;
const stored = { name: "Site", url: "https://shop.example/", interval: 60, alert_condition: "url_text" };

test("the tarball has the build, its sources, the docs and the changelog, and nothing else", () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.\w+$/.test(name))
      .map((name) => `${folder}/${name}`);
  const sources = filesIn("provider");
  expect(sources).toContain("provider/index.ts");
  // The plugin is one bundled file, so what it alone is made of is not in the build.
  const isBuilt = (file: string) => file.endsWith(".ts") && !file.startsWith("provider/engine/plugin/");
  const built = sources.filter(isBuilt).flatMap((file) => {
    const module = `dist/${file.replace(/\.ts$/, ".js")}`;
    // The provider of the dynamic resources is bundled in its own place, without a source map.
    return file === "provider/provider.ts" ? [module] : [module, `${module}.map`];
  });
  // Of the declarations only those that a program can name, or that these consist of or import.
  const declarations = [
    "index native provider common/values definitions/domain definitions/field definitions/monitor engine/throw-on-old-node",
    "sdk/domain sdk/lookups sdk/monitor sdk/provider sdk/provider-args sdk/resource",
  ].flatMap((names) => names.split(" ").map((name) => `dist/provider/${name}.d.ts`));
  const plugin = ["pulumi-resource-uptime", "pulumi-resource-uptime.cmd", ...filesOfPlugin];
  const wanted = [
    ...["CHANGELOG.md", "LICENSE", "README.md", "package.json"],
    ...[...filesIn("docs"), ...sources, ...built, ...declarations],
    ...plugin.map((name) => `plugin/${name}`),
  ];
  expect([...packed.files].sort()).toEqual(wanted.sort());
  // Nothing of ours runs where the package is installed.
  const running = /^(pre|post)?(install|prepare|publish)$|^prepublishOnly$|^dependencies$/;
  expect(Object.keys(scripts).filter((name) => running.test(name))).toEqual([]);
});

test("a clone that is not built cannot be packed", () => {
  const clone = newFolder();
  cpSync(join(repository, "package.json"), join(clone, "package.json"));
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--silent", clone], {
    cwd: newFolder(),
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("not built: run npm ci && npm run build");
});

test("the README has no relative link, and each link of a packed page leads to a file", () => {
  execFileSync("tar", ["-xzf", packed.tarball, "-C", folder]);
  const pages = packed.files.filter((file) => file.endsWith(".md"));
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(folder, "package", page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target.replace(/#.*/, ""))
      .filter((target) => target !== "" && !/^https?:/.test(target))
      .filter((target) => page === "README.md" || !existsSync(join(folder, "package", dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(pages).toContain("README.md");
  expect(broken).toEqual([]);
});

const sumsIn = (where: string) => readFileSync(join(where, "SHA256SUMS"), "utf8");

test("SHA256SUMS has the hash of each file of a release", () => {
  const files = [packed.tarball, ...packed.archives].map((file) => basename(file));
  const hashes = [...files, "sbom.cdx.json"].map((file) => {
    const hash = createHash("sha256").update(readFileSync(join(folder, file)));
    return `${hash.digest("hex")}  ${file}\n`;
  });
  expect(sumsIn(folder)).toBe(hashes.join(""));
});

fullTest(
  "a second build and packing, in another folder, gives the same files",
  () => {
    const clone = newFolder();
    const listed = execFileSync("git", ["ls-files", "-z"], { cwd: repository, encoding: "utf8" });
    for (const file of listed.split("\0").filter((name) => name !== ""))
      cpSync(join(repository, file), join(clone, file));
    symlinkSync(join(repository, "node_modules"), join(clone, "node_modules"));
    npm(clone, "run", "--silent", "build");
    npm(clone, "run", "--silent", "release:pack");
    expect(sumsIn(join(clone, "dist", "package"))).toBe(sumsIn(folder));
  },
  600_000,
);

describe("the archives of the plugin", () => {
  /** Serves them as a release does, for a project in YAML that does not name the plugin's folder. */
  async function startServer(): Promise<{ url: string; workspace: Workspace; asked: string[] }> {
    const asked: string[] = [];
    const url = await serve((request, response) => {
      const name = basename(request.url ?? "");
      asked.push(name);
      const file = join(folder, name);
      if (existsSync(file)) response.end(readFileSync(file));
      else response.writeHead(404).end();
    });
    const program = yamlOf({ home: yamlMonitor({}, { version }) });
    const { workspace } = await startStack({ language: "yaml", program });
    const file = join(workspace.project, "Pulumi.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^plugins: .*\n/m, ""));
    return { url, workspace, asked };
  }

  test("have the names that Pulumi asks for, and their platform's executable", () => {
    const platforms = ["linux", "darwin", "windows"].flatMap((name) => [`${name}-amd64`, `${name}-arm64`]);
    const names = platforms.map((platform) => `pulumi-resource-uptime-v${version}-${platform}.tar.gz`);
    expect(packed.archives.map((archive) => basename(archive))).toEqual(names);
    for (const archive of packed.archives) {
      const files = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n");
      const executable = `pulumi-resource-uptime${archive.includes("-windows-") ? ".cmd" : ""}`;
      expect(files.sort()).toEqual([executable, ...filesOfPlugin].sort());
    }
  });

  test("are what `pulumi plugin install --server` installs", async () => {
    const { url, workspace, asked } = await startServer();
    await workspace.pulumi("plugin", "install", "resource", "uptime", version, "--server", url);
    expect((await workspace.preview()).output).toContain("+ 2 to create");
    expect(packed.archives.map((archive) => basename(archive))).toEqual(expect.arrayContaining(asked));
    expect(asked).toHaveLength(1);
  });

  test("are what Pulumi downloads by itself if the plugin is missing", async () => {
    const { url, workspace, asked } = await startServer();
    Object.assign(workspace.env, {
      PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `.*=${url}`,
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "",
    });
    expect((await workspace.preview()).output).toContain("+ 2 to create");
    expect(packed.archives.map((archive) => basename(archive))).toEqual(expect.arrayContaining(asked));
    expect(asked).toHaveLength(1);
  });
});

test("publint and attw find no problem in the tarball", () => {
  const bin = (name: string) => join(repository, "node_modules", ".bin", name);
  const options = { cwd: folder, env: cleanEnv, encoding: "utf8" } as const;
  expect(execFileSync(bin("publint"), [packed.tarball, "--strict"], options)).toContain("All good!");
  expect(execFileSync(bin("attw"), [packed.tarball], options)).toContain("No problems found");
});

test("the installed tarball works in TypeScript, by Pulumi's own compiler, and in an ES module, with one line of code in state", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  workspace.env.PULUMI_NODEJS_TRANSPILE_ONLY = "";
  rmSync(join(workspace.project, "node_modules"), { recursive: true });
  const installed = join(repository, "node_modules", "@pulumi", "pulumi", "package.json");
  const sdk = `@pulumi/pulumi@${versionIn(installed)}`;
  const quickly = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  npm(workspace.project, "install", packed.tarball, sdk, ...quickly);
  const modules = join(workspace.project, "node_modules");
  expect(existsSync(join(modules, "typescript"))).toBe(false);

  replace(workspace, "index.ts", typeScript);
  await workspace.up();
  replace(workspace, "index.mjs", esModule);
  await workspace.up("--expect-no-changes");
  expect(emulator.monitors.all()).toMatchObject([stored]);
  expect(emulator.writes().map(({ method }) => method)).toEqual(["POST", "POST"]);
  const { site, shop } = await workspace.resources();
  for (const [resource, name] of [
    [site, "monitor"],
    [shop, "domain"],
  ] as const) {
    const __provider = `exports.handler=()=>require("pulumi-uptime/provider").${name}`;
    expect(resource).toMatchObject({ inputs: { __provider }, outputs: { __provider } });
  }
  const compilers = JSON.parse(readFileSync(join(workspace.project, "compilers.json"), "utf8")) as string[];
  const bundled = join(modules, "@pulumi", "pulumi", "vendor", "typescript@3.8.3", "typescript.js");
  expect(compilers).toEqual([bundled]);

  const options = { cwd: workspace.project, env: cleanEnv, encoding: "utf8" } as const;
  const command = join(modules, ".bin", "pulumi-uptime");
  expect(execFileSync(command, ["--version"], options)).toBe(`${version}\n`);
  const help = execFileSync("npx", ["--no", "pulumi-uptime", "drift", "--help"], options);
  expect(help).toContain("Usage: pulumi-uptime drift [options]");
});

const withLibrary = `const { Watched } = require("watched");\nnew Watched("shop", "shop.example");`;
/** By this name, so that what loads this test leaves it as it is. */
const importMeta = "import.meta";
/** What a program is, what else it needs, and which TypeScript has to have compiled it. */
const programs = {
  CommonJS: { main: "index.js", source: commonJs },
  "an ES module": { main: "index.mjs", source: esModule },
  "TypeScript by what Pulumi brings": {
    main: "index.ts",
    source: typeScript,
    // Beside the program, as Pulumi's template has them: pnpm puts nothing there that was not asked for.
    tools: { "@types/node": "20" },
    compiler: ["@pulumi", "pulumi", "vendor", "typescript@3.8.3"],
  },
  "TypeScript by ts-node": {
    main: "index.ts",
    source: typeScript,
    tools: { "@types/node": "20", "ts-node": "10", typescript: "5" },
    compiler: ["typescript", "lib"],
  },
  "TypeScript by tsx": {
    main: "index.ts",
    // Neither ts-node nor Node.js itself can do this: they leave ES modules, or enumerations, as they are.
    source: `${esModule}\nenum By { Tsx = "tsx" }\nexport const by: string = By.Tsx + ${importMeta}.url;`,
    tools: { tsx: "4" },
    more: { type: "module" },
    loader: ["tsx", "dist", "loader.mjs"],
  },
} as const satisfies Record<string, Program>;

interface Program {
  main: string;
  source: string;
  tools?: Record<string, string>;
  more?: object;
  /** Imported before the program, by its path in node_modules. */
  loader?: readonly string[];
  compiler?: readonly string[];
}

/** The package manager, Node.js, which `@pulumi/pulumi` that package.json allows, the program, and how it is laid out. */
type Install = [
  manager: Manager,
  node: NodeVersion,
  sdk: "lowest" | "newest",
  program: keyof typeof programs,
  /** With workspaces, or with a library that depends on this package: alone, or beside the program itself. */
  layout: "one package" | "hoisted workspaces" | "nested workspaces" | "a library alone" | "a library beside",
];

/** Each value of each dimension at least once, and what has to do with one another together. */
const installs: Install[] = [
  ["npm", "20.18", "lowest", "TypeScript by what Pulumi brings", "one package"],
  ["npm", "24", "newest", "TypeScript by what Pulumi brings", "one package"],
  ["npm", "20.18", "newest", "TypeScript by ts-node", "one package"],
  ["npm", "24", "lowest", "TypeScript by ts-node", "one package"],
  ["npm", "20.18", "newest", "TypeScript by tsx", "one package"],
  ["npm", "22", "newest", "TypeScript by tsx", "one package"],
  ["npm", "24", "lowest", "an ES module", "one package"],
  ["npm", "20.18", "newest", "CommonJS", "one package"],
  ["pnpm", "22", "newest", "TypeScript by what Pulumi brings", "one package"],
  ["pnpm", "24", "lowest", "an ES module", "one package"],
  ["bun", "24", "newest", "TypeScript by what Pulumi brings", "one package"],
  ["npm", "26", "newest", "TypeScript by what Pulumi brings", "one package"],
  ["yarn", "22", "newest", "TypeScript by ts-node", "one package"],
  ["yarn", "20.18", "lowest", "CommonJS", "one package"],
  ["yarn with Plug'n'Play", "22", "newest", "CommonJS", "one package"],
  ["yarn with Plug'n'Play", "22", "newest", "TypeScript by ts-node", "one package"],
  ["npm", "22", "newest", "CommonJS", "hoisted workspaces"],
  ["npm", "22", "newest", "CommonJS", "nested workspaces"],
  ["pnpm", "22", "newest", "CommonJS", "nested workspaces"],
  ["yarn", "22", "newest", "CommonJS", "hoisted workspaces"],
  ["yarn", "22", "newest", "CommonJS", "nested workspaces"],
  ["npm", "22", "newest", "CommonJS", "a library alone"],
  ["pnpm", "22", "newest", "CommonJS", "a library beside"],
  ["pnpm", "22", "newest", "CommonJS", "a library alone"],
];

if (isFull)
  describe("installed by", () => {
    let tools: Tools;
    let library: string;
    beforeAll(() => {
      tools = new Tools(join(folder, "tools"));
      library = packLibrary(folder, packed.tarball);
    }, 600_000);

    test.each(installs)(
      "%s, Node.js %s, the %s SDK, %s, %s",
      async (...install) => {
        const { emulator, workspace } = await startStack({});
        const { output, code } = await installAndRun(install, workspace);
        if (isOutOfReach(install)) {
          expect(code).not.toBe(0);
          expect(output).toContain("Add it to the dependencies in the program's own package.json");
          expect(output).toContain("`pnpm add pulumi-uptime`");
          expect(emulator.writes()).toEqual([]);
          return;
        }
        expect(code === 0 ? "" : output).toBe("");
        expect(output).not.toContain("warning");
        expect(emulator.monitors.all()).toMatchObject([stored]);
        expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
      },
      600_000,
    );

    test("with a Node.js that is too old, each process names the version that it needs", async () => {
      const problem =
        /^ *.*pulumi-uptime needs Node\.js 20\.18 or later, and this is 18\.\d+\.\d+: install a newer one/m;
      const onlyNode = async (node: NodeVersion): Promise<string> =>
        (await tools.pathWith(node)).split(delimiter)[0] ?? "";
      const old = await tools.pathWith("18");
      const dynamic = await startStack({ program: commonJs });
      dynamic.workspace.env.PATH = old;
      const preview = await dynamic.workspace.failed("preview");
      expect(preview).toMatch(/(Monitor \(site\)|Domain \(shop\)):\s+error: pulumi-uptime needs Node\.js/);
      expect(preview).not.toMatch(/^\s+at /m);
      const main = join(repository, "dist", "provider", "cli", "main.js");
      const env = { ...process.env, PATH: old };
      const { status, stderr } = spawnSync("node", [main], { env, encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(problem) as string });
      expect(stderr.trim().split("\n")).toHaveLength(1);

      const native = await startStack({ language: "yaml", program: yamlOf({ home: yamlMonitor() }) });
      const { PATH = "" } = native.workspace.env;
      const previewOn = async (node: NodeVersion): Promise<Result> =>
        native.workspace.run(["preview"], { env: { PATH: [await onlyNode(node), PATH].join(delimiter) } });
      expect((await previewOn("18")).output).toMatch(problem);
      for (const node of ["22", "24", "26"] as const)
        expect(await previewOn(node)).toMatchObject({ code: 0 });
    }, 600_000);

    /** pnpm keeps it out of the program's reach; the program says what to do. */
    const isOutOfReach = ([manager, , , , layout]: Install): boolean =>
      manager === "pnpm" && layout === "a library alone";

    async function installAndRun(install: Install, workspace: Workspace): Promise<Result> {
      const [manager, node, sdk, program, layout] = install;
      const { main, source, tools: others, more, loader, compiler }: Program = programs[program];
      const [isWorkspace, isHoisted] = [layout.endsWith("workspaces"), layout === "hoisted workspaces"];
      const hasLibrary = layout.startsWith("a library");
      const root = workspace.project;
      const project = isWorkspace ? join(root, "infra") : root;
      const allowed = peerDependencies["@pulumi/pulumi"] ?? "";
      const ours = layout === "a library alone" ? {} : { "pulumi-uptime": `file:${packed.tarball}` };
      const theirs = hasLibrary ? { watched: `file:${library}` } : {};
      rmSync(root, { recursive: true });
      lay(root, {
        "Pulumi.yaml": { name: "workspace", runtime: "nodejs", ...(isWorkspace && { main: "infra" }) },
        ...(isWorkspace && {
          "package.json": { name: "all", private: true, workspaces: ["infra", "other"] },
          "pnpm-workspace.yaml": { packages: ["infra", "other"] },
          "other/package.json": { name: "other", version: "1.0.0" },
        }),
      });
      const sdkVersion = sdk === "lowest" ? allowed.replace("^", "") : allowed;
      const dependencies = { "@pulumi/pulumi": sdkVersion, ...ours, ...theirs, ...others };
      lay(project, {
        "package.json": { name: "infra", version: "1.0.0", main, dependencies, ...more },
        [main]: hasLibrary ? withLibrary : source,
      });
      tools.install(manager, root, layout === "nested workspaces");

      // Programs of tests load less of Pulumi's SDK than those of users; these load it all.
      const PATH = await tools.pathWith(node);
      Object.assign(workspace.env, { PATH, NODE_OPTIONS: "", PULUMI_NODEJS_TRANSPILE_ONLY: "" });
      if (manager === "yarn with Plug'n'Play") {
        expect(await workspace.failed("up")).toContain(
          "It looks like the Pulumi SDK has not been installed.",
        );
        // As `yarn exec` and `yarn run` set it: without it, nothing at all is found.
        workspace.env.NODE_OPTIONS = `--require ${join(root, ".pnp.cjs")}`;
        // Pulumi cannot copy the plugin out of an archive.
        const [unpacked = ""] = readdirSync(join(root, ".yarn", "unplugged")).filter((name) =>
          name.startsWith("pulumi-uptime-"),
        );
        const inPackage = join("node_modules", "pulumi-uptime", "plugin", "pulumi-resource-uptime");
        expect(existsSync(join(root, ".yarn", "unplugged", unpacked, inPackage))).toBe(true);
      } else if (!isOutOfReach(install)) {
        const installed = join(project, "node_modules", "@pulumi", "pulumi", "package.json");
        const hoisted = join(root, "node_modules", "@pulumi", "pulumi", "package.json");
        // What is hoisted is not beside the program, and the other way round.
        expect(existsSync(installed)).toBe(!isHoisted);
        const version = versionIn(isHoisted ? hoisted : installed);
        if (sdk === "lowest") expect(`^${version}`).toBe(allowed);
      }
      if (loader)
        workspace.env.NODE_OPTIONS = `--import ${pathToFileURL(join(project, "node_modules", ...loader)).href}`;
      const result = await workspace.run(["up", "--yes", "--skip-preview"]);
      if (compiler) {
        const compilers = JSON.parse(readFileSync(join(project, "compilers.json"), "utf8")) as string[];
        expect(compilers).toEqual([expect.stringContaining(join(...compiler, "typescript.js"))]);
      }
      return result;
    }
  });
