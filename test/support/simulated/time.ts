/** Waits that belong together: those of one process, which end with it. */
export type Owner = object;

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
}

/** The work waits for nothing that could still happen. */
export class Hang extends Error {}

/**
 * Time that passes only when everybody waits, so that minutes of pauses take no time. The code under test gets it in place
 * of the system's clocks and timers.
 */
export class SimulatedTime {
  /** Milliseconds since the start; only goes forward. */
  now = 0;
  /** What a person or a time server has added to the wall clock. */
  shift = 0;
  private readonly timers = new Set<Timer>();
  private order = 0;

  /** The wall clock. */
  date(): number {
    return Date.UTC(2030, 0, 1) + this.now + this.shift;
  }

  after(milliseconds: number, owner: Owner, run: () => void): () => void {
    const wait = Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
    const timer: Timer = { at: this.now + wait, order: this.order++, owner, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  sleep(milliseconds: number, owner: Owner): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, owner, resolve));
  }

  /** A process is over: what it waited for never happens. */
  drop(owner: Owner): void {
    for (const timer of this.timers) if (timer.owner === owner) this.timers.delete(timer);
  }

  /**
   * Lets time pass until the work has ended.
   * @throws {Hang} when it can never end, or not within `limit` milliseconds of simulated time.
   */
  async until<T>(work: Promise<T>, limit = Infinity): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    work.then(settle, settle);
    const end = this.now + limit;
    for (let idle = 0; ;) {
      await turn();
      if (state.isSettled) return work;
      const next = this.first();
      if (!next) {
        // Streams and compression may take some turns of the event loop.
        if (++idle > 100) throw new Hang("It waits for something that never happens.");
        continue;
      }
      idle = 0;
      if (next.at > end) throw new Hang(`It has not ended after ${limit / 1000} seconds.`);
      this.now = Math.max(this.now, next.at);
      this.timers.delete(next);
      next.run();
    }
  }

  private first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.timers)
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    return first;
  }
}

/** All that can go on without time passing goes on. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
