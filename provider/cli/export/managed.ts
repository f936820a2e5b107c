import type { Settings } from "../../api/settings";
import { hiddenNames } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import type { ExportedRecord } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { managedResources, type Deployment } from "../shared/state";

/** What a stack's state says about an export. */
interface ManagedRecords {
  /** Whether a resource of the stack manages the record. */
  readonly has: (record: ExportedRecord) => boolean;
  /** The names of the stack's resources. */
  readonly names: readonly string[];
}

/** Finds the records of an account that a stack manages. On another server, the same id is another record. */
export function managedRecords(
  state: Deployment,
  account: string | undefined,
  settings: Settings,
): ManagedRecords {
  const keyOf = (plural: string, id: string | undefined): string => `${plural} ${id}`;
  const managed = new Set(
    managedResources(state).flatMap(({ definition, resource: { id, outputs = {} } }) => {
      const server = outputs[hiddenNames.serverHash];
      const isHere = server === undefined || server === settings[definition.addressSetting].hash;
      return isHere && outputs.account === account ? [keyOf(definition.plural, id)] : [];
    }),
  );
  const resources = (state.deployment.resources ?? []).filter(({ type }) => findDefinition(type));
  return {
    has: ({ definition, record }) => managed.has(keyOf(definition.plural, record.id)),
    names: resources.map(({ urn }) => parseUrn(urn).name),
  };
}
