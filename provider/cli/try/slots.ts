/** Runs work for hosts: one piece at a time for each host, and at most `most` pieces in all. */
export class Slots {
  private readonly busy = new Set<string>();
  /** What waits for its host, or for others to end. */
  private readonly queue: { readonly host: string; readonly start: () => void }[] = [];

  constructor(private readonly most: number) {}

  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.queue.push({ host, start });
      this.startNext();
    });
    try {
      return await work();
    } finally {
      this.busy.delete(host);
      this.startNext();
    }
  }

  private startNext(): void {
    if (this.busy.size >= this.most) return;
    const index = this.queue.findIndex(({ host }) => !this.busy.has(host));
    const [next] = index < 0 ? [] : this.queue.splice(index, 1);
    if (!next) return;
    this.busy.add(next.host);
    next.start();
  }
}
