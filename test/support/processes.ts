import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
  /** Both, in the order in which they were printed. */
  output: string;
}

/** A program that is still running, for tests that interrupt or kill it. */
export interface Started {
  child: ChildProcess;
  /** What it prints first. */
  firstLine: Promise<string>;
  done: Promise<Result>;
}

export interface StartOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** "pipe" is held open by this process. */
  stdin?: "pipe" | "ignore";
  /** As a terminal starts it: a signal to its process group reaches whatever it has started there. */
  detached?: boolean;
}

/** Starts a program, which is killed after the test. */
export function startProgram(command: string, args: readonly string[], options: StartOptions = {}): Started {
  const { stdin = "ignore", ...rest } = options;
  const child = spawn(command, args, { ...rest, stdio: [stdin, "pipe", "pipe"] });
  running.add(child);
  child.stdin?.on("error", () => {
    // It ended without reading.
  });
  const result: Result = { code: -1, stdout: "", stderr: "", output: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      result[name] += text;
      result.output += text;
    });
  const done = new Promise<Result>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(child);
      resolve({ ...result, code: code ?? -1 });
    });
  });
  const firstLine = new Promise<string>((resolve) => child.stdout?.once("data", resolve));
  return { child, firstLine, done };
}

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The processes that have this variable in their environment; only Linux shows which. */
export function processesWith(name: string, value: string): Process[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      const read = (file: string): string[] => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
      try {
        if (!read("environ").includes(`${name}=${value}`)) return [];
        return [{ pid: Number(pid), command: read("cmdline").join(" ") }];
      } catch {
        // It has ended meanwhile, or is somebody else's.
        return [];
      }
    });
}

export function endAll(processes: readonly Process[]): void {
  for (const { pid } of processes)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
}
