/** The most requests at a time. */
const maxRunning = 8;

/** Runs work for hosts: one piece at a time for each host. */
export class Slots {
  private readonly busy = new Set<string>();
  /** Wakes what waits for its host, or for others to end. */
  private readonly waiting: (() => void)[] = [];

  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    while (this.busy.has(host) || this.busy.size >= maxRunning)
      await new Promise<void>((wake) => this.waiting.push(wake));
    this.busy.add(host);
    try {
      return await work();
    } finally {
      this.busy.delete(host);
      for (const wake of this.waiting.splice(0)) wake();
    }
  }
}
