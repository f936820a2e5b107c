import { monitor, type Resource } from "./resources";
import type { Fields, StoredRecord } from "./table";

/** The moment in which a record is shown. */
export interface Moment {
  readonly now: Date;
  /** How many requests the server has received so far. */
  readonly requests: number;
}

/** A whole number from 0 to `limit` - 1, which depends on the parts alone. */
function pick(limit: number, ...parts: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) hash = Math.imul(hash ^ part, 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return ((hash ^ (hash >>> 13)) >>> 0) % limit;
}

/**
 * What a server writes into its records by itself: the results of its checks, and how often a domain was visited. It
 * follows from the record, the clock and the number of requests alone, and differs from one request to the next.
 */
function serverFields(resource: Resource, { id }: StoredRecord, { now, requests }: Moment): Fields {
  const at = now.toISOString();
  if (resource !== monitor)
    return { total_pageviews: 1000 * id + 10 * requests + pick(10, id, requests), last_visited_at: at };
  return {
    status: pick(20, id, requests, 1) === 0 ? "down" : "up",
    last_checked_at: at,
    response_time: 80 + pick(400, id, requests, 2),
    uptime: (9900 + pick(100, id, requests, 3)) / 100,
  };
}

/** The record with what the server has written into it by now; what was written by hand stays. */
export function recordAt(resource: Resource, record: StoredRecord, moment: Moment): StoredRecord {
  const { id, ...own } = record;
  const set = Object.entries(own).filter(([name, value]) => value !== null || !(name in resource.extras));
  return { ...resource.extras, ...serverFields(resource, record, moment), ...Object.fromEntries(set), id };
}
