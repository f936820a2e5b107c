import type { ApiRecord } from "../../api/answer";
import type { Value } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { shownValues } from "../../lifecycle/difference";

/** The values that a record shows, by property, without those that cannot be read. */
export function readableValues(definition: Definition, record: ApiRecord): Map<string, Value> {
  return shownValues(definition, record, { refuse: () => undefined });
}
