import { readdirSync, readFileSync } from "node:fs";

interface Process {
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

/** Ends them. */
export function endProcessesWith(name: string, value: string): void {
  for (const { pid } of processesWith(name, value))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
}
