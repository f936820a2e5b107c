import { createHash } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { message, messageOf, UptimeError } from "../api/errors";
import type { Neighbors } from "../lifecycle/account";

/**
 * A note that the processes of one run share: which records they have adopted or imported. Each explicit provider is a
 * process, and so is the host of dynamic resources, and one may delete what another one has just got. Only this user can
 * read it. A line counts as long as the process that wrote it runs, which it does until the run ends. Of several lines about
 * a record the first one counts.
 *
 * @param engineAddress host and port of the engine that has started the run; without one there are no other processes
 */
export function runNote(engineAddress: () => string | undefined): Neighbors {
  const file = (): string | undefined => {
    const address = engineAddress();
    if (address === undefined) return undefined;
    // A container's user may have no name. On Windows, which has no such ids, each user has a folder for temporary files.
    return join(tmpdir(), `pulumi-uptime-${process.getuid?.() ?? "user"}`, hashOf(address));
  };
  const written = new Set<string>();
  return {
    tell(record) {
      const path = file();
      if (path === undefined) return;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        if (!isOwn(dirname(path))) throw new Error("it belongs to another user");
        appendFileSync(path, `${process.pid} ${hashOf(record)}\n`, { mode: 0o600 });
      } catch (error) {
        throw new UptimeError(
          message`Nothing was adopted or imported, because the processes of this run could not be told: the folder ${dirname(path)} cannot be written (${messageOf(error)}). Set TMPDIR to a folder that can.`,
          { cause: error },
        );
      }
      // All processes of a run end with it.
      if (!written.has(path))
        process.once("exit", () => {
          rmSync(path, { force: true });
        });
      written.add(path);
      if (holderOf(record, path) !== process.pid)
        throw new UptimeError(
          "Nothing was adopted or imported, because another resource of this run has adopted or imported it. Remove one of the two from the program.",
        );
    },
    have(record) {
      const path = file();
      if (path === undefined || !isOwn(dirname(path))) return false;
      return ![undefined, process.pid].includes(holderOf(record, path));
    },
  };
}

/** The process that has told a record first. */
function holderOf(record: string, file: string): number | undefined {
  const wanted = hashOf(record);
  const pids = linesOf(file)
    .map((line) => line.split(" "))
    .flatMap(([pid, hash]) => (hash === wanted ? [Number(pid)] : []));
  return pids.find(isRunning);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Whether nobody else could have put the folder there. */
function isOwn(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  } catch {
    return false;
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    // Nothing was adopted or imported in this run.
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
