import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const repository = join(__dirname, "..", "..");

/** What a package manager must not inherit: npm's own settings, and what CI changes of a first install. */
export const cleanEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"))),
  YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
  YARN_ENABLE_TELEMETRY: "false",
};

export function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", [...args, "--loglevel=error"], { cwd, env: cleanEnv, encoding: "utf8" });
}

/** Packs this repository as it is published, and the plugin for each platform, as `npm run release:pack` does. */
export function pack(folder: string) {
  const script = join(repository, "tools", "package.mjs");
  const options = { env: cleanEnv, encoding: "utf8" } as const;
  const output = execFileSync(process.execPath, [script, "--out", folder, "--json"], options);
  return JSON.parse(output) as { tarball: string; files: string[]; archives: string[] };
}

/** Writes files, by their paths in the folder. */
export function lay(folder: string, files: Record<string, string | object>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** A component library that alone depends on this package, packed. */
export function packLibrary(folder: string, tarball: string): string {
  const library = join(folder, "watched");
  lay(library, {
    "package.json": {
      name: "watched",
      version: "1.0.0",
      main: "index.js",
      dependencies: { "pulumi-uptime": `file:${tarball}` },
      peerDependencies: { "@pulumi/pulumi": "*" },
    },
    "index.js": `
      const { ComponentResource } = require("@pulumi/pulumi");
      const { Domain, Monitor } = require("pulumi-uptime");
      exports.Watched = class extends ComponentResource {
        constructor(name, domain, options) {
          super("watched:index:Watched", name, {}, options);
          new Domain(name, { name: domain, homepageUrl: \`https://\${domain}/\` }, { parent: this });
          const text = { alertCondition: "url_text", alertTextLookup: "Shop" };
          new Monitor(name, { name: "Site", url: \`https://\${domain}/\`, interval: 60, ...text }, { parent: this });
        }
      };`,
  });
  npm(library, "pack", "--ignore-scripts", "--pack-destination", folder);
  return join(folder, "watched-1.0.0.tgz");
}

export type Manager = "npm" | "pnpm" | "yarn" | "yarn with Plug'n'Play" | "bun";
/** The first is too old. */
export const nodeVersions = ["18", "20.18", "22", "24", "26"] as const;
export type NodeVersion = (typeof nodeVersions)[number];

/** Other package managers, and the versions of Node.js that are supported, all from the registry. */
export class Tools {
  constructor(private readonly folder: string) {
    lay(folder, { "package.json": { private: true } });
    const nodes = nodeVersions.map((version) => `node-${version}@npm:node@${version}`);
    npm(folder, "install", "pnpm@11", "@yarnpkg/cli-dist@4", "bun@1", ...nodes, "--prefer-offline");
    // The alias of one of them would be the `node` of whatever is run from this folder.
    rmSync(join(folder, "node_modules", ".bin", "node"), { force: true });
  }

  /** A PATH on which `node` is of that version, and the engine is there. */
  async pathWith(version: NodeVersion): Promise<string> {
    const { ensureEngine } = await import("../../tools/engine/install.mjs");
    const { enginePath } = await import("../../tools/engine/env.mjs");
    const path = enginePath(await ensureEngine({ log: console.warn }), process.env.PATH);
    return [join(this.folder, "node_modules", `node-${version}`, "bin"), path].join(delimiter);
  }

  install(manager: Manager, folder: string, nested: boolean): void {
    if (manager === "npm") {
      const strategy = nested ? "nested" : "hoisted";
      npm(folder, "install", `--install-strategy=${strategy}`, "--ignore-scripts", "--prefer-offline");
    } else if (manager === "pnpm") {
      // It fails if a package has an install script that nobody has judged.
      const workspace = join(folder, "pnpm-workspace.yaml");
      const present = existsSync(workspace) ? (JSON.parse(readFileSync(workspace, "utf8")) as object) : {};
      lay(folder, { "pnpm-workspace.yaml": { ...present, allowBuilds: { protobufjs: false } } });
      this.run(folder, ["pnpm", "bin", "pnpm.mjs"], "install", "--no-frozen-lockfile", "--prefer-offline");
    } else if (manager === "bun") {
      const options = { cwd: folder, env: cleanEnv, stdio: "pipe" } as const;
      execFileSync(join(this.folder, "node_modules", ".bin", "bun"), ["install"], options);
    } else {
      const limits = nested ? "workspaces" : "none";
      const linker = manager === "yarn" ? "node-modules" : "pnp";
      // Without a lockfile of its own, yarn takes the folder for a part of a project further up.
      lay(folder, { "yarn.lock": "", ".yarnrc.yml": `nodeLinker: ${linker}\nnmHoistingLimits: ${limits}\n` });
      this.run(folder, ["@yarnpkg", "cli-dist", "bin", "yarn.js"], "install");
    }
  }

  private run(cwd: string, script: string[], ...args: string[]): void {
    const file = join(this.folder, "node_modules", ...script);
    try {
      // pnpm needs a newer Node.js than the oldest that this package supports.
      execFileSync(join(this.folder, "node_modules", "node-24", "bin", "node"), [file, ...args], {
        cwd,
        env: cleanEnv,
        encoding: "utf8",
        stdio: "pipe",
      });
    } catch (error) {
      // Package managers print what went wrong on the standard output.
      const { stdout = "" } = error as { stdout?: string };
      throw new Error(`\`${script.at(-1) ?? ""} ${args.join(" ")}\` failed:\n${stdout}`, { cause: error });
    }
  }
}

export function versionIn(file: string): string {
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
