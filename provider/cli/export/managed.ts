import type { Settings } from "../../api/settings";
import { parseUrn } from "../../common/urn";
import type { ExportedRecord } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { managedResources, mayBeAtServer, type Deployment } from "../shared/state";
import type { Language } from "./import-file";

/** What a stack's state, if there is a stack, says about an export of an account. */
export function managedRecords(
  state: Deployment | undefined,
  account: string | undefined,
  settings: Settings,
  language: Language,
): { has: (record: ExportedRecord) => boolean; names: readonly string[] } {
  const managed = state ? managedResources(state) : [];
  const keys = managed.flatMap(({ definition, resource }) => {
    const isHere = mayBeAtServer(resource, settings[definition.addressSetting].hash);
    return isHere && resource.outputs?.account === account ? [`${definition.plural} ${resource.id}`] : [];
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
