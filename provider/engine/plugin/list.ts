import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import type { Properties } from "../../common/marks";
import { listRecords } from "../../lifecycle/lookup";
import type { Connect } from "../../lifecycle/record-scope";
import { givenId } from "./imported-record";

/** A page of a list, as the engine asks for it. */
export interface ListRequest {
  readonly token: string;
  readonly query: Properties;
  /** The most records of all pages together; undefined is all. */
  readonly limit: number | undefined;
  readonly pageSize: number | undefined;
  /** What the page before it has returned; undefined for the first one. */
  readonly continuation: string | undefined;
}

/** Shows a record of a list. */
export type ShowItem = (item: { readonly id: string; readonly name: string | undefined }) => void;

/**
 * Shows the records of a page, as soon as they are known, with ids as an import takes them. Without a size, the page has all.
 *
 * @returns what the next page begins with; undefined if this is the last one
 */
export async function list(
  definition: Definition,
  connect: Connect,
  { query, limit = Infinity, pageSize = Infinity, continuation }: Omit<ListRequest, "token">,
  show: ShowItem,
): Promise<string | undefined> {
  const { shown: shownBefore, after } = parseContinuation(continuation);
  const most = Math.min(limit - shownBefore, pageSize);
  if (most <= 0) return undefined;
  let [shown, last] = [0, after];
  for await (const { id, account, name } of listRecords(definition, connect, query, after)) {
    if (shown === most) return `${shownBefore + shown}:${last ?? ""}`;
    show({ id: givenId(account, id), name });
    [shown, last] = [shown + 1, id];
    if (shownBefore + shown === limit) return undefined;
  }
  return undefined;
}

/** How many records the pages before have shown, and the id of the last one. */
function parseContinuation(continuation: string | undefined): { shown: number; after: string | undefined } {
  if (continuation === undefined) return { shown: 0, after: undefined };
  const [, shown, after] = /^(\d+):(.+)$/.exec(continuation) ?? [];
  if (after === undefined)
    throw new UptimeError(
      `${JSON.stringify(continuation)} is not a page of a list: begin with the first one.`,
    );
  return { shown: Number(shown), after };
}
