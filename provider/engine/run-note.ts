import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { message, messageOf, UptimeError } from "../api/errors";
import type { RunNote } from "../lifecycle/record-scope";
import { noNote } from "../lifecycle/session";

/**
 * Opens a file that the processes of one run share. It says which records their resources have, because one process may adopt,
 * import or delete a record that a resource of another one has: each explicit provider is a process, and so is the host of
 * dynamic resources. Only this user can read the file. A line counts while the process that wrote it runs, and of several
 * lines with a name the first one counts. A line about a record in state also has the resource's claim.
 *
 * @param address host and port of the engine that has started the run; without one there are no other processes
 */
export function openRunNote(address: string | undefined): RunNote {
  if (address === undefined) return noNote;
  // By user id, because a container's user may have no name. On Windows each user has a folder for temporary files.
  const folder = join(tmpdir(), `pulumi-uptime-${process.getuid?.() ?? "user"}`);
  const path = join(folder, hashOf(address));
  const lines = new NoteLines(path);
  const held = new Set<string>();
  const write = (name: string, claim?: string): void => {
    try {
      if (!written.has(lines)) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isOwn(folder)) throw new Error("it belongs to another user");
      }
      const line = [thisProcess, hashOf(name), ...(claim === undefined ? [] : [hashOf(claim)])];
      appendFileSync(path, `${line.join(" ")}\n`, { mode: 0o600 });
    } catch (error) {
      throw new UptimeError(
        message`Nothing was adopted or imported, because the processes of this run could not be told: the folder ${folder} cannot be written (${messageOf(error)}). Set TMPDIR to a folder that can.`,
        { cause: error },
      );
    }
    written.add(lines);
  };
  return {
    reserve(name) {
      write(name);
      if (lines.writerOf(name) === thisProcess) return;
      throw new UptimeError(
        "Nothing was adopted or imported, because a resource of another provider has the record. Remove one of the two from the program.",
      );
    },
    hold(name, claim) {
      const line = JSON.stringify([name, claim]);
      if (held.has(line)) return;
      held.add(line);
      try {
        write(name, claim);
      } catch {
        // This matters only if another process adopts or imports the record.
      }
    },
    isHeldElsewhere(name, claim) {
      if (!isOwn(folder)) return false;
      return ![undefined, thisProcess].includes(lines.writerOf(name, claim));
    },
  };
}

/** The notes that this process has written: an attached plugin serves several runs. */
const written = new Set<NoteLines>();

// The last process of a run removes its note.
process.once("exit", () => {
  for (const lines of written) if (!lines.hasOtherWriters()) rmSync(lines.path, { force: true });
});

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Whether a folder belongs to this user. Another one may have created it first. */
function isOwn(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  } catch {
    return false;
  }
}

/**
 * Identifies a process by its id and start time, because ids are used again. Undefined if no process has the id. Only Linux
 * has the start time in a file.
 */
export function processName(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    // The 22nd field. The second one is a name in parentheses that may contain spaces and parentheses.
    const isLinux = process.platform === "linux";
    const start = isLinux
      ? readFileSync(`/proc/${pid}/stat`, "latin1")
          .replace(/^.*\) /s, "")
          .split(" ")[19]
      : "";
    return `${pid}@${start}`;
  } catch {
    return undefined;
  }
}

const thisProcess = processName(process.pid);

interface Line {
  readonly writer: string;
  /** A hash of the claim, if the record is in state. */
  readonly claim: string | undefined;
}

/** The lines of a note. It is searched once for each resource, so only new lines are read. */
class NoteLines {
  /** How many bytes were read. */
  private offset = 0;
  private readonly lines = new Map<string, Line[]>();

  constructor(readonly path: string) {}

  /** The first process that has written a name. A line of another process with the given claim does not count. */
  writerOf(name: string, claim?: string): string | undefined {
    this.read();
    const same = claim === undefined ? undefined : hashOf(claim);
    const counts = (line: Line): boolean =>
      isRunning(line.writer) &&
      (line.writer === thisProcess || line.claim === undefined || line.claim !== same);
    return this.lines.get(hashOf(name))?.find(counts)?.writer;
  }

  /** Whether another process that runs has written a name. */
  hasOtherWriters(): boolean {
    this.read();
    const writers = new Set([...this.lines.values()].flat().map(({ writer }) => writer));
    return [...writers].some((writer) => writer !== thisProcess && isRunning(writer));
  }

  private read(): void {
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.offset) {
      this.offset = 0;
      this.lines.clear();
    }
    if (size > this.offset) this.parse(textOf(this.path, this.offset, size));
  }

  private parse(text: string): void {
    // Another process may have written only a part of the last line.
    const end = text.lastIndexOf("\n") + 1;
    for (const line of text.slice(0, end).split("\n").slice(0, -1)) {
      const [writer = "", hash = "", claim] = line.split(" ");
      this.lines.set(hash, [...(this.lines.get(hash) ?? []), { writer, claim }]);
    }
    this.offset += end;
  }
}

function textOf(file: string, start: number, end: number): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(end - start);
    return bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, bytes.length, start));
  } finally {
    closeSync(descriptor);
  }
}

function isRunning(writer: string): boolean {
  return writer === thisProcess || writer === processName(Number.parseInt(writer));
}
