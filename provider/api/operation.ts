import { setMaxListeners } from "node:events";

import { maxTimerMilliseconds, type Clock } from "./clock";
import { afterError, InterruptedError, message, OperationTimeoutError } from "./errors";
import type { Message, UptimeError } from "./errors";

/** What all operations of a run share. */
export interface RunContext {
  readonly clock: Clock;
  /** Aborts when Pulumi is interrupted. */
  readonly interruption?: AbortSignal | undefined;
}

/** What an operation needs to know. Pulumi shows a long wait in the row of the resource that `urn` or `owner` names. */
export interface OperationOptions {
  /** The time in milliseconds that a person has set by the option `customTimeouts`; it counts everything. */
  readonly timeout?: number | undefined;
  /** The settings may be those of the last `up`, because no program has run in this process. */
  readonly mayHaveOldSettings?: boolean | undefined;
  /** The resource's URN, if the engine provides it. */
  readonly urn?: string | undefined;
  /** What identifies the resource in its stack. */
  readonly owner?: string | undefined;
}

/** A signal that aborts if one of the two does. Without a second one it is the first itself, because making a signal is slow. */
export function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}

/** One operation of the engine, with all requests and waits that belong to it. */
export class Operation {
  readonly clock: Clock;
  /** A write has had its effect, or may have had it. */
  mayHaveEffect = false;
  /** A request that may change something was sent. Reads that find out what it did then outlive an interruption. */
  private hasSentWrite = false;
  readonly mayHaveOldSettings: boolean;
  /** The URN of the resource or, if the engine does not tell it, its owner. */
  readonly urnOrOwner: string | undefined;
  private readonly deadline: number;
  private readonly interruption: AbortSignal | undefined;
  /** Ends requests when the time is over. An interruption does not, so that what was sent gets its answer. */
  readonly timeSignal: AbortSignal | undefined;
  /** Ends waits: the time is over, or Pulumi is interrupted. Undefined if neither can happen. */
  readonly waitSignal: AbortSignal | undefined;

  constructor(
    { clock, interruption }: RunContext,
    { timeout = Infinity, mayHaveOldSettings = false, urn, owner }: OperationOptions = {},
  ) {
    this.clock = clock;
    this.deadline = clock.now() + timeout;
    this.mayHaveOldSettings = mayHaveOldSettings;
    this.urnOrOwner = urn ?? owner;
    this.interruption = interruption;
    const milliseconds = Math.min(Math.ceil(timeout), maxTimerMilliseconds);
    this.timeSignal = timeout === Infinity ? undefined : clock.timeout(milliseconds);
    // If only one of the two can end it, that one is the signal.
    const first = interruption ?? this.timeSignal;
    this.waitSignal = first && anySignal(first, interruption && this.timeSignal);
    // Hundreds of requests may wait, which Node.js would report as a leak.
    if (this.waitSignal) setMaxListeners(0, this.waitSignal);
  }

  /** Milliseconds; infinite without `customTimeouts`. */
  get timeLeft(): number {
    return this.deadline - this.clock.now();
  }

  /** Whether its time is over: by the clock, or because its timer has fired, which may be a little earlier. */
  private get isOver(): boolean {
    return this.timeLeft <= 0 || this.timeSignal?.aborted === true;
  }

  get isInterrupted(): boolean {
    return this.interruption?.aborted === true;
  }

  /** After an interruption no write may be begun, and a read only to find out what a write did. */
  mayBegin(isWrite: boolean): boolean {
    return !this.isOver && (!this.isInterrupted || (this.hasSentWrite && !isWrite));
  }

  markWrite(): void {
    this.hasSentWrite = true;
  }

  /** Waits. Rejects as soon as the operation's time is over, or Pulumi is interrupted. */
  async sleep(milliseconds: number): Promise<void> {
    const signal = this.waitSignal;
    if (!signal?.aborted) await this.clock.sleep(milliseconds, signal).catch(() => undefined);
    if (this.isInterrupted || this.isOver) throw this.endError("it stopped waiting");
  }

  /** Waits for work that other operations wait for too. Rejects if this operation's time is over first. */
  async inTime<T>(work: Promise<T>): Promise<T> {
    const signal = this.timeSignal;
    if (!signal) return work;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        reject(this.endError("it stopped waiting for another operation"));
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      void work.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", end);
      });
    });
  }

  /**
   * An operation for work that several operations wait for, such as a read of the list. It has no time of its own: if the resource
   * that began it gives up after its `customTimeouts`, the others still get the list. Each waits for it by {@link inTime}.
   */
  forSharedWork(): Operation {
    const { clock, mayHaveOldSettings, urnOrOwner: owner, interruption } = this;
    const shared = new Operation({ clock, interruption }, { mayHaveOldSettings, owner });
    shared.hasSentWrite = this.hasSentWrite;
    return shared;
  }

  /** The error of an operation whose time is over or that was interrupted. `consequence` is a clause such as "nothing was sent". */
  endError(consequence: string | Message, lastError?: UptimeError): UptimeError {
    const first = afterError(lastError);
    return this.isInterrupted
      ? new InterruptedError(
          message`${first}Pulumi was interrupted, or is stopping because of another error, so ${consequence}.`,
        )
      : new OperationTimeoutError(
          message`${first}${lastError ? "the" : "The"} operation timed out (the option customTimeouts), so ${consequence}.`,
        );
  }
}
