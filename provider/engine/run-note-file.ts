import {
  appendFileSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  type Stats,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { UptimeError } from "../api/errors";
import { getOrMake } from "../common/values";
import { hexHash } from "../common/hash";
import { noNote, verbs, type NoteLine, type RunNote, type NoteVerb } from "../lifecycle/run-note";

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** @param engine host and port of the engine that has started the run; without one there are no other processes */
export function openRunNote(engine: string | undefined): RunNote {
  return engine === undefined ? noNote : new NoteFile(engine);
}

/**
 * The note of a run, in a file that only this user can read. The file is named after the engine's address, which an earlier run may
 * have had too. So this process first skips all lines before the first one whose writer still runs. All later lines count, even if
 * their writer has crashed.
 */
class NoteFile implements RunNote {
  private readonly folder: string;
  private readonly path: string;
  private readonly writer: string;
  private readonly lines = new Map<string, NoteLine[]>();
  /** The file that was read, and how many of its bytes. */
  private inode: number | undefined;
  private offset = 0;
  /** Whether the next line that is read is of this run, and not of an earlier one. */
  private hasReachedThisRun = false;

  constructor(engine: string) {
    // By user id, because a container's user may have no name. On Windows each user has a folder for temporary files.
    this.folder = join(tmpdir(), `pulumi-uptime-${process.getuid?.() ?? "user"}`);
    this.path = join(this.folder, hexHash(engine, 32));
    this.writer = `${processName(process.pid)}#${++runsServed}`;
    this.hasReachedThisRun = this.readNew() === undefined;
  }

  isOwn({ writer }: NoteLine): boolean {
    return writer === this.writer;
  }

  add(line: Omit<NoteLine, "writer">): void {
    const { verb, address, recordKey, keyFingerprint, claim, identity } = line;
    const parts = [verb, address, recordKey, keyFingerprint, claim, this.writer, identity];
    try {
      // Nothing was read yet, so there may be no folder.
      if (this.offset === 0) this.openFolder();
      const text = parts.filter((part) => part !== undefined).join(" ");
      // It begins with a line break, because on a full disk another process may have written half a line.
      appendFileSync(this.path, `\n${text}\n`, { mode: 0o600 });
    } catch (error) {
      throw this.failure(error);
    }
  }

  linesAbout(recordKey: string): readonly NoteLine[] {
    const problem = this.readNew();
    if (problem) throw problem;
    return this.lines.get(recordKey) ?? [];
  }

  /** Reads the lines that are new. Returns why that is not possible. */
  private readNew(): UptimeError | undefined {
    try {
      this.assertPrivate();
      this.read();
      return undefined;
    } catch (error) {
      return this.failure(error);
    }
  }

  /** Throws if there is a folder that is not this user's alone. */
  private assertPrivate(): void {
    const stats = lstatSync(this.folder, { throwIfNoEntry: false });
    const problem = stats && problemOfFolder(stats);
    if (problem !== undefined) throw new Error(problem);
  }

  private failure(cause: unknown): UptimeError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new UptimeError(
      `The provider processes of this run cannot coordinate, because the folder ${this.folder} cannot be used (${reason}). Set TMPDIR (on Windows, TEMP) to a folder that this user can write.`,
      { cause },
    );
  }

  private openFolder(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.assertPrivate();
    for (const name of readdirSync(this.folder)) removeIfOld(join(this.folder, name));
  }

  /** Reads what is new, because the file is searched several times for each resource. */
  private read(): void {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    if (!stats || (stats.ino === this.inode && stats.size === this.offset)) return;
    if (stats.ino !== this.inode || stats.size < this.offset) {
      this.lines.clear();
      this.offset = 0;
      this.inode = stats.ino;
    }
    const file = openSync(this.path, "r");
    try {
      const bytes = Buffer.alloc(stats.size - this.offset);
      const text = bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, this.offset));
      // Another process may have written only a part of the last line.
      const end = text.lastIndexOf("\n") + 1;
      for (const line of linesIn(text.slice(0, end))) {
        const isOwn = this.isOwn(line);
        this.hasReachedThisRun ||= isOwn || isRunning(line.writer);
        const isOfFormerRun = isOfThisProcess(line.writer) && !isOwn;
        if (this.hasReachedThisRun && !isOfFormerRun)
          getOrMake(this.lines, line.recordKey, () => []).push(line);
      }
      this.offset += end;
    } finally {
      closeSync(file);
    }
  }
}

/** How many runs this process has served: an attached plugin serves several, and its lines of earlier runs are void. */
let runsServed = 0;

function* linesIn(text: string): Generator<NoteLine> {
  for (const line of text.split("\n")) {
    const [verb, address = "", kind, id, keyFingerprint = "", claim = "", writer, identity] = line.split(" ");
    if (isVerb(verb) && writer !== undefined)
      yield { verb, address, recordKey: `${kind} ${id}`, keyFingerprint, claim, writer, identity };
  }
}

const isVerb = (word: string | undefined): word is NoteVerb => verbs.some((verb) => verb === word);

/** Why a folder cannot be trusted: anybody may have created it, and would own it. */
function problemOfFolder(stats: Stats): string | undefined {
  if (process.getuid === undefined) return undefined;
  if (!stats.isDirectory()) return "it is not a folder";
  if (stats.uid !== process.getuid()) return "it belongs to another user";
  return (stats.mode & 0o022) === 0 ? undefined : "others may write it";
}

/** Removes the note of a run that is over: nobody has written it for a day, and no writer runs. */
function removeIfOld(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs < dayMilliseconds) return;
    const writers = new Set(Array.from(linesIn(readFileSync(path, "latin1")), ({ writer }) => writer));
    if (![...writers].some(isRunning)) rmSync(path);
  } catch {
    // Another process may have removed it.
  }
}

/**
 * Identifies a process by its id and start time, because ids are used again. Undefined if no process has the id. Only Linux
 * has the start time in a file, and not everywhere.
 */
export function processName(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch {
    return undefined;
  }
  try {
    // The 22nd field. The second one is a name in parentheses that may contain spaces and parentheses.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "");
    return `${pid}@${fields.split(" ")[19]}`;
  } catch {
    return `${pid}@`;
  }
}

const isOfThisProcess = (writer: string): boolean => Number.parseInt(writer) === process.pid;

/** Whether another process that has written a line still runs. */
function isRunning(writer: string): boolean {
  const [name = ""] = writer.split("#");
  return !isOfThisProcess(writer) && name === processName(Number.parseInt(name));
}
