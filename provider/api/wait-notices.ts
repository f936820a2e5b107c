import { counted } from "../definitions/text";
import type { Clock } from "./clock";

/** A shorter wait does not look like a hang. */
const firstNoticeMs = 10_000;
/** Often enough to show progress, and rarely enough for the log of a CI job. */
const nextNoticeMs = 30_000;

/** The requests of one account. */
export interface Backlog {
  /** Since when they are held back, on the clock; infinite if they are not. */
  readonly since: number;
  readonly reason: string;
  /** How many were answered. */
  readonly done: number;
  readonly waiting: number;
  /** The URN of the first resource that waits, if the engine passes it. */
  readonly urn: string | undefined;
}

/** Shows a line that need not be kept after the wait. */
export type ShowWait = (line: string, urn: string | undefined) => unknown;

/** Shows progress while rate limits hold back the requests of this process. */
export class WaitNotices {
  private readonly backlogs: (() => Backlog)[] = [];
  private waking: AbortController | undefined;

  constructor(
    private readonly clock: Pick<Clock, "now" | "sleep">,
    private readonly show: ShowWait,
  ) {}

  /** Includes another account's requests in the notices. */
  watch(backlog: () => Backlog): void {
    this.backlogs.push(backlog);
  }

  /** Requests are held back from now on. */
  begin(): void {
    if (!this.waking) this.wake(firstNoticeMs);
  }

  /** The requests of an account are no longer held back. */
  end(): void {
    if (this.backlogs.some((backlog) => backlog().since < Infinity)) return;
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
        this.wake(nextNoticeMs);
      },
      () => undefined,
    );
  }

  private tell(): void {
    const backlogs = this.backlogs.map((backlog) => backlog());
    const held = backlogs.filter(({ since }) => since < Infinity);
    const [first] = held.sort((one, other) => one.since - other.since);
    if (!first) return;
    const seconds = counted(Math.round((this.clock.now() - first.since) / 1000), "second");
    const done = backlogs.reduce((sum, one) => sum + one.done, 0);
    const waiting = held.reduce((sum, one) => sum + one.waiting, 0);
    this.show(
      `waiting for ${first.reason}, for ${seconds} so far: ${counted(done, "request")} done, ${waiting} waiting`,
      first.urn,
    );
  }
}
