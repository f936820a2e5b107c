import { isMarkedDeleted, isRecordId, isRecordOf, parseRecord, type ApiRecord } from "./record";
import { holdsNothing, isFailure, saysDeleted } from "./answer-status";
import { pathOf, type Answer, type ApiRequest, type Client } from "./client";
import type { Definition } from "../definitions/field";
import type { FormPair, FallbackForms } from "../definitions/codecs";
import { counted } from "../common/text";
import { parseUrl } from "../common/url";
import { parseError, quoteBody } from "./error-body";
import { maybeGoneAdvice, maybeGoneAdviceFor } from "./advice";
import {
  ApiError,
  ifError,
  LostAnswerError,
  message,
  NotFoundError,
  quoteId,
  quoteValue,
  RecordMismatchError,
  UptimeError,
} from "./errors";
import type { Message } from "./errors";
import type { Operation } from "./operation";
import { incompleteListError, readPages } from "./paging";
import { lacksMethod } from "./retry";
import { headerOf } from "./transport";

/** An answer to a write. */
export interface WriteAnswer {
  readonly status: number;
  /** The id of the record, from the record itself or from `Location`. */
  readonly id: string | undefined;
  readonly record: ApiRecord | undefined;
  /** The request and its address, for messages. */
  readonly requestText: Message;
  /** The answer, quoted, if it is neither empty nor the record. */
  readonly words?: Message | undefined;
  /** Only of a create, if the answer has an id and yet says that it failed: the error to throw if the id is not that of a new record. */
  readonly failure?: UptimeError | undefined;
  /** The failure is a status beside the id, such as `failed`, which may be a field of the new record. */
  readonly isFailureUnsure?: boolean;
}

/** How often a list is read at most if records are deleted meanwhile. With a few deletes by hand, the second pass is whole. */
const maxPasses = 5;

const isMissingMethod = (error: unknown): boolean => error instanceof ApiError && lacksMethod(error.status);

/** Records page by page. */
export type RecordPages = AsyncGenerator<readonly ApiRecord[], void>;

/** The endpoints of one kind of record. (docs/api.md) */
export class Collection {
  /** The fields that this server empties only in their fallback form, as far as is known. (docs/api.md) */
  fallbackForms: FallbackForms = new Set();
  private updateMethod: "PATCH" | "PUT" = "PATCH";

  constructor(
    readonly definition: Definition,
    readonly client: Client,
  ) {}

  remember(wires: Iterable<string>): void {
    this.fallbackForms = new Set([...this.fallbackForms, ...wires]);
  }

  forget(wires: readonly string[]): void {
    this.fallbackForms = new Set([...this.fallbackForms].filter((wire) => !wires.includes(wire)));
  }

  /** The record under an id. Throws {@link NotFoundError}. */
  async get(id: string, operation: Operation): Promise<ApiRecord> {
    const answer = await this.requestRecord(id, { method: "GET", operation });
    const record = parseRecord(answer.body, this.definition);
    const { singular } = this.definition;
    if (record && record.id !== id)
      throw new RecordMismatchError(
        message`${answer.requestText} returned the record ${quoteId(record.id)} instead. ${maybeGoneAdvice}`,
      );
    this.assertPresent(record, answer);
    // A record that shows none of its required fields would be compared with nothing, and found equal.
    if (record && isRecordOf(this.definition, record)) return record;
    const problem = message`${answer.requestText} returned no ${singular}: ${quoteBody(answer.body)}.`;
    if (holdsNothing(answer.body, this.definition) && !answer.isRedirectedElsewhere)
      throw new NotFoundError(problem);
    throw new UptimeError(message`${problem} Check ${this.client.address.source}. ${maybeGoneAdvice}`);
  }

  /** The record under an id; undefined if it does not exist. */
  async find(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    return this.get(id, operation).catch(ifError(NotFoundError, () => undefined));
  }

  /** @param beforeSend see {@link ApiRequest}, as in the other writes */
  async create(
    form: readonly FormPair[],
    operation: Operation,
    beforeSend?: () => void,
  ): Promise<WriteAnswer> {
    const { plural } = this.definition;
    const request: ApiRequest = { method: "POST", plural, form, operation, beforeSend };
    const answer = await this.client.send(request);
    const record = parseRecord(answer.body, this.definition);
    const located = this.idOf(headerOf(answer.headers, "location"));
    // Without a record, the id in a body may be that of a job.
    const id = isRecordOf(this.definition, record) ? record?.id : (located ?? record?.id);
    const { status, requestText, body } = answer;
    const refusal = this.failureIn(answer, request);
    // 201 means that there is a new record.
    const isStored = refusal !== undefined && status === 201;
    const failure = isStored ? new LostAnswerError(refusal.parts, "look only", { cause: refusal }) : refusal;
    if (failure && id === undefined) throw failure;
    // In the answer to an update such a status is a field of the record.
    const isFailureUnsure = !isFailure(body, this.definition, "PATCH");
    const words = this.wordsOf(answer, record);
    return { status, requestText, id, record, failure, isFailureUnsure, words };
  }

  /** Updates a record, by PUT if this server has no PATCH. Throws {@link NotFoundError}. */
  async update(
    id: string,
    form: readonly FormPair[],
    operation: Operation,
    beforeSend?: () => void,
  ): Promise<WriteAnswer> {
    const send = (method: "PATCH" | "PUT") => this.requestRecord(id, { method, form, operation, beforeSend });
    // Another update may change it while this one waits for its answer.
    const method = this.updateMethod;
    const answer = await send(method).catch(async (error: unknown) => {
      if (method === "PUT" || !(await this.lacksMethodFor(error, id, operation))) throw error;
      // A replica that lags may have answered 404, and a PUT may empty what it does not send.
      const again = isMissingMethod(error)
        ? undefined
        : await send(method).catch(ifError(NotFoundError, () => undefined));
      if (again) return again;
      const answered = await send("PUT").catch((putError: unknown) => {
        // A PUT that is not there either says less than the 404, which may be about a channel.
        const saysNothing = putError instanceof NotFoundError || isMissingMethod(putError);
        throw error instanceof NotFoundError && saysNothing ? error : putError;
      });
      // After a 404, the next update tries PATCH first again.
      if (isMissingMethod(error)) this.updateMethod = "PUT";
      return answered;
    });
    const found = parseRecord(answer.body, this.definition);
    const record = found?.id === id ? found : undefined;
    this.assertPresent(record, answer);
    const { status, requestText } = answer;
    return { status, requestText, id, record, words: this.wordsOf(answer, record) };
  }

  /** Whether an update failed because the server does not have its method. Express and others answer 404 then, although the record is there. */
  private async lacksMethodFor(error: unknown, id: string, operation: Operation): Promise<boolean> {
    if (!(error instanceof NotFoundError)) return isMissingMethod(error);
    return (await this.find(id, operation).catch(() => undefined)) !== undefined;
  }

  /**
   * Deletes a record. Throws {@link NotFoundError}. Returns the answer, as a clause, if it does not say that the record is deleted,
   * such as `{"message": "down for maintenance"}`; undefined if it does.
   */
  async delete(id: string, operation: Operation, beforeSend?: () => void): Promise<Message | undefined> {
    const { body, requestText } = await this.requestRecord(id, { method: "DELETE", operation, beforeSend });
    if (saysDeleted(body, id, this.definition)) return undefined;
    return message`${requestText} returned ${quoteBody(body)}`;
  }

  /** All records, or those that the parameters of the API select, page by page and, by default, newest first. */
  async *list(operation: Operation, parameters: Readonly<Record<string, string>> = {}): RecordPages {
    const name = `GET ${this.client.address.url}${pathOf(this.definition)}`;
    const seen = new Set<string>();
    for (let pass = 1; ; pass++) {
      const seenBefore = seen.size;
      const { totals, hasEnd } = yield* this.readPass(operation, parameters, seen);
      // If a record is deleted while the pages are read, later ones move up one place, and one can be missed: then the total shrinks. If
      // another one is created meanwhile, it does not, but fewer records are read than it says. Without a total (NaN) neither holds.
      const hasShrunk = totals.some((total, index) => total < (totals[index - 1] ?? NaN));
      const isShort = seen.size < (totals[0] ?? NaN);
      if (!hasShrunk && !isShort) return;
      if (!hasShrunk && pass > 1 && seen.size === seenBefore) {
        // Some servers count records that they do not show. If they say which page is the last, these are all.
        if (hasEnd) return;
        throw incompleteListError(
          name,
          `its pages hold ${counted(seen.size, "record")}, but its total is ${totals[0]}`,
        );
      }
      if (pass === maxPasses)
        throw new UptimeError(
          `${name} cannot be read completely: ${this.definition.plural} are deleted while it is read. Try again.`,
        );
    }
  }

  /** Reads all pages once, and yields the records that are not seen yet. */
  private async *readPass(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
    seen: Set<string>,
  ): AsyncGenerator<readonly ApiRecord[], { totals: number[]; hasEnd: boolean }> {
    const totals: number[] = [];
    let hasEnd = false;
    const list = { method: "GET", plural: this.definition.plural, operation } as const;
    const send = (query: URLSearchParams): Promise<Answer> => this.request({ ...list, query });
    const pages = readPages(this.definition, this.client.address, parameters, send);
    for await (const { records, total, next } of pages) {
      totals.push(total);
      hasEnd = next === undefined;
      const fresh = records.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      const existing = fresh.filter((record) => !isMarkedDeleted(record));
      if (existing.length > 0) yield existing;
    }
    return { totals, hasEnd };
  }

  /** Also throws {@link ApiError} for a 2xx whose body says that the request failed. */
  private async request(request: ApiRequest): Promise<Answer> {
    const answer = await this.client.send(request);
    const failure = this.failureIn(answer, request);
    if (!failure) return answer;
    // A server may have stored, and failed after that, at sending mail for example.
    if (request.method !== "GET" && parseRecord(answer.body, this.definition))
      request.operation.mayHaveEffect = true;
    throw failure;
  }

  private failureIn(answer: Answer, request: ApiRequest): ApiError | undefined {
    if (!isFailure(answer.body, this.definition, request.method)) return undefined;
    const { requestText, status, body } = answer;
    return new ApiError({
      requestText,
      status,
      ...parseError(body, ""),
      advice: maybeGoneAdviceFor(request),
    });
  }

  /** A request about one record. Throws {@link NotFoundError}. */
  private async requestRecord(id: string, request: Omit<ApiRequest, "plural" | "id">): Promise<Answer> {
    if (!isRecordId(id))
      throw new UptimeError(message`${quoteValue(id)} is not the id of a ${this.definition.singular}.`);
    try {
      return await this.request({ ...request, plural: this.definition.plural, id });
    } catch (error) {
      if (!(error instanceof ApiError) || error.answer.isRedirectedElsewhere) throw error;
      if (error.status !== 404 && error.status !== 410) throw error;
      throw new NotFoundError(error.parts, { cause: error });
    }
  }

  private wordsOf({ body }: Answer, record: ApiRecord | undefined): Message | undefined {
    const isExpected = isRecordOf(this.definition, record) || holdsNothing(body, this.definition);
    return isExpected ? undefined : quoteBody(body);
  }

  /** Throws {@link NotFoundError} if the record is marked as deleted. */
  private assertPresent(record: ApiRecord | undefined, { requestText }: Answer): void {
    if (!record || !isMarkedDeleted(record)) return;
    throw new NotFoundError(
      message`${requestText} returned a ${this.definition.singular} that is marked as deleted.`,
    );
  }

  /** The id in a `Location`, which counts only if it is the path of a record of this collection. */
  private idOf(location: string): string | undefined {
    const requested = pathOf(this.definition);
    // It may be relative to the address of the create: `monitors/7`.
    const path =
      location === "" ? undefined : parseUrl(location, this.client.address.url + requested)?.pathname;
    const [, collection, id] = /^(.*)\/(\d+)\/?$/.exec(path ?? "") ?? [];
    return collection?.endsWith(requested) ? id : undefined;
  }
}
