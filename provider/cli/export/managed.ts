import type { Settings } from "../../api/settings";
import { hiddenNames } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import type { ExportedRecord } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { managedResources, type Deployment } from "../shared/state";
import type { Language } from "./import-file";

/** What a stack's state, if there is a stack, says about an export of an account. */
export function managedRecords(
  state: Deployment | undefined,
  account: string | undefined,
  settings: Settings,
  language: Language,
): { has: (record: ExportedRecord) => boolean; names: readonly string[] } {
  const managed = state ? managedResources(state) : [];
  const keys = managed.flatMap(({ definition, resource: { id, outputs = {} } }) => {
    // On another server, the same id is another record.
    const server = outputs[hiddenNames.serverHash];
    const isHere = server === undefined || server === settings[definition.addressSetting].hash;
    return isHere && outputs.account === account ? [`${definition.plural} ${id}`] : [];
  });
  const known = new Set(keys);
  const resources = state?.deployment.resources ?? [];
  return {
    has: ({ definition, record }) => known.has(`${definition.plural} ${record.id}`),
    // In YAML, resources of all types share their names.
    names: resources
      .filter(({ type }) => language === "yaml" || findDefinition(type))
      .map(({ urn }) => parseUrn(urn).name),
  };
}
