import type { Clock } from "./clock";
import { counted } from "./text";

/** A shorter wait does not look like a hang. */
const firstMs = 10_000;
/** Often enough to show progress, and rarely enough for the log of a CI job. */
const againMs = 30_000;

/** The requests that a rate limit holds back. */
export interface Backlog {
  /** Since when, on the clock. */
  readonly since: number;
  readonly reason: string;
  /** How many requests wait. */
  readonly waiting: number;
  /** The URN of the first resource that waits, if the engine passes it. */
  readonly urn: string | undefined;
}

/** Shows a line that need not be kept after the wait. */
export type ShowWait = (line: string, urn: string | undefined) => unknown;

/** Shows progress while a rate limit holds back the requests of this process. */
export class WaitNotices {
  /** How many requests were answered. */
  private done = 0;
  private readonly backlogs = new Set<() => Backlog>();
  private waking: AbortController | undefined;

  constructor(
    private readonly clock: Pick<Clock, "now" | "sleep">,
    private readonly show: ShowWait,
  ) {}

  /** A request was answered. */
  noteDone(): void {
    this.done++;
  }

  /** Requests are held back from now on. */
  begin(backlog: () => Backlog): void {
    this.backlogs.add(backlog);
    if (!this.waking) this.wake(firstMs);
  }

  /** Nothing is held back any more. */
  end(backlog: () => Backlog): void {
    this.backlogs.delete(backlog);
    if (this.backlogs.size > 0) return;
    // A running timer would keep the process alive.
    this.waking?.abort();
    this.waking = undefined;
  }

  private wake(milliseconds: number): void {
    const waking = (this.waking = new AbortController());
    void this.clock.sleep(milliseconds, waking.signal).then(
      () => {
        if (this.waking !== waking) return;
        this.tell();
        this.wake(againMs);
      },
      () => undefined,
    );
  }

  private tell(): void {
    const backlogs = [...this.backlogs].map((backlog) => backlog());
    const [first] = backlogs.sort((one, other) => one.since - other.since);
    if (!first) return;
    const seconds = counted(Math.round((this.clock.now() - first.since) / 1000), "second");
    const waiting = backlogs.reduce((sum, backlog) => sum + backlog.waiting, 0);
    this.show(
      `waiting for ${first.reason}, for ${seconds} so far: ${counted(this.done, "request")} done, ${waiting} waiting`,
      first.urn,
    );
  }
}
