import { cutPeriod } from "../common/text";

/**
 * How a quote is shown:
 *
 * - `words`: without HTML tags
 * - `page`: the same, and without JSON, which may show records of others
 * - `value`: a record's value, unchanged
 */
type QuoteKind = "words" | "page" | "value";

/**
 * Words of others, such as a server's. They are searched for secrets before they are shown, and before anything is left out of them: a
 * secret may begin or end there.
 */
export class Quote {
  constructor(
    readonly text: string,
    readonly kind: QuoteKind = "words",
    /** A period at its end is left out. */
    readonly isWithoutPeriod = false,
  ) {}

  withoutPeriod(): Quote {
    return new Quote(this.text, this.kind, true);
  }
}

/** A message for a person, in which the words of others are kept apart from ours. */
export type Message = readonly (string | Quote)[];

export const quote = (text: string): Quote => new Quote(text);

export const quoteValue = (value: unknown): Quote => new Quote(JSON.stringify(value ?? null), "value");

/** A record's id. The API's ids are numbers; any other one may repeat a secret. */
export const quoteId = (id: string): string | Quote => (/^\d+$/.test(id) ? id : quote(id));

/**
 * A template's tag that builds a message. A line break in the template is a space. The message of an {@link UptimeError} becomes a part
 * of it, and that of any other error is quoted; before punctuation they lose their final period.
 */
export function message(texts: TemplateStringsArray, ...values: readonly Part[]): Message {
  const parts = texts.flatMap((text, index) => {
    const value = values[index];
    const line = text.replace(/\s*\n\s*/g, " ");
    if (value === undefined) return [line];
    return [line, ...partsBefore(texts[index + 1] ?? "", value)];
  });
  return parts.filter((part) => part !== "");
}

type Part = string | number | Quote | Message | Error;

/** The parts of what stands before this text. A message does not end its sentence if punctuation follows. */
function partsBefore(text: string, part: Part): Message {
  const parts = partsOf(part);
  const last = parts.at(-1);
  const isMessage = typeof part === "object" && !(part instanceof Quote);
  if (!isMessage || last === undefined || !/^[.,:;)]/.test(text)) return parts;
  return [...parts.slice(0, -1), typeof last === "string" ? cutPeriod(last) : last.withoutPeriod()];
}

function partsOf(value: Part): Message {
  if (value instanceof UptimeError) return value.parts;
  if (value instanceof Error) return [quote(value.message)];
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return value instanceof Quote ? [value] : value;
}

/** A failure that a person must act on. */
export class UptimeError extends Error {
  /**
   * The message, with the server's words, which may repeat secrets: `Redactor` in engine/redactor.ts makes them safe to show.
   * `message` and the stack leave them out, and are always safe.
   */
  readonly parts: Message;

  constructor(given: string | Message, options?: ErrorOptions) {
    const parts = typeof given === "string" ? [given] : given;
    super(parts.map((part) => (typeof part === "string" ? part : "…")).join(""), options);
    this.name = new.target.name;
    this.parts = parts;
  }

  /** What Node.js prints of the error, which without this would be its properties too. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.stack ?? this.message;
  }
}

/** An answer that says that the request failed. */
interface ErrorAnswer {
  /** The request and its address, for example `PATCH https://…/api/v1/monitors/7`. */
  readonly requestText: Message;
  readonly status: number;
  /** The API's words on the whole; empty if they are not readable. */
  readonly reason: Message;
  /** The API's words on single fields, under its own names. */
  readonly fields: ReadonlyMap<string, readonly Quote[]>;
  /** Sentences that say what to do. */
  readonly advice: readonly (string | Message)[];
  /** The request was redirected to another path, so the answer says nothing about the record. */
  readonly isRedirectedElsewhere?: boolean;
}

export class ApiError extends UptimeError {
  constructor(readonly answer: ErrorAnswer) {
    const { requestText, status, reason, fields, advice } = answer;
    const named = joinMessages(
      [...fields].map(([name, reasons]) => message`${quote(name)}: ${joinMessages(reasons, " ")}`),
      "; ",
    );
    const whole = reason.length > 0 && named.length > 0 ? message` (${reason})` : [];
    const words = named.length > 0 ? named : reason;
    const text = message`${requestText} returned status
      ${status}${whole}${words.length > 0 ? message`: ${words}` : ""}`;
    const sentences = advice.flatMap((one) => message` ${one}`);
    super(sentences.length > 0 ? message`${text}.${sentences}` : text);
  }

  get status(): number {
    return this.answer.status;
  }

  /** The API took the request for invalid. With 400 or 422 it had no effect; with an error inside a 2xx something may be stored. */
  get isRefusal(): boolean {
    return this.status === 400 || this.status === 422 || this.status < 300;
  }
}

/** The API does not accept the key. */
export class KeyRefusedError extends ApiError {
  constructor(
    /** The setting that the key came from. */
    readonly keySource: string,
    answer: ErrorAnswer,
  ) {
    super(answer);
  }
}

export interface LostAnswerOptions extends ErrorOptions {
  readonly answeredId?: string | undefined;
  readonly otherId?: string | undefined;
}

/** A create was sent and its answer is lost, so its effect is not known. */
export class LostAnswerError extends UptimeError {
  /** The id that the answer has named, although no such record was found. */
  readonly answeredId: string | undefined;
  /** The id in the body; `answeredId` is another one if `Location` names it. */
  readonly otherId: string | undefined;

  constructor(
    given: string | Message,
    /**
     * - `look and send again`: look twice, and send the create again if there is no record.
     * - `look only`: look for a minute, because the server may still be at work, or another create would get the same answer.
     */
    readonly next: "look and send again" | "look only",
    { answeredId, otherId, cause }: LostAnswerOptions = {},
  ) {
    super(given, { cause });
    this.answeredId = answeredId;
    this.otherId = otherId;
  }
}

/** Nothing at the address accepts connections. */
export class UnreachableError extends UptimeError {}

/** Pulumi was interrupted, so the next step was not begun. */
export class InterruptedError extends UptimeError {}

/** The operation has used the time that the option customTimeouts gives it. */
export class OperationTimeoutError extends UptimeError {}

/** The API says at the record's own address that it does not exist. */
export class NotFoundError extends UptimeError {}

/** The id belongs to another record than the one in state. */
export class RecordMismatchError extends UptimeError {}

/** For the `catch` of a promise: handles the errors of a class, and throws all others. */
export const ifError =
  <E extends Error, T>(ErrorClass: new (...args: never) => E, handle: (error: E) => T) =>
  (error: unknown): T => {
    if (error instanceof ErrorClass) return handle(error);
    throw error;
  };

/** How a message begins that goes on after an earlier error, if there was one: "… returned status 429. Then ". */
export function afterError(earlier: UptimeError | undefined): Message {
  return earlier ? message`${earlier}. Then ` : [];
}

export function joinMessages(messages: readonly (Message | Quote)[], separator: string): Message {
  return messages.flatMap((one, index) => {
    const parts = one instanceof Quote ? [one] : one;
    return index === messages.length - 1 ? parts : [...partsBefore(separator, parts), separator];
  });
}

/** The message of anything that was thrown. The words of an error that is not an {@link UptimeError} are quoted. */
export function messageOf(error: unknown): Message {
  return partsOf(error instanceof Error ? error : quote(String(error)));
}
