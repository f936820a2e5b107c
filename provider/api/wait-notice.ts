/** A shorter wait does not look like a hang. */
const quietMilliseconds = 10_000;
/** Often enough to show progress, and rarely enough for the log of a CI job. */
const pauseMilliseconds = 20_000;
/** Requests that are throttled together are queued within this time, and named together. */
const gatherMilliseconds = 1000;
/** How many rows show a notice: in the log of a CI job each is a line. */
const maxRows = 3;

/** Shows a line that need not be kept after the wait, in the row of a resource: see `Operation.urnOrOwner`. */
export type ShowWait = (line: string, resource: string | undefined) => unknown;

/** Requests that wait. */
interface Waiting {
  /** Milliseconds until the next one is sent. */
  readonly wait: number;
  /** Since when the first of them waits, on the clock. */
  readonly since: number;
  /** Their resources, in the order in which their operations began. */
  readonly resources: Iterable<string | undefined>;
  /** The short fact that a person sees. */
  readonly text: string;
}

/** Shows long waits of one kind while they last. */
export class WaitNotice {
  private shownAt = -Infinity;

  constructor(private readonly show: ShowWait = () => undefined) {}

  /** Shows a wait if it is a long one. Returns the milliseconds until it is to be shown again if it still lasts. */
  update({ wait, since, resources, text }: Waiting, now: number): number {
    const isLong = now + wait - since > quietMilliseconds;
    const due = Math.max(
      since + (isLong ? gatherMilliseconds : quietMilliseconds),
      this.shownAt + pauseMilliseconds,
    );
    if (now < due) return due - now;
    this.shownAt = now;
    // Of many rows, a terminal shows the last ones.
    for (const resource of [...new Set(resources)].slice(-maxRows)) this.show(text, resource);
    return pauseMilliseconds;
  }
}
