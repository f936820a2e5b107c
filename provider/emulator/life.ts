import { monitor, type Resource } from "./resources";
import type { Fields, StoredRecord } from "./table";

/** The moment in which a record is shown. */
export interface Moment {
  readonly now: Date;
  /** How many requests the server has received so far. */
  readonly requests: number;
}

/**
 * What a server writes into its records by itself: the results of its checks, and how often a domain was visited. It
 * follows from the record, the clock and the number of requests alone, and differs from one request to the next.
 */
function serverFields(resource: Resource, { id }: StoredRecord, { now, requests }: Moment): Fields {
  const at = now.toISOString();
  if (resource !== monitor) return { total_pageviews: 1000 * id + 10 * requests, last_visited_at: at };
  const some = 37 * (id + requests);
  return {
    status: some % 20 === 0 ? "down" : "up",
    last_checked_at: at,
    response_time: 80 + (some % 400),
    uptime: (9900 + (some % 100)) / 100,
  };
}

/** The record with what the server has written into it by now; what was written by hand stays. */
export function recordAt(resource: Resource, record: StoredRecord, moment: Moment): StoredRecord {
  const { id, ...own } = record;
  const set = Object.entries(own).filter(([name, value]) => value !== null || !(name in resource.extras));
  return { ...resource.extras, ...serverFields(resource, record, moment), ...Object.fromEntries(set), id };
}
