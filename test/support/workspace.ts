import { createHash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join, relative } from "node:path";

import { parse, stringify } from "yaml";

import { leaksIn } from "./canary.cjs";
import { lay } from "./installs";
import { endAll, processesWith, startProgram } from "./processes";
import type { Process, Result, StartOptions, Started } from "./processes";
import { isFull } from "./size";

const repository = join(__dirname, "..", "..");

export type Config = Record<string, string | { value: string; secret: true }>;

export interface WorkspaceOptions {
  /** The Pulumi program's source. In YAML it is what Pulumi.yaml has beside the project's name. */
  program: string;
  /** "ts" is compiled by the TypeScript that is found from the SDK's real folder: this repository's. */
  language?: Language;
  config?: Config;
  /** Set for every command of this workspace, such as UPTIME_API_KEY. No variable of that name is inherited. */
  env?: Record<string, string>;
  /** More packages of this repository that the program can load. */
  packages?: string[];
}

export interface RunOptions extends Pick<StartOptions, "detached"> {
  env?: Record<string, string>;
  stdin?: string;
}

/** One resource in `stack export`; only what tests look at. */
export interface StateResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  /** The file, line and column of the program. */
  sourcePosition?: string;
  delete?: boolean;
}

/** What `stack export` prints. */
interface Deployment {
  version: number;
  deployment: { resources?: StateResource[]; pending_operations?: unknown[] };
}

/** One step of `preview --json`. */
interface Step {
  op: string;
  urn: string;
}

/**
 * The language host of Node.js, in the last version that is a Go module, closes a channel that it may still write to when a
 * program ends. A command that fails with this says nothing about the program, and is run again.
 */
const hostHasCrashed = /panic: send on closed channel[\s\S]*main\.\(\*nodeLanguageHost\)\.Run/;

/** What a program is written in; all but the first two use the provider plugin. */
const languages = {
  js: { runtime: "nodejs", main: "index.js" },
  ts: { runtime: "nodejs", main: "index.ts" },
  yaml: { runtime: "yaml", main: "Pulumi.yaml" },
  python: { runtime: "python", main: "__main__.py" },
  go: { runtime: "go", main: "main.go" },
  java: { runtime: "java", main: "src/main/java/App.java" },
};
type Language = keyof typeof languages;

/** The plugin is named for programs that use it; others do not load it. */
function projectOf(language: Language): string {
  const path = JSON.stringify(join(repository, "plugin"));
  return `name: workspace\nruntime: ${languages[language].runtime}\nplugins: {providers: [{name: uptime, path: ${path}}]}\n`;
}

const unattended = ["--yes", "--skip-preview"];

/** Copies an example as a user does, before anything is installed. */
export async function copyExample(name: string, folder: string): Promise<void> {
  const example = join(repository, "examples", name);
  const filter = (path: string): boolean => !path.startsWith(join(example, "node_modules"));
  await fs.cp(example, folder, { recursive: true, filter });
}

/** Compiles the copy of an example once, without its types, where each command would take longer for them than for all else. */
export async function compileExample(folder: string): Promise<void> {
  // Loading it takes half a second, and most files of tests compile nothing.
  const { default: ts } = await import("typescript");
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS };
  for (const name of (await fs.readdir(folder)).filter((file) => file.endsWith(".ts"))) {
    const source = join(folder, name);
    const { outputText } = ts.transpileModule(await fs.readFile(source, "utf8"), { compilerOptions });
    await fs.writeFile(source.replace(/ts$/, "js"), outputText);
    await fs.rm(source);
  }
  const manifest = join(folder, "package.json");
  await fs.writeFile(manifest, (await fs.readFile(manifest, "utf8")).replace("index.ts", "index.js"));
}

/** What makes commands cheaper, and changes nothing of what they do. */
const cheaper = (language: Language): Record<string, string> => ({
  // The engine's commands are short, and need not collect garbage as often.
  GOGC: "400",
  NODE_OPTIONS: `--require ${join(__dirname, "lazy-sdk.cjs")}`,
  TEST_LANGUAGE: language,
  TEST_NODE: process.execPath,
  // Programs in TypeScript are only compiled, but where a test is about types.
  PULUMI_NODEJS_TRANSPILE_ONLY: "true",
});

/**
 * A stand-in for Vault has the key of the stacks' secrets, because Pulumi derives a key from a passphrase in each command,
 * which takes an eighth of the command's time.
 */
const encryptedkey = Buffer.from("vault:v1:key").toString("base64");
const secretsProvider = { url: "hashivault://test", encryptedkey };
/** A stack's file says the same. */
const stackSettings = stringify({ secretsprovider: secretsProvider.url, encryptedkey });
let vault: Promise<string> | undefined;

async function startVault(): Promise<string> {
  const plaintext = Buffer.alloc(32, "key").toString("base64");
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data: { plaintext } }));
  });
  await once(server.listen(0, "127.0.0.1").unref(), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const workspaces: Workspace[] = [];

afterEach(() => Promise.all(workspaces.splice(0).map((workspace) => workspace.dispose())));

/**
 * A Pulumi project in a temporary folder with its own state, home and settings, driven by the real CLI. It sees this
 * repository as the installed package `pulumi-uptime`, and is removed after the test.
 */
export class Workspace {
  readonly project: string;
  readonly stack = "test";
  /** The programs, and the values of settings: Pulumi knows what is in them. */
  private given = "";

  private constructor(
    private readonly folder: string,
    private readonly language: Language,
    /** What every command of this workspace sees: also for other tools that run the CLI in it. */
    readonly env: Record<string, string>,
  ) {
    this.project = join(folder, "project");
  }

  static async create(options: WorkspaceOptions): Promise<Workspace> {
    const { ensureEngine } = await import("../../tools/engine/install.mjs");
    const { newProject } = await import("../../tools/engine/env.mjs");
    const { ensureLanguage } = await import("../../tools/engine/languages.mjs");
    const { language = "js" } = options;
    const engine =
      language === "js" || language === "ts"
        ? await ensureEngine({ log: console.warn })
        : await ensureLanguage(language, { log: console.warn });
    const { folder, env } = await newProject(engine, "test");
    const PATH = [join(__dirname, "bin"), env.PATH].join(delimiter);
    const workspace = new Workspace(folder, language, {
      ...{ ...env, PATH, VAULT_SERVER_URL: await (vault ??= startVault()), VAULT_SERVER_TOKEN: "token" },
      ...{ ...cheaper(language), ...options.env },
    });
    workspaces.push(workspace);
    await workspace.layProject(options);
    workspace.layStack();
    if (options.config) await workspace.setConfig(options.config);
    return workspace;
  }

  /** Replaces the program. */
  async write(program: string): Promise<void> {
    const text = this.language === "yaml" ? `${projectOf("yaml")}${program}` : program;
    this.given += text;
    const main = join(this.project, languages[this.language].main);
    await fs.mkdir(dirname(main), { recursive: true });
    await fs.writeFile(main, text);
  }

  /** Leaves nothing in the project but the packages. */
  async clear(): Promise<void> {
    for (const name of await fs.readdir(this.project))
      if (name !== "node_modules") await fs.rm(join(this.project, name), { recursive: true });
  }

  /** What is not secret is written into the stack's file, because asking the CLI takes a while. */
  async setConfig(config: Config): Promise<void> {
    this.given += JSON.stringify(Object.values(config));
    const secrets: string[] = [];
    const settings = parse(await fs.readFile(this.settingsFile, "utf8")) as { config?: Config };
    for (const [key, value] of Object.entries(config))
      if (typeof value === "string") (settings.config ??= {})[key] = value;
      else secrets.push("--secret", `${key}=${value.value}`);
    await fs.writeFile(this.settingsFile, stringify(settings));
    if (secrets.length > 0) await this.pulumi("config", "set-all", ...secrets);
  }

  /** Runs any command, and fails when it does, as do the methods for single ones. */
  async pulumi(...args: string[]): Promise<Result> {
    const result = await this.run(args);
    if (result.code !== 0)
      throw new Error(`\`pulumi ${args.join(" ")}\` ended with code ${result.code}:\n${result.output}`);
    return result;
  }

  up(...args: string[]): Promise<Result> {
    return this.pulumi("up", ...unattended, ...args);
  }

  preview(...args: string[]): Promise<Result> {
    return this.pulumi("preview", ...args);
  }

  refresh(...args: string[]): Promise<Result> {
    return this.pulumi("refresh", ...unattended, ...args);
  }

  destroy(...args: string[]): Promise<Result> {
    return this.pulumi("destroy", ...unattended, ...args);
  }

  /** What such a command prints that has to fail. */
  async failed(command: "up" | "preview" | "refresh" | "destroy", ...args: string[]): Promise<string> {
    const flags = command === "preview" ? [] : unattended;
    const { code, output } = await this.run([command, ...flags, ...args]);
    if (code === 0) throw new Error(`\`pulumi ${command} ${args.join(" ")}\` did not fail:\n${output}`);
    return output;
  }

  /** What a preview would change: empty when nothing would. */
  async previewChanges(): Promise<Step[]> {
    const { stdout } = await this.preview("--json");
    return (JSON.parse(stdout) as { steps: Step[] }).steps.filter(({ op }) => op !== "same");
  }

  /** `stack init`, with the stand-in for Vault too. */
  async initStack(name: string, ...flags: string[]): Promise<void> {
    await fs.appendFile(join(this.project, `Pulumi.${name}.yaml`), stackSettings);
    await this.pulumi("stack", "init", "--secrets-provider", secretsProvider.url, name, ...flags);
  }

  /** As `stack export` prints it; read from disk, because asking the CLI takes a while. */
  async exportState(): Promise<Deployment> {
    const { version, checkpoint } = JSON.parse(await this.stateText()) as {
      version: number;
      checkpoint: { latest?: Deployment["deployment"] };
    };
    return { version, deployment: checkpoint.latest ?? {} };
  }

  /** The resources of the provider in state, by their logical name; secrets are as they are stored. */
  async resources(): Promise<Record<string, StateResource>> {
    const { deployment } = await this.exportState();
    const own = (deployment.resources ?? []).filter(({ type }) =>
      /^(pulumi-nodejs:dynamic\/uptime|uptime:index):/.test(type),
    );
    return Object.fromEntries(own.map((resource) => [resource.urn.split("::").at(-1) ?? "", resource]));
  }

  /** The state as it is on disk, to look for what must not be there. */
  async stateText(): Promise<string> {
    return fs.readFile(this.stateFile, "utf8");
  }

  /** The stack's outputs as state has them. */
  async outputs(): Promise<Record<string, unknown>> {
    const { deployment } = await this.exportState();
    return deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
  }

  /** Runs the CLI; a failure is a result like any other. */
  async run(args: string[], options: RunOptions = {}): Promise<Result> {
    const result = await this.start(args, options).done;
    return hostHasCrashed.test(result.output) ? this.start(args, options).done : result;
  }

  /** What it prints may hold no secret, whatever the test looks at. */
  start(args: string[], { env, stdin = "", detached = false }: RunOptions = {}): Started {
    const started = startProgram("pulumi", [...args, "--non-interactive", "--color", "never"], {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdin: "pipe",
      detached,
    });
    started.child.stdin?.end(stdin);
    const done = started.done.then((result) => {
      const leaks = leaksIn(result.output);
      if (leaks.length === 0) return result;
      throw new Error(`\`pulumi ${args[0] ?? ""}\` printed secrets: ${leaks.join(", ")}.`);
    });
    return { ...started, done };
  }

  /** What commands of this workspace have started and still runs. */
  processes(): Process[] {
    return processesWith("PULUMI_HOME", this.env.PULUMI_HOME ?? "");
  }

  /** Removes the folder and ends what commands have started. */
  async dispose(): Promise<void> {
    // A CLI that was killed leaves the hosts of providers that it had started, and not yet asked for anything.
    endAll(this.processes());
    const leaks = leaksIn(await this.backendText());
    const kept = isFull ? await this.keptLogs() : [];
    await fs.rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (leaks.length > 0)
      throw new Error(`Secrets are in the state, its history or backups: ${leaks.join(", ")}.`);
    if (kept.some(({ raw }) => leaksIn(raw).length > 0)) throw new Error("A kept log has secrets.");
    // Decrypted, they have the secrets of resources and of the configuration, which the engine itself writes.
    const keys = Object.entries(this.env).flatMap(([name, value]) =>
      name.startsWith("UPTIME_API_KEY") && !this.given.includes(value) ? value : [],
    );
    if (kept.some(({ text }) => keys.some((key) => text.includes(key))))
      throw new Error("A kept log has the API key of the environment.");
  }

  /** The logs that Pulumi keeps of each command: as they are on disk, and decrypted. */
  async keptLogs(): Promise<{ raw: string; text: string }[]> {
    const folder = join(this.env.PULUMI_HOME ?? "", "logs");
    const names = await fs.readdir(folder).catch(() => []);
    return Promise.all(
      names.map(async (name) => {
        const file = join(folder, name);
        const env = this.env;
        const { done } = startProgram("pulumi", ["logs", "decrypt", file], { cwd: this.folder, env });
        return { raw: await fs.readFile(file, "latin1"), text: (await done).stdout };
      }),
    );
  }

  /** After `kill -9`: Pulumi's local backend writes these files in place, so they may be empty, and then no state is read. */
  async mend(): Promise<void> {
    const folder = join(this.folder, "backend", ".pulumi");
    for (const name of await fs.readdir(folder, { recursive: true })) {
      const file = join(folder, name);
      if (name.endsWith(".attrs") && (await fs.stat(file)).size === 0) await fs.rm(file);
    }
  }

  /** Everything that the backend keeps on disk, its history and backups too, to look for what must not be there. */
  async backendText(): Promise<string> {
    const folder = join(this.folder, "backend");
    const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const read = files.map(({ parentPath, name }) => fs.readFile(join(parentPath, name), "utf8"));
    return (await Promise.all(read)).join("\n");
  }

  private get stateFile(): string {
    return join(this.folder, "backend", ".pulumi", "stacks", "workspace", `${this.stack}.json`);
  }

  private get settingsFile(): string {
    return join(this.project, `Pulumi.${this.stack}.yaml`);
  }

  /** What `stack init --secrets-provider` writes; asking the CLI takes a third of a second. */
  private layStack(): void {
    const stack = `organization/workspace/${this.stack}`;
    const latest = {
      manifest: { time: "2030-01-01T00:00:00Z", magic: "", version: "" },
      secrets_providers: { type: "cloud", state: secretsProvider },
    };
    // The file's name tells the project whose stack is selected.
    const hash = createHash("sha1").update(join(this.project, "Pulumi.yaml")).digest("hex");
    lay(this.folder, {
      "backend/.pulumi/meta.yaml": "version: 1\n",
      [relative(this.folder, this.stateFile)]: { version: 3, checkpoint: { stack, latest } },
      [relative(this.folder, this.settingsFile)]: stackSettings,
      [`home/workspaces/workspace-${hash}-workspace.json`]: { stack },
    });
  }

  private async layProject({ program, packages = [] }: WorkspaceOptions): Promise<void> {
    const { runtime, main } = languages[this.language];
    const [target, module, moduleResolution] = ["es2018", "commonjs", "node"];
    const compilerOptions = { strict: true, target, module, moduleResolution };
    lay(this.project, {
      "Pulumi.yaml": projectOf(this.language),
      ...(runtime === "nodejs" && { "package.json": { name: "workspace", main } }),
      ...(this.language === "ts" && { "tsconfig.json": { compilerOptions } }),
      // The language host walks through everything in node_modules, and the repository itself holds a lot.
      "node_modules/pulumi-uptime/package.json": await fs.readFile(join(repository, "package.json"), "utf8"),
    });
    const own = ["dist", "plugin"].map((name) => [name, join("pulumi-uptime", name)] as const);
    const others = ["@pulumi/pulumi", ...packages].map((name) => [join("node_modules", name), name] as const);
    for (const [target, name] of [...own, ...others]) {
      const link = join(this.project, "node_modules", name);
      await fs.mkdir(dirname(link), { recursive: true });
      await fs.symlink(join(repository, target), link);
    }
    await this.write(program);
  }
}
