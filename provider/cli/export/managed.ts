import type { Definition } from "../../definitions/field";
import { groupBy } from "../../common/values";
import type { RecordScope } from "../../lifecycle/record-scope";
import { parseUrn } from "../../common/urn";
import type { ExportedRecord } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { managedResources, managesRecord, type Deployment } from "../shared/state";
import type { Language } from "./import-file";

/** What a stack's state, if there is a stack, says about an export of an account. */
export function managedRecords(
  state: Deployment | undefined,
  connect: (definition: Definition) => RecordScope,
  account: string | undefined,
  language: Language,
): { has: (record: ExportedRecord) => boolean; names: readonly string[] } {
  const known = groupBy(state ? managedResources(state) : [], ({ resource: { id = "" } }) => id);
  const resources = state?.deployment.resources ?? [];
  return {
    has: ({ definition, record }) =>
      known
        .get(record.id)
        ?.some((managed) => managesRecord(managed, connect(definition), account, record)) === true,
    // In YAML, resources of all types share their names.
    names: resources
      .filter(({ type }) => language === "yaml" || findDefinition(type))
      .map(({ urn }) => parseUrn(urn).name),
  };
}
