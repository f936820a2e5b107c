import type { Properties } from "../common/marks";

/** A failed operation, with a message from which secrets are removed. They may be in the message of its cause. */
export class OperationError extends Error {
  constructor(
    text: string,
    options: ErrorOptions,
    /** The record's state, if it exists and its resource must stay in state. */
    readonly kept?: { readonly id: string; readonly outputs: Properties },
  ) {
    super(text, options);
  }
}
