import { setImmediate as nextTurn } from "node:timers/promises";

import { KeyRefusedError, UptimeError } from "../api/errors";
import { counted } from "../common/text";
import { Session } from "../lifecycle/session";

/** More lines would push errors off the screen. */
const maxAnnouncements = 19;

interface NamesakeNotice {
  readonly text: string;
  readonly isStillFree: () => boolean;
  /** The setting by which equal records are adopted, which is the same for all resources of a process. */
  readonly adoptSetting: string;
}

/** What the fronts of a process share: the operations that run, and what a run tells people only once, or only so often. */
export class FrontSession extends Session {
  /** A program has declared a resource, so the settings are its own. */
  hasProgram = false;
  /** A program's preview can be run again. `pulumi do` has none. */
  hasPreview = true;
  /** A check has refused inputs. The engine stops at the first one, so the end of the log names `doctor`. */
  hasRefused = false;
  private announced = 0;
  /** Records like new ones: each is told of at the end if it is left then. */
  private namesakes: NamesakeNotice[] = [];
  private readonly running = new Set<Promise<unknown>>();

  /** Runs an operation. {@link idle} waits for it, and until its response is sent. */
  async track<T>(operation: () => T | Promise<T>): Promise<T> {
    const running = (async () => operation())();
    const responded = running.then(respond, respond);
    this.running.add(responded);
    void responded.then(() => this.running.delete(responded));
    return running;
  }

  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  /** Shows an import, an adoption or that a record stays, unless there were many. */
  announce(print: () => void): void {
    if (++this.announced <= maxAnnouncements) print();
  }

  /** Only the first error about a refused key explains what to do; others refer to it. */
  explainKeyOnce(error: unknown): unknown {
    if (!(error instanceof KeyRefusedError)) return error;
    const { keySource } = error;
    if (this.isFirst(`refused ${keySource}`)) return error;
    return new UptimeError(
      `The API does not accept the key from ${keySource}; the error of another resource says what to do.`,
      { cause: error },
    );
  }

  /** Tells once why resources are replaced that get another provider, and what prevents that. */
  explainReplacementOnce(advice: string): void {
    const line = `uptime: Resources that move to another provider are replaced, because its address or key differs. If the account is the same, ${advice}.`;
    if (this.isFirst(line)) this.print(line);
  }

  noteNamesake(namesake: NamesakeNotice): void {
    this.namesakes.push(namesake);
  }

  /** Prints a hint after a refusal, how many announcements were left out, and records that a killed run may have made. */
  printSummary(): void {
    this.tellNamesakes();
    const more = this.announced - maxAnnouncements;
    if (this.hasRefused && this.hasPreview)
      this.print(
        "uptime: `npx --no pulumi-uptime doctor --program .` lists everything that the preview refuses.",
      );
    if (more > 0)
      this.print(
        `uptime: ${counted(more, "more record")} ${more === 1 ? "is" : "are"} imported, adopted or left to another resource; \`npx --no pulumi-uptime doctor --program . --json\` lists what the program imports.`,
      );
    this.announced = 0;
    this.hasRefused = false;
  }

  private tellNamesakes(): void {
    const left = this.namesakes.filter(({ isStillFree }) => isStillFree());
    this.namesakes = [];
    const [first] = left;
    if (!first) return;
    const more = left.length - maxAnnouncements;
    const texts = left.slice(0, maxAnnouncements).map(({ text }) => text);
    const named = texts.join(", ") + (more > 0 ? ` and ${more} more` : "");
    this.print(
      `uptime: Created new records, although records with the same name exist that no resource of this run manages: ${named}. If a ` +
        `killed run has made them, delete them; with ${first.adoptSetting}, equal ones are adopted instead.`,
    );
  }
}

/** The SDK makes the response in the turn in which an operation ends, and gRPC sends it no later than in the next one. */
async function respond(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
