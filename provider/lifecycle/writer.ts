import type { ApiRecord } from "../api/answer";
import type { Collection, Written } from "../api/collection";
import type { Operation } from "../api/operation";
import { ApiError, message, NotStoredError, quote, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Field } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import type { Pair, Value } from "../definitions/kinds";
import { compare, differs, shows } from "./compare";
import type { RecordsOfKind } from "./ledger";
import type { Reader } from "./reader";
import { encode, nextForms } from "./server";
import type { EmptyForms, ServerTraits, Values } from "./server";
import { topLevel } from "./validate";

/** How often, and how many milliseconds apart, a record is looked at again after an update that is only accepted. */
const looks = 5;
const lookPause = 1000;

/** Writes values, and makes sure that they are there afterwards. */
export class Writer {
  constructor(
    private readonly collection: Collection,
    private readonly reader: Reader,
    private readonly records: RecordsOfKind,
    private readonly traits: ServerTraits,
  ) {}

  /** Sends a create once. What it means if the answer is lost or tells no id is for {@link Creator} to find out. */
  async create(values: Values, operation: Operation): Promise<Written> {
    const { result } = await this.send(values, this.traits.emptyForms, (form) =>
      this.collection.store(form, operation),
    );
    if (result.id !== undefined) this.records.write(result.id);
    return result;
  }

  /** Updates a record and returns it as it is then. Throws {@link NotStoredError} and {@link GoneError}. */
  async update(
    id: string,
    values: Values,
    operation: Operation,
    forms = this.traits.emptyForms,
  ): Promise<ApiRecord> {
    this.records.write(id);
    const sent = await this.send(values, forms, (form) =>
      this.reader.proving(id, operation, () => this.sendUpdate(id, form, operation)),
    );
    return this.settle(id, values, sent.result, operation, sent.forms);
  }

  /** Compares the record with what was sent; says "empty" in another way if the first was ignored. */
  async settle(
    id: string,
    values: Values,
    answered: Partial<Pick<Written, "record" | "status">>,
    operation: Operation,
    forms = this.traits.emptyForms,
  ): Promise<ApiRecord> {
    const shown = answered.record;
    let record = shown && this.isComplete(values, shown) ? shown : await this.reader.show(id, operation);
    // What was only accepted may be done a moment later.
    const isAccepted = shown === undefined && (answered.status === 202 || answered.status === 204);
    for (let look = 1; isAccepted && look < looks && this.lost(values, record).length > 0; look++) {
      if (lookPause > operation.timeLeft) break;
      await operation.sleep(lookPause);
      record = await this.reader.show(id, operation);
    }
    this.traits.learnShown(values, record);
    const lost = this.lost(values, record);
    if (lost.length === 0) {
      this.traits.emptyForms = forms;
      return record;
    }
    if (lost.every(([, value]) => isEmpty(value))) {
      const next = nextForms(
        forms,
        lost.map(([key]) => this.field(key)),
      );
      if (next) return this.update(id, values, operation, next);
    }
    const differences = lost.map(([key, value]) => this.difference(key, value, record));
    throw new NotStoredError(
      message`the API took these properties and did not store them: ${joined(differences)}.`,
      record,
    );
  }

  /** By PATCH, or by PUT on a server that does not know PATCH. */
  private async sendUpdate(id: string, form: readonly Pair[], operation: Operation): Promise<Written> {
    // Other updates in flight may learn of PUT meanwhile.
    const method = this.traits.updateMethod;
    try {
      return await this.collection.update(id, form, operation, method);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 405) || method === "PUT") throw error;
      this.traits.updateMethod = "PUT";
      return this.collection.update(id, form, operation, "PUT");
    }
  }

  private async send<T>(
    values: Values,
    forms: EmptyForms,
    transmit: (form: readonly Pair[]) => Promise<T>,
  ): Promise<{ result: T; forms: EmptyForms }> {
    let refusal: ApiError | undefined;
    for (let tried: EmptyForms | undefined = forms; tried;) {
      try {
        const form = encode(this.collection.definition, values, tried);
        return { result: await transmit(form), forms: tried };
      } catch (error) {
        if (!(error instanceof ApiError && error.isRefusal)) throw refusal ? this.explained(refusal) : error;
        refusal ??= error;
        tried = nextForms(tried, this.emptyOnes(values, error));
      }
    }
    throw this.explained(refusal);
  }

  /** The fields sent as empty that a refusal may be about. */
  private emptyOnes(values: Values, refusal: ApiError): Field[] {
    const named = [...refusal.fields.keys()];
    return [...values]
      .filter(([, value]) => isEmpty(value))
      .map(([key]) => this.field(key))
      .filter(({ wire }) => named.length === 0 || named.some((name) => topLevel(name) === wire));
  }

  private lost(values: Values, record: ApiRecord): [string, Value][] {
    return [...values].filter(([key, value]) => differs(this.field(key), value, record));
  }

  /** Whether an answer shows everything that was sent and can be seen at all. */
  private isComplete(values: Values, record: ApiRecord): boolean {
    return [...values].every(([key, value]) => {
      const field = this.field(key);
      return isEmpty(value) || field.writeOnly === true || this.traits.isHidden(key) || shows(field, record);
    });
  }

  private difference(key: string, value: Value, record: ApiRecord): Message {
    const field = this.field(key);
    if (field.secret) return [`${key} (what is there differs from what was sent)`];
    const shown = compare(field, value, record);
    if (shown.outcome !== "differs") return [key];
    const sent = `${key} was sent as ${JSON.stringify(value)}`;
    if (shown.problem !== undefined) return message`${sent}, and ${shown.problem}`;
    const hasOffset =
      field.kind === "dateTime" && typeof shown.value === "string" && /[+-]\d\d:?\d\d$/.test(shown.value);
    const hint = hasOffset ? " (an offset other than +00:00 is not supported)" : "";
    return message`${sent} and is ${quote(JSON.stringify(shown.value))}${hint}`;
  }

  /** A refusal with the properties' own names in place of the API's. */
  private explained(error: ApiError | undefined): UptimeError {
    if (!error) return new UptimeError("Nothing was sent.");
    const { fields } = this.collection.definition;
    const reasons = [...error.fields].map(([name, texts]) => {
      const key = Object.keys(fields).find((one) => fields[one]?.wire === topLevel(name));
      const path = name.replace(/^[^.[]+/, key ?? "$&").replace(/\.(\d+)/g, "[$1]");
      return message`${quote(path)}: ${texts.flatMap((text, index) => (index > 0 ? [" ", text] : [text]))}`;
    });
    if (reasons.length === 0) return error;
    const said = error.said.length > 0 ? message` (${error.said})` : "";
    return new UptimeError(
      message`${error.request} was refused with status ${error.status}${said}: ${joined(reasons)}`,
      { cause: error },
    );
  }

  private field(key: string): Field {
    const field = this.collection.definition.fields[key];
    if (!field) throw new UptimeError(`${this.collection.definition.label} has no property ${key}.`);
    return field;
  }
}

function joined(messages: readonly Message[]): Message {
  return messages.flatMap((one, index) => (index > 0 ? ["; ", ...one] : one));
}
