// A Pulumi project in a temporary folder, whose commands are measured.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { engineEnv } from "../engine/env.mjs";
import { root } from "../setup.mjs";
import { floorPackage } from "./programs.mjs";

const running = new Set();

/** Ends what still runs. */
export function killAll() {
  for (const child of running) child.kill("SIGTERM");
}

export class Project {
  /** Peak memory of the provider's process in MB, over all commands so far; undefined where there is no /proc. */
  peak;

  /** @param kind what the project's programs are made of, as in `programOf` */
  static async create({ engine, api, kind }) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "pulumi-uptime-bench-")));
    const at = (name) => join(folder, name);
    const folders = { home: at("home"), backend: at("backend"), temporary: at("temporary") };
    const modules = join(at("project"), "node_modules");
    for (const path of [...Object.values(folders), join(modules, "@pulumi"), join(modules, "uptime-floor")])
      await mkdir(path, { recursive: true });
    await symlink(root, join(modules, "pulumi-uptime"));
    await symlink(join(root, "node_modules", "@pulumi", "pulumi"), join(modules, "@pulumi", "pulumi"));
    await writeFile(join(modules, "uptime-floor", "index.js"), floorPackage);
    const plugin = JSON.stringify([{ name: "uptime", path: join(root, "plugin") }]);
    const isNative = kind === "native" || kind === "yaml";
    const settings =
      `name: bench\nruntime: ${kind === "yaml" ? "yaml" : "nodejs"}\n` +
      (isNative ? `plugins: { providers: ${plugin} }\n` : "");
    await writeFile(join(at("project"), "Pulumi.yaml"), settings);
    await writeFile(join(at("project"), "package.json"), '{ "name": "bench", "main": "index.js" }\n');
    const env = { ...engineEnv(engine, folders), UPTIME_BASE_URL: api.url, UPTIME_API_KEY: api.apiKey };
    const program =
      kind === "yaml" ? { file: "Pulumi.yaml", head: settings } : { file: "index.js", head: "" };
    return new Project(folder, env, api, program);
  }

  constructor(folder, env, api, program) {
    this.api = api;
    this.folder = folder;
    this.env = env;
    this.program = program;
  }

  /** Runs a command of the CLI and answers with its wall time in seconds; rejects when it fails. */
  async pulumi(args, env = {}) {
    const started = process.hrtime.bigint();
    const child = spawn("pulumi", [...args, "--non-interactive", "--color", "never"], {
      cwd: join(this.folder, "project"),
      env: { ...this.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (output = (output + chunk).slice(-4000)));
    const watch = watchProvider(child.pid);
    const [code] = await once(child, "close").finally(() => running.delete(child));
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const peak = watch.end();
    if (peak !== undefined) this.peak = Math.max(this.peak ?? 0, peak);
    if (code !== 0) throw new Error(`\`pulumi ${args.join(" ")}\` ended with code ${code}:\n${output}`);
    return seconds;
  }

  write(source) {
    const { file, head } = this.program;
    return writeFile(join(this.folder, "project", file), head + source);
  }

  /** The state of a stack as it is on disk. */
  state(stack) {
    const folder = join(this.folder, "backend", ".pulumi", "stacks", "bench");
    const file = readdirSync(folder).find((name) => new RegExp(`^${stack}\\.json(\\.zst)?$`).test(name));
    return readFileSync(join(folder, file));
  }

  dispose() {
    return rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Looks every quarter of a second how much memory the provider's process under this one has used at most. */
function watchProvider(pid) {
  let provider;
  let peak;
  const timer = setInterval(() => {
    try {
      provider ??= providerUnder(pid);
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${provider}/status`, "utf8")) ?? [];
      if (kilobytes !== undefined) peak = Number(kilobytes) / 1024;
    } catch {
      // Not yet, not any more, or not on this system.
    }
  }, 250);
  return {
    end: () => {
      clearInterval(timer);
      return peak;
    },
  };
}

function providerUnder(ancestor) {
  const parents = new Map();
  const candidates = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      // The name in parentheses may hold anything; the state and the parent follow it.
      const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      parents.set(pid, parent);
      const [program, script = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (/node$/.test(program) && /cmd\/dynamic-provider|plugin\/provider\.cjs$/.test(script))
        candidates.push(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return candidates.find((pid) => {
    for (let at = pid; at !== undefined; at = parents.get(at)) if (at === String(ancestor)) return true;
    return false;
  });
}
