import { existsSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import type { SavedTable, StoredRecord, Table } from "./table";

const quietMilliseconds = 100;

interface Tables {
  readonly domains: Table;
  readonly monitors: Table;
}

function isRecord(value: unknown): value is StoredRecord {
  return typeof value === "object" && value !== null && "id" in value && Number.isSafeInteger(value.id);
}

function isSavedTable(value: unknown): value is SavedTable {
  if (typeof value !== "object" || value === null) return false;
  if (!("nextId" in value && "records" in value)) return false;
  return Number.isSafeInteger(value.nextId) && Array.isArray(value.records) && value.records.every(isRecord);
}

function parse(text: string): { domains: SavedTable; monitors: SavedTable } | undefined {
  try {
    const saved: unknown = JSON.parse(text);
    if (typeof saved !== "object" || saved === null || !("domains" in saved && "monitors" in saved))
      return undefined;
    const { domains, monitors } = saved;
    return isSavedTable(domains) && isSavedTable(monitors) ? { domains, monitors } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps tables in a JSON file: written a moment after a change, many changes at once, and on `flush`. */
export class StateFile {
  readonly #path: string;
  readonly #tables: Tables;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, tables: Tables) {
    this.#path = path;
    this.#tables = tables;
  }

  /**
   * Reads the file into the tables; a file that does not exist is an empty one.
   * @throws {Error} when the file is not one that the emulator has written.
   */
  load(): void {
    if (!existsSync(this.#path)) return;
    const saved = parse(readFileSync(this.#path, "utf8"));
    if (saved === undefined)
      throw new Error(`${this.#path} is not a file of the emulator: move it away or give another --file.`);
    this.#tables.domains.restore(saved.domains);
    this.#tables.monitors.restore(saved.monitors);
  }

  /** Has the file written soon. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) => {
        console.error(`The emulator could not write ${this.#path}: ${String(error)}`);
      });
    }, quietMilliseconds).unref();
  }

  /** Writes the file now, after what is being written already. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const writing = this.#writing.catch(() => undefined).then(() => this.#write());
    this.#writing = writing;
    await writing;
  }

  async #write(): Promise<void> {
    const { domains, monitors } = this.#tables;
    const part = `${this.#path}.part`;
    const text = `${JSON.stringify({ domains: domains.save(), monitors: monitors.save() })}\n`;
    // Records have passwords, so only this user may read them. The file is always a new one: a link that somebody has put in
    // its place is not followed.
    await rm(part, { force: true });
    await writeFile(part, text, { mode: 0o600, flag: "wx" });
    await rename(part, this.#path);
  }
}
