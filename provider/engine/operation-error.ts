import type { Properties } from "./clean";

/** A failed operation, in words that a person may read. */
export class OperationError extends Error {
  constructor(
    text: string,
    /** The state of a record that exists nonetheless, so that its resource stays in state. */
    readonly kept?: { readonly id: string; readonly outputs: Properties },
  ) {
    super(text);
  }
}
