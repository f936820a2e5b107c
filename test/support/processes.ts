import { readdirSync, readFileSync } from "node:fs";

/** Ends the processes that have this variable in their environment; only Linux shows who does. */
export function endProcessesWith(name: string, value: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry)))
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (variables.includes(`${name}=${value}`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
}
