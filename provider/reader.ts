import type { ApiRecord } from "./answer";
import type { Collection } from "./collection";
import type { Deadline } from "./limiter";

/** Reads the records that state knows. */
export class Reader {
  constructor(private readonly collection: Collection) {}

  /** The record under an id. Throws {@link Gone} when it is proven that there is none. */
  read(id: string, deadline: Deadline): Promise<ApiRecord> {
    return this.collection.show(id, deadline);
  }
}
