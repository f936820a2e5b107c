import type { Settings } from "../api/settings";
import { definitions } from "../definitions";
import { connect } from "../lifecycle/connection";
import { Lifecycle } from "../lifecycle/lifecycle";
import type { DeclaredRecord } from "./declaration";
import { typeToken } from "./resource-types";
import type { AddedResource } from "./state";

/** Records as an import by the provider would have them in state. A record that it would refuse is left out. */
export async function importedResources(
  records: readonly (DeclaredRecord & { readonly name: string })[],
  settings: Settings,
  account: string | undefined,
): Promise<AddedResource[]> {
  const lifecycles = new Map(
    definitions.map((definition) => {
      const connection = connect(definition, settings);
      return [definition, new Lifecycle(definition, () => connection)];
    }),
  );
  const added = await Promise.all(
    records.map(async ({ definition, record, declaration, name }): Promise<AddedResource[]> => {
      const lifecycle = lifecycles.get(definition);
      if (!lifecycle) return [];
      const { inputs, problems } = lifecycle.check(
        {},
        {
          ...Object.fromEntries(declaration.values),
          ...(account !== undefined && { account }),
          importId: record.id,
          __options: { importer: name },
        },
      );
      if (problems.length > 0) return [];
      // Outputs that hold attributes are those of a resource that is managed.
      const state = await lifecycle.read(record.id, { ...inputs, attributes: {} });
      if (!state) return [];
      const __provider = `exports.handler=()=>require("pulumi-uptime/provider").${definition.singular}`;
      return [
        {
          type: typeToken(definition),
          name,
          id: state.id,
          inputs: { ...inputs, __provider },
          outputs: { ...state.outputs, __provider },
          secrets: Object.keys(definition.fields).filter((key) => definition.fields[key]?.secret),
        },
      ];
    }),
  );
  return added.flat();
}
