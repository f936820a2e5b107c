import { existsSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import * as z from "zod/mini";
import { resources } from "./resources";
import type { Tables } from "./table";

const quietMilliseconds = 100;

const savedTable = z.object({ nextId: z.int(), records: z.array(z.looseObject({ id: z.int() })) });
const savedTables = z.record(z.enum(resources.map(({ collection }) => collection)), savedTable);

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
    try {
      const saved = savedTables.parse(JSON.parse(readFileSync(this.#path, "utf8")));
      for (const { collection } of resources) this.#tables[collection].restore(saved[collection]);
    } catch (error) {
      const advice = "move it away or give another --file.";
      throw new Error(`${this.#path} is not a file of the emulator: ${advice}`, { cause: error });
    }
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
    const part = `${this.#path}.part`;
    const tables = resources.map(({ collection }) => [collection, this.#tables[collection].save()]);
    const text = `${JSON.stringify(Object.fromEntries(tables))}\n`;
    // Records have passwords, so only this user may read them. The file is always a new one: a link that somebody has put in
    // its place is not followed.
    await rm(part, { force: true });
    await writeFile(part, text, { mode: 0o600, flag: "wx" });
    await rename(part, this.#path);
  }
}
