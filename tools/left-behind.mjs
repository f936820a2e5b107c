// Finds the processes that a run of the tests has started, by a variable that each of them inherits.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** No tool's own prefix, or the engine's environment would be made without it. */
const variable = "TESTS_OF_PULUMI_UPTIME";

/** The environment whose processes `processesOf` finds under this mark. */
export const marked = (mark) => ({ [variable]: mark });

/**
 * The processes of a run that are there, but for this one and the ones over it.
 * @returns undefined on a system that does not show the environment of processes.
 */
export function processesOf(mark) {
  if (process.platform !== "linux") return undefined;
  const entry = `${variable}=${mark}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(entry)) return [];
        // What has ended, and is not yet asked for its end by the one that started it.
        if (/^State:\s*Z/m.test(readFileSync(`/proc/${name}/status`, "utf8"))) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return [{ pid: Number(name), command, folder: readlinkSync(`/proc/${name}/cwd`) }];
      } catch {
        return []; // It has ended meanwhile, or is somebody else's.
      }
    });
}

/**
 * Ends what is left of a run.
 * @returns what was left after some seconds in which it could have ended by itself; undefined if nobody can tell.
 */
export async function endProcessesOf(mark, seconds = 10) {
  let left = processesOf(mark);
  for (let waited = 0; left && left.length > 0 && waited < seconds * 10; waited++) {
    await sleep(100);
    left = processesOf(mark);
  }
  for (const { pid } of left ?? []) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  return left;
}
