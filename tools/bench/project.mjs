// A Pulumi project in a temporary folder, whose commands are measured.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { newProject } from "../engine/env.mjs";
import { root } from "../shared.mjs";
import { programs, yamlOf } from "./programs.mjs";

const running = new Set();
const projects = new Set();

/** Ends the commands that still run. */
export function killAll() {
  for (const child of running) child.kill("SIGTERM");
}

/** Removes the projects that are left. */
export async function disposeAll() {
  killAll();
  for (const project of projects) await project.dispose();
}

/** A project with an API and an account of its own: what else is in an account is listed too. */
export class Project {
  /** @param kind of its program, as in `programs` */
  static async create(engine, kind) {
    const { folder, env } = await newProject(engine, "bench");
    const api = fork(join(root, "tools", "bench", "api.mjs"));
    const [{ url, apiKey }] = await once(api, "message");
    const own = { ...env, UPTIME_BASE_URL: url, UPTIME_API_KEY: apiKey };
    const project = new Project(folder, own, api, kind);
    projects.add(project);
    const modules = join(folder, "project", "node_modules");
    await mkdir(join(modules, "@pulumi"), { recursive: true });
    await symlink(root, join(modules, "pulumi-uptime"));
    await symlink(join(root, "node_modules", "@pulumi", "pulumi"), join(modules, "@pulumi", "pulumi"));
    await symlink(join(root, "tools", "bench", "floor"), join(modules, "uptime-floor"));
    await project.lay("Pulumi.yaml", project.settings);
    await project.lay("package.json", '{ "name": "bench", "main": "index.js" }\n');
    await project.lay("index.js", programs[kind] ?? "");
    return project;
  }

  constructor(folder, env, api, kind) {
    this.folder = folder;
    this.env = env;
    this.api = api;
    this.isYaml = kind === "yaml";
    const plugin = JSON.stringify([{ name: "uptime", path: join(root, "plugin") }]);
    this.settings =
      `name: bench\nruntime: ${this.isYaml ? "yaml" : "nodejs"}\n` +
      (kind === "native" || this.isYaml ? `plugins: { providers: ${plugin} }\n` : "");
  }

  /** Sets the API's latency and a limit, and answers with the number of requests since the last time, and of reads among them. */
  async takeCounts(latency, requestsPerMinute) {
    this.api.send({ latency, requestsPerMinute });
    const [counts] = await once(this.api, "message");
    return counts;
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
    if (code !== 0) throw new Error(`\`pulumi ${args.join(" ")}\` ended with code ${code}:\n${output}`);
    return { seconds, used };
  }

  /** Has the program declare these. */
  write(monitors) {
    return this.isYaml
      ? this.lay("Pulumi.yaml", this.settings + yamlOf(monitors))
      : this.lay("monitors.json", JSON.stringify(monitors));
  }

  lay(file, text) {
    return writeFile(join(this.folder, "project", file), text);
  }

  /** The state as it is on disk. */
  state() {
    return readFileSync(join(this.folder, "backend", ".pulumi", "stacks", "bench", "bench.json"), "utf8");
  }

  async dispose() {
    projects.delete(this);
    this.api.disconnect();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
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
