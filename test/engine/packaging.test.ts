import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { newFolder } from "../support/folder";
import { cleanEnv, lay, npm, pack, packLibrary, Tools, versionHere, versionIn } from "../support/installs";
import type { Manager, NodeVersion } from "../support/installs";
import { isFull } from "../support/size";
import { startStack, yamlOf } from "../support/stack";
import type { Workspace } from "../support/workspace";

const repository = join(__dirname, "..", "..");
const { version, scripts, peerDependencies } = JSON.parse(
  readFileSync(join(repository, "package.json"), "utf8"),
) as Record<"scripts" | "peerDependencies", Record<string, string>> & { version: string };
const folder = newFolder();
let packed: ReturnType<typeof pack>;
beforeAll(() => {
  packed = pack(folder);
});

/** Puts a program into the project in place of the one that was there. */
function replace(
  workspace: Workspace,
  main: string,
  source: string,
  more: Record<string, unknown> = {},
): void {
  const file = join(workspace.project, "package.json");
  const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  for (const name of readdirSync(workspace.project))
    if (name.startsWith("index.")) rmSync(join(workspace.project, name));
  writeFileSync(file, JSON.stringify({ name: "workspace", main, dependencies, ...more }));
  writeFileSync(join(workspace.project, main), source);
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
  const modulesIn = (folder: string): string[] =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).flatMap((file) =>
      file.endsWith(".ts") ? `${folder}/${file.replace(/\.ts$/, "")}` : [],
    );
  const provider = modulesIn("provider");
  expect(provider).toContain("provider/index");
  const docs = readdirSync(join(repository, "docs")).map((name) => `docs/${name}`);
  const plugin = ["provider.cjs", "pulumi-resource-uptime", "pulumi-resource-uptime.cmd", "schema.json"];
  // The plugin is one bundled file, so what it alone is made of is not in the build.
  const modules = provider.filter((name) => !name.startsWith("provider/engine/plugin/"));
  // The provider of the dynamic resources is bundled in its own place, without a source map.
  const endingsOf = (module: string): string[] =>
    module === "provider/provider" ? [".js"] : [".js", ".js.map"];
  const built = modules.flatMap((module) => endingsOf(module).map((ending) => `dist/${module}${ending}`));
  // Of the declarations only those that a program can name, or that these consist of or import.
  const sdk = ["domain", "lookups", "monitor", "provider", "provider-args", "resource"];
  const declarations = [
    ...["index", "native", "provider", "definitions/domain", "definitions/field", "definitions/monitor"],
    ...["engine/throw-on-old-node", ...sdk.map((name) => `sdk/${name}`)],
  ].map((name) => `dist/provider/${name}.d.ts`);
  const top = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
  const others = readdirSync(join(repository, "provider"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(md|json)$/.test(name))
    .map((name) => `provider/${name}`);
  const wanted = [
    ...top,
    ...docs,
    ...built,
    ...declarations,
    ...plugin.map((name) => `plugin/${name}`),
    ...provider.map((name) => `${name}.ts`),
    ...others,
  ];
  expect([...packed.files].sort()).toEqual(wanted.sort());
  // Nothing of ours runs where the package is installed.
  const running = /^(pre|post)?(install|prepare|publish)$|^prepublishOnly$|^dependencies$/;
  expect(Object.keys(scripts).filter((name) => running.test(name))).toEqual([]);
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

describe("the archives of the plugin", () => {
  /** Serves them as a release does, for a project in YAML that does not name the plugin's folder. */
  async function startServer(): Promise<{ url: string; workspace: Workspace; asked: string[] }> {
    const asked: string[] = [];
    server = createServer((request, response) => {
      const name = basename(request.url ?? "");
      asked.push(name);
      const file = join(folder, name);
      if (existsSync(file)) response.end(readFileSync(file));
      else response.writeHead(404).end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const properties = { name: "Site", url: "https://example.com/", interval: 60 };
    const resource = { type: "uptime:Monitor", properties, options: { version } };
    const { workspace } = await startStack({ language: "yaml", program: yamlOf({ site: resource }) });
    const file = join(workspace.project, "Pulumi.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^plugins: .*\n/m, ""));
    return { url: `http://127.0.0.1:${port}`, workspace, asked };
  }
  let server: Server | undefined;
  afterEach(() => server?.close());

  test("have the names that Pulumi asks for, and their platform's executable", () => {
    const platforms = ["linux", "darwin", "windows"].flatMap((name) => [`${name}-amd64`, `${name}-arm64`]);
    const names = platforms.map((platform) => `pulumi-resource-uptime-v${version}-${platform}.tar.gz`);
    expect(packed.archives.map((archive) => basename(archive))).toEqual(names);
    for (const archive of packed.archives) {
      const files = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n");
      const executable = `pulumi-resource-uptime${archive.includes("-windows-") ? ".cmd" : ""}`;
      expect(files.sort()).toEqual(["provider.cjs", executable, "schema.json"]);
    }
  });

  test("are what `pulumi plugin install --server` installs", async () => {
    const { url, workspace, asked } = await startServer();
    const install = ["plugin", "install", "resource", "uptime", version, "--server", url];
    expect(await workspace.run(install)).toMatchObject({ code: 0 });
    expect((await workspace.preview()).output).toContain("+ 2 to create");
    expect(packed.archives.map((archive) => basename(archive))).toEqual(expect.arrayContaining(asked));
    expect(asked).toHaveLength(1);
  });

  test("are what Pulumi downloads by itself if the plugin is missing", async () => {
    const { url, workspace, asked } = await startServer();
    const env = {
      PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `.*=${url}`,
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "",
    };
    const { code, output } = await workspace.run(["preview"], { env });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("+ 2 to create") as string });
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

test("the installed tarball works in every kind of program, with one line of code in state, and with Pulumi's own compiler", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  workspace.env.PULUMI_NODEJS_TRANSPILE_ONLY = "";
  rmSync(join(workspace.project, "node_modules"), { recursive: true });
  const sdk = `@pulumi/pulumi@${versionHere("@pulumi/pulumi")}`;
  const quickly = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  npm(workspace.project, "install", packed.tarball, sdk, ...quickly);
  const modules = join(workspace.project, "node_modules");
  expect(existsSync(join(modules, "typescript"))).toBe(false);

  replace(workspace, "index.ts", typeScript);
  await workspace.up();
  replace(workspace, "index.js", commonJs);
  await workspace.up("--expect-no-changes");
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
  const tool = (...args: string[]) => execFileSync(join(modules, ".bin", "pulumi-uptime"), args, options);
  expect(tool("--version")).toBe(`${version}\n`);
  expect(tool("emulator", "--help")).toContain("Usage: pulumi-uptime emulator [options]");
});

interface Install {
  manager: Manager;
  node: NodeVersion;
  /** Of `@pulumi/pulumi`: the lowest that package.json allows, or the newest. */
  sdk: "lowest" | "newest";
  program: keyof typeof programs;
  /** Of workspaces, with or without hoisting; otherwise one package. */
  workspaces?: "hoisted" | "nested";
  /** The program uses a library, which depends on this package: alone, or beside the program itself. */
  library?: "alone" | "beside";
}

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

const npmOn = (node: NodeVersion, program: Install["program"], sdk: Install["sdk"] = "newest"): Install => ({
  manager: "npm",
  node,
  sdk,
  program,
});
/** Each value of each dimension at least once, and what has to do with one another together. */
const installs: Install[] = [
  npmOn("20.18", "TypeScript by what Pulumi brings", "lowest"),
  npmOn("24", "TypeScript by what Pulumi brings"),
  npmOn("20.18", "TypeScript by ts-node"),
  npmOn("24", "TypeScript by ts-node", "lowest"),
  npmOn("20.18", "TypeScript by tsx"),
  npmOn("22", "TypeScript by tsx"),
  npmOn("24", "an ES module", "lowest"),
  npmOn("20.18", "CommonJS"),
  { manager: "pnpm", node: "22", sdk: "newest", program: "TypeScript by what Pulumi brings" },
  { manager: "pnpm", node: "24", sdk: "lowest", program: "an ES module" },
  { manager: "yarn", node: "22", sdk: "newest", program: "TypeScript by ts-node" },
  { manager: "yarn", node: "20.18", sdk: "lowest", program: "CommonJS" },
  { manager: "yarn with Plug'n'Play", node: "22", sdk: "newest", program: "CommonJS" },
  { ...npmOn("22", "CommonJS"), workspaces: "hoisted" },
  { ...npmOn("22", "CommonJS"), workspaces: "nested" },
  { manager: "pnpm", node: "22", sdk: "newest", program: "CommonJS", workspaces: "nested" },
  { manager: "yarn", node: "22", sdk: "newest", program: "CommonJS", workspaces: "hoisted" },
  { manager: "yarn", node: "22", sdk: "newest", program: "CommonJS", workspaces: "nested" },
  { ...npmOn("22", "CommonJS"), library: "alone" },
  { manager: "pnpm", node: "22", sdk: "newest", program: "CommonJS", library: "beside" },
  { manager: "pnpm", node: "22", sdk: "newest", program: "CommonJS", library: "alone" },
];

const nameOf = ({ manager, node, sdk, program, workspaces, library }: Install) =>
  [
    `${manager}, Node.js ${node}, the ${sdk} SDK, ${program}`,
    ...(workspaces ? [`${workspaces} workspaces`] : []),
    ...(library ? [`a library ${library}`] : []),
  ].join(", ");

if (isFull)
  describe("installed by", () => {
    let tools: Tools;
    let library: string;
    beforeAll(() => {
      tools = new Tools(join(folder, "tools"));
      library = packLibrary(folder, packed.tarball);
    }, 600_000);

    test.each(installs.map((install) => [nameOf(install), install] as const))(
      "%s",
      async (_, install) => {
        const { emulator, workspace } = await startStack({});
        const { output, code } = await installAndRun(install, workspace);
        if (install.manager === "pnpm" && install.library === "alone") {
          // pnpm keeps it out of the program's reach; the program says what to do.
          expect(code).not.toBe(0);
          expect(output).toContain("Add it to the dependencies in the program's own package.json");
          expect(output).toContain("`pnpm add pulumi-uptime`");
          expect(emulator.writes()).toEqual([]);
          return;
        }
        expect(output).not.toContain("warning");
        expect(emulator.monitors.all()).toMatchObject([stored]);
        expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
      },
      600_000,
    );

    test("with a Node.js that is too old, each process names the version that it needs", async () => {
      const problem =
        /^ *.*pulumi-uptime needs Node\.js 20\.18 or later, and this is 18\.\d+\.\d+: install a newer one/m;
      const env = { PATH: await tools.pathWith("18") };
      const withNode = async (node: NodeVersion, workspace: Workspace) => ({
        PATH: [(await tools.pathWith(node)).split(delimiter)[0], workspace.env.PATH].join(delimiter),
      });
      const properties = { name: "Site", url: "https://example.com/", interval: 60 };
      const dynamic = await startStack({ program: commonJs });
      const preview = await dynamic.workspace.run(["preview"], { env });
      expect(preview.code).not.toBe(0);
      expect(preview.output).toMatch(
        /(Monitor \(site\)|Domain \(shop\)):\s+error: pulumi-uptime needs Node\.js/,
      );
      expect(preview.output).not.toMatch(/^\s+at /m);
      const native = await startStack({
        language: "yaml",
        program: yamlOf({ site: { type: "uptime:Monitor", properties } }),
      });
      expect(
        (await native.workspace.run(["preview"], { env: await withNode("18", native.workspace) })).output,
      ).toMatch(problem);
      const { status, stderr } = spawnSync("node", [join(repository, "dist", "provider", "cli", "main.js")], {
        env: { ...process.env, ...env },
        encoding: "utf8",
      });
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(problem) as string });
      expect(stderr.trim().split("\n")).toHaveLength(1);
      for (const version of ["22", "24"] as const)
        expect(
          await native.workspace.run(["preview"], { env: await withNode(version, native.workspace) }),
        ).toMatchObject({ code: 0 });
    }, 600_000);

    async function installAndRun(install: Install, workspace: Workspace) {
      const { manager, node, workspaces } = install;
      const { main, source, tools: more = {}, more: fields = {}, loader, compiler } = programOf(install);
      const root = workspace.project;
      const project = workspaces ? join(root, "infra") : root;
      const allowed = peerDependencies["@pulumi/pulumi"] ?? "";
      const sdk = install.sdk === "lowest" ? allowed.replace("^", "") : allowed;
      const ours = install.library === "alone" ? {} : { "pulumi-uptime": `file:${packed.tarball}` };
      const theirs = install.library ? { watched: `file:${library}` } : {};
      rmSync(root, { recursive: true });
      lay(root, {
        "Pulumi.yaml": { name: "workspace", runtime: "nodejs", ...(workspaces && { main: "infra" }) },
        ...(workspaces && {
          "package.json": { name: "all", private: true, workspaces: ["infra", "other"] },
          "pnpm-workspace.yaml": { packages: ["infra", "other"] },
          "other/package.json": { name: "other", version: "1.0.0" },
        }),
      });
      lay(project, {
        "package.json": {
          name: "infra",
          version: "1.0.0",
          main,
          dependencies: { "@pulumi/pulumi": sdk, ...ours, ...theirs, ...more },
          ...fields,
        },
        [main]: install.library ? withLibrary : source,
      });
      tools.install(manager, root, workspaces === "nested");

      // Programs of tests load less of Pulumi's SDK than those of users; these load it all.
      const env: Record<string, string> = {
        PATH: await tools.pathWith(node),
        NODE_OPTIONS: "",
        PULUMI_NODEJS_TRANSPILE_ONLY: "",
      };
      if (manager === "yarn with Plug'n'Play") {
        const plain = await workspace.run(["up", "--yes", "--skip-preview"], { env });
        expect(plain.code).not.toBe(0);
        expect(plain.output).toContain("It looks like the Pulumi SDK has not been installed.");
        // As `yarn exec` and `yarn run` set it: without it, nothing at all is found.
        env.NODE_OPTIONS = `--require ${join(root, ".pnp.cjs")}`;
      } else if (!(manager === "pnpm" && install.library === "alone")) {
        const installed = join(project, "node_modules", "@pulumi", "pulumi", "package.json");
        const hoisted = join(root, "node_modules", "@pulumi", "pulumi", "package.json");
        // What is hoisted is not beside the program, and the other way round.
        expect(existsSync(installed)).toBe(workspaces !== "hoisted");
        const version = versionIn(workspaces === "hoisted" ? hoisted : installed);
        if (install.sdk === "lowest") expect(`^${version}`).toBe(allowed);
      }
      if (loader)
        env.NODE_OPTIONS = `--import ${pathToFileURL(join(project, "node_modules", ...loader)).href}`;
      const result = await workspace.run(["up", "--yes", "--skip-preview"], { env });
      if (result.code !== 0 && !(manager === "pnpm" && install.library === "alone"))
        throw new Error(`pulumi up ended with code ${result.code}:\n${result.output}`);
      if (compiler) {
        const compilers = JSON.parse(readFileSync(join(project, "compilers.json"), "utf8")) as string[];
        expect(compilers).toEqual([expect.stringContaining(join(...compiler, "typescript.js"))]);
      }
      return result;
    }
  });

function programOf({ program }: Install): Program {
  return programs[program];
}
