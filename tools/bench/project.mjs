// A Pulumi project in a temporary folder, whose commands are measured.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { newProject } from "../engine/env.mjs";
import { root } from "../main.mjs";
import { floorPackage, sendingFloorPackage } from "./programs.mjs";

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
    const { folder, project, env } = await newProject(engine, "bench");
    const modules = join(project, "node_modules");
    for (const name of ["@pulumi", "uptime-floor"]) await mkdir(join(modules, name), { recursive: true });
    await symlink(root, join(modules, "pulumi-uptime"));
    await symlink(join(root, "node_modules", "@pulumi", "pulumi"), join(modules, "@pulumi", "pulumi"));
    await symlink(join(root, "node_modules", "undici"), join(modules, "undici"));
    await writeFile(join(modules, "uptime-floor", "index.js"), floorPackage);
    await writeFile(join(modules, "uptime-floor", "sending.js"), sendingFloorPackage);
    const plugin = JSON.stringify([{ name: "uptime", path: join(root, "plugin") }]);
    const isNative = kind === "native" || kind === "yaml";
    const settings =
      `name: bench\nruntime: ${kind === "yaml" ? "yaml" : "nodejs"}\n` +
      (isNative ? `plugins: { providers: ${plugin} }\n` : "");
    await writeFile(join(project, "Pulumi.yaml"), settings);
    await writeFile(join(project, "package.json"), '{ "name": "bench", "main": "index.js" }\n');
    Object.assign(env, { UPTIME_BASE_URL: api.url, UPTIME_API_KEY: api.apiKey });
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

  /**
   * Runs a command of the CLI. Answers with its wall time in seconds and with what its parts have used; rejects when it
   * fails.
   */
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
    const watch = watchProcesses(child.pid);
    const [code] = await once(child, "close").finally(() => running.delete(child));
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const used = watch.end();
    const peak = used.provider?.peak;
    if (peak !== undefined) this.peak = Math.max(this.peak ?? 0, peak);
    if (code !== 0) throw new Error(`\`pulumi ${args.join(" ")}\` ended with code ${code}:\n${output}`);
    return { seconds, used };
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

/** What each part of a command has used: the CLI, the program with its language host, the provider. */
const roles = [
  ["provider", /cmd\/dynamic-provider|plugin\/provider\.cjs/],
  ["program", /pulumi-language-|cmd\/run/],
];
const clockTicks = 100;

/**
 * Looks ten times a second what the processes of a command have used: CPU seconds, and MB of memory at most. Empty where there is
 * no /proc.
 */
function watchProcesses(root) {
  const seen = new Map([[String(root), { role: "cli", seconds: 0, peak: 0 }]]);
  const look = () => {
    for (const pid of pids())
      try {
        const [parent, seconds] = statOf(pid);
        if (!seen.has(pid) && !seen.has(parent)) continue;
        // A wrapper becomes the program that it starts, so this is asked each time.
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        const inherited = (seen.get(pid) ?? seen.get(parent)).role;
        const [role = inherited] = roles.find(([, pattern]) => pattern.test(command)) ?? [];
        const [, kilobytes = "0"] =
          /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
        // One that ends has no memory any more.
        const peak = Math.max(seen.get(pid)?.peak ?? 0, Number(kilobytes) / 1024);
        seen.set(pid, { role, seconds, peak });
      } catch {
        // It has ended meanwhile.
      }
  };
  const timer = setInterval(look, 100);
  return {
    end: () => {
      clearInterval(timer);
      const used = {};
      for (const { role, seconds, peak } of seen.values()) {
        const sum = (used[role] ??= { seconds: 0, peak: 0 });
        sum.seconds += seconds;
        sum.peak = Math.max(sum.peak, peak);
      }
      return used;
    },
  };
}

function pids() {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The parent of a process, and the CPU seconds that it has used. */
function statOf(pid) {
  // The name in parentheses may hold anything; the state and the parent follow it.
  const [, rest] = /^.*\) \S (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = rest.split(" ");
  return [fields[0], (Number(fields[10]) + Number(fields[11])) / clockTicks];
}
