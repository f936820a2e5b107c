import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ApiRecord } from "../api/answer";
import { message, messageOf, quoteId, UptimeError } from "../api/errors";
import type { Address } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Claim } from "./resource";
import { shownIdentity } from "./difference";

/** What the processes of a run tell each other: an entry for each record that one of their resources owns. */
export interface RunNote {
  /** Adds an entry for a resource of this process. Throws if another process was first, or cannot learn of it. */
  reserve(entry: string): void;
  /**
   * Adds an entry for a resource of this process. The other processes may not learn of it.
   *
   * @param claim the resource's claim, if it has the record in state
   */
  add(entry: string, claim?: Claim): void;
  /**
   * Whether another process was the first to add an entry.
   *
   * @param claim the claim of the resource that asks: with the same claim, the other process has the same resource
   */
  isOthers(entry: string, claim?: Claim): boolean;
}

/** For a process that shares no note: a command, or a lookup in a program. */
export const noNote: RunNote = {
  reserve: () => undefined,
  add: () => undefined,
  isOthers: () => false,
};

/** What the processes of a run tell each other about the records of one kind at one address. */
export class RecordNote {
  constructor(
    private readonly note: RunNote,
    private readonly definition: Definition,
    private readonly address: Address,
    private readonly keyFingerprint: string,
  ) {}

  /**
   * Tells that a resource of this process owns a record.
   *
   * @param claim the resource's claim, if it has the record in state
   */
  addOwned(id: string, claim?: Claim): void {
    this.note.add(this.entryForAccount(id), claim);
  }

  /** Tells that a resource of this process has created a record. Throws if another process adopted it before the answer came. */
  addCreated(id: string): void {
    this.addOwned(id);
    let isAdopted = false;
    try {
      isAdopted = this.isOwnedElsewhere(id);
    } catch {
      // State must get the new record, even if the note cannot be read.
    }
    if (isAdopted)
      throw new UptimeError(
        message`${this.definition.label} ${quoteId(id)} was created, but a resource of another provider has adopted it
          meanwhile: two resources that are equal cannot both have it. Give them different names, or remove one.`,
      );
  }

  /** Reserves an existing record for a resource of this process. Throws if another process was first, or cannot learn of it. */
  reserve(record: ApiRecord): void {
    this.note.add(this.entryForId(record.id));
    this.note.reserve(this.entryForRecord(record));
    this.note.reserve(this.entryForAccount(record.id));
  }

  /**
   * Whether a resource of another process with the same key owns a record.
   *
   * @param claim the claim of the resource that asks, if it has the record in state: it may be moving to the other process,
   *   where it has the same claim
   */
  isOwnedElsewhere(id: string, claim?: Claim): boolean {
    return this.note.isOthers(this.entryForAccount(id), claim);
  }

  /**
   * Whether another process with any key has reserved a record.
   *
   * @param record the record itself; without it, another account's record with the same id counts too
   */
  isReservedElsewhere(id: string, record?: ApiRecord): boolean {
    return this.note.isOthers(record ? this.entryForRecord(record) : this.entryForId(id));
  }

  /** The entry for processes with the same key. */
  private entryForAccount(id: string): string {
    return `${this.keyFingerprint} ${this.entryForId(id)}`;
  }

  /** The entry for all processes. It includes what the record shows, because two accounts of a server may use the same ids. */
  private entryForRecord(record: ApiRecord): string {
    return `${this.entryForId(record.id)} ${shownIdentity(this.definition, record)}`;
  }

  /**
   * The entry for all records with an id, in whatever account. Without it, each delete would first have to read its record,
   * to know whether that is one that another process has reserved.
   */
  private entryForId(id: string): string {
    return `${this.address.hash} ${this.definition.plural} ${id}`;
  }
}

/**
 * Opens a file that the processes of one run share. It says which records their resources own, because one process may adopt,
 * import or delete a record that a resource of another one owns: each explicit provider is a process, and so is the host of
 * dynamic resources. Only this user can read the file. A line counts while the process that wrote it runs, and of several
 * lines with the same entry the first one counts. A line about a record in state also has the resource's claim.
 *
 * @param address host and port of the engine that has started the run; without one there are no other processes
 */
export function openRunNote(address: string | undefined): RunNote {
  if (address === undefined) return noNote;
  // By user id, because a container's user may have no name. On Windows each user has a folder for temporary files.
  const folder = join(tmpdir(), `pulumi-uptime-${process.getuid?.() ?? "user"}`);
  const path = join(folder, hashOf(address));
  const lines = new NoteLines(path);
  const known = new Set<string>();
  const write = (entry: string, claim?: Claim): void => {
    try {
      if (!written.has(lines)) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isOwn(folder)) throw new Error("it belongs to another user");
      }
      const line = [thisProcess, hashOf(entry), ...(claim === undefined ? [] : [hashOf(claim)])];
      appendFileSync(path, `${line.join(" ")}\n`, { mode: 0o600 });
    } catch (error) {
      throw new UptimeError(
        message`Nothing was adopted or imported, because the processes of this run could not be told: the folder ${folder} cannot be written (${messageOf(error)}). Set TMPDIR to a folder that can.`,
        { cause: error },
      );
    }
    if (written.size === 0) process.once("exit", removeWhenLast);
    written.add(lines);
  };
  return {
    reserve(entry) {
      write(entry);
      if (lines.writerOf(entry) === thisProcess) return;
      throw new UptimeError(
        "Nothing was adopted or imported, because a resource of another provider has the record. Remove one of the two from the program.",
      );
    },
    add(entry, claim) {
      const line = JSON.stringify([entry, claim]);
      if (known.has(line)) return;
      known.add(line);
      try {
        write(entry, claim);
      } catch {
        // This matters only if another process adopts or imports the record.
      }
    },
    isOthers(entry, claim) {
      if (!isOwn(folder)) return false;
      return ![undefined, thisProcess].includes(lines.writerOf(entry, claim));
    },
  };
}

/** The notes that this process has written: an attached plugin serves several runs. */
const written = new Set<NoteLines>();

/** The last process of a run removes its note. */
function removeWhenLast(): void {
  for (const lines of written) if (!lines.hasOtherWriters()) rmSync(lines.path, { force: true });
}

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

  /** The first process that has written an entry. A line of another process with the given claim does not count. */
  writerOf(entry: string, claim?: Claim): string | undefined {
    this.read();
    const same = claim === undefined ? undefined : hashOf(claim);
    const counts = (line: Line): boolean =>
      isRunning(line.writer) &&
      (line.writer === thisProcess || line.claim === undefined || line.claim !== same);
    return this.lines.get(hashOf(entry))?.find(counts)?.writer;
  }

  /** Whether another process that runs has written an entry. */
  hasOtherWriters(): boolean {
    this.read();
    const writers = new Set([...this.lines.values()].flat().map(({ writer }) => writer));
    return [...writers].some((writer) => writer !== thisProcess && isRunning(writer));
  }

  private read(): void {
    const file = openIfThere(this.path);
    try {
      const size = file === undefined ? 0 : fstatSync(file).size;
      if (size < this.offset) {
        this.offset = 0;
        this.lines.clear();
      }
      if (file !== undefined && size > this.offset) this.parse(textOf(file, this.offset, size));
    } finally {
      if (file !== undefined) closeSync(file);
    }
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

/** Opens the note, which the last process of a run removes. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}

function textOf(file: number, start: number, end: number): string {
  const bytes = Buffer.alloc(end - start);
  return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, start));
}

function isRunning(writer: string): boolean {
  return writer === thisProcess || writer === processName(Number.parseInt(writer));
}
