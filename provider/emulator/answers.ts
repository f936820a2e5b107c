import type { Dialect } from "./dialect";

/** What is sent back for a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes if they need not be text. */
  readonly body: string | Uint8Array;
}

/** An answer with a JSON body. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** An answer without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: "" };
}

/** What is wrong with each field or query parameter, under its name on the wire. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Thrown to refuse a request. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: FieldErrors,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The refusal of a form or a query, as Laravel words it: the first message, and how many more there are. */
  static ofFields(errors: FieldErrors, dialect: Dialect): Refusal {
    const [first = "The given data was invalid.", ...more] = Object.values(errors).flat();
    const rest = more.length === 1 ? " (and 1 more error)" : ` (and ${more.length} more errors)`;
    return new Refusal(dialect.errorStatus, more.length === 0 ? first : first + rest, errors);
  }
}

/** The answer that a refusal is, in this dialect. */
export function answerRefusal(refusal: Refusal, dialect: Dialect): Answer {
  const { status, message, errors, headers } = refusal;
  switch (dialect.errors) {
    case "laravel":
      return json(status, errors === undefined ? { message } : { message, errors }, headers);
    case "error":
      return json(status, { error: message }, headers);
    case "html": {
      const body = `<!DOCTYPE html>\n<html><head><title>${status}</title></head><body><h1>${escapeHtml(message)}</h1></body></html>\n`;
      return { status, headers: { "content-type": "text/html; charset=UTF-8", ...headers }, body };
    }
    case "empty":
      return empty(status, headers);
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#039;",
};

/** The text as PHP's htmlspecialchars returns it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
