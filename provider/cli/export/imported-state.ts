import type { Definition } from "../../definitions/field";
import type { Value } from "../../definitions/kinds";
import { providerCode } from "../../definitions/identity";
import { inputProperties, outputProperties } from "../../engine/request";
import type { Connect } from "../../lifecycle/connection";
import { Lifecycle } from "../../lifecycle/lifecycle";
import type { DeclaredRecord } from "./declared-values";
import { typeToken } from "../shared/resource-types";
import type { AddedResource } from "../shared/state";

/** Records as an import by the provider would have them in state. A record that it would refuse is left out. */
export async function importedResources(
  records: readonly (DeclaredRecord & { readonly name: string })[],
  connectTo: (definition: Definition) => Connect,
  account: string | undefined,
): Promise<AddedResource[]> {
  const lifecycles = new Map<Definition, Lifecycle>();
  const added = await Promise.all(
    records.map(async ({ definition, record, declaration, name }): Promise<AddedResource[]> => {
      const lifecycle = lifecycles.get(definition) ?? new Lifecycle(definition, connectTo(definition));
      lifecycles.set(definition, lifecycle);
      const resource = `${typeToken(definition)}::${name}`;
      const { inputs, problems } = await lifecycle.check({
        declared: Object.fromEntries(declaration.values),
        account,
        importId: record.id,
        options: { resource },
      });
      if (problems.length > 0) return [];
      const state = await lifecycle.read(
        record.id,
        {
          // What was checked holds only values of fields.
          values: inputs.values as Readonly<Record<string, Value>>,
          attributes: {},
          account,
          importId: record.id,
          claim: resource,
          // So that the attributes are read too.
          isPartial: true,
        },
        {},
      );
      if (!state) return [];
      const hidden = { __options: { resource }, __provider: providerCode(definition) };
      return [
        {
          type: typeToken(definition),
          name,
          id: state.id,
          inputs: inputProperties(inputs, hidden),
          outputs: { ...outputProperties(state.outputs, hidden), __provider: hidden.__provider },
          secrets: Object.keys(definition.fields).filter((key) => definition.fields[key]?.secret),
        },
      ];
    }),
  );
  return added.flat();
}
