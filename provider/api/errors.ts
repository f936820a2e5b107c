/** A failure that a person must act on; its message is the whole story, so no stack is printed beside it. */
export class UptimeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Error";
    // The host prints the message and then the stack: the message is to be read once.
    this.stack = "";
  }
}

/** The API answered, and the answer is a refusal. */
export class ApiError extends UptimeError {
  constructor(
    /** The request and its address, for example `PATCH https://…/api/v1/monitors/7`. */
    readonly request: string,
    readonly status: number,
    /** What the API says, as one text; empty when it says nothing readable. */
    readonly said: string,
    /** What the API says of single fields, under its own names. */
    readonly fields: ReadonlyMap<string, readonly string[]>,
    hint = "",
  ) {
    const answer = `${request} was answered with status ${status}${said ? `: ${said}` : ""}`;
    super(hint ? `${answer.replace(/\.$/, "")}. ${hint}.` : answer);
  }

  /** Whether the API took the request for invalid; such a request had no effect. */
  get isRefusal(): boolean {
    return this.status === 400 || this.status === 422;
  }
}

/** A create was sent and its answer is lost, so its effect is not known. */
export class LostAnswer extends UptimeError {
  constructor(
    message: string,
    /**
     * What follows when a few looks have found no effect: it is sent again; or looked for as long as there is time, because
     * the server may still be at work; or given up.
     */
    readonly next: "send again" | "keep looking" | "give up",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Nothing is there under the id, proven by a list that does not hold it. */
export class Gone extends UptimeError {}

/** Under the id is a record, and it is not the one that is meant. */
export class AnotherRecord extends UptimeError {}
