import type { Definition } from "../../definitions/field";
import type { Value } from "../../definitions/kinds";
import { providerCode } from "../../definitions/pulumi";
import { cleanAttributes, secretsIn } from "../../engine/clean";
import { encodeInputs, encodeOutputs } from "../../engine/request";
import type { Connect } from "../../lifecycle/account";
import { check } from "../../lifecycle/check";
import { read } from "../../lifecycle/read";
import type { DeclaredRecord } from "./declared-values";
import { typeToken } from "../shared/resource-types";
import type { AddedResource } from "../shared/state";

/** Records as an import by the provider would have them in state. A record that it would refuse is left out. */
export async function importedResources(
  records: readonly (DeclaredRecord & { readonly name: string })[],
  connectTo: (definition: Definition) => Connect,
  account: string | undefined,
  keys: ReadonlySet<string>,
): Promise<AddedResource[]> {
  const added = await Promise.all(
    records.map(async ({ definition, record, values, name }): Promise<AddedResource[]> => {
      const connect = connectTo(definition);
      const owner = `${typeToken(definition)}::${name}`;
      const { inputs, problems } = await check(definition, connect, {
        declared: Object.fromEntries(values),
        account,
        importId: record.id,
        options: { owner },
      });
      if (problems.length > 0) return [];
      const state = await read(
        connect(account),
        record.id,
        {
          // What was checked holds only values of fields.
          values: inputs.values as Readonly<Record<string, Value>>,
          attributes: {},
          account,
          importId: record.id,
          claim: owner,
          // So that the attributes are read too.
          isPartial: true,
        },
        {},
      );
      if (!state) return [];
      const secrets = [...keys, ...secretsIn(definition, state.outputs.values)];
      const attributes = cleanAttributes(definition, state.outputs.attributes, secrets);
      const hidden = { __options: { resource: owner }, __provider: providerCode(definition) };
      return [
        {
          type: typeToken(definition),
          name,
          id: state.id,
          inputs: encodeInputs(inputs, hidden),
          outputs: {
            ...encodeOutputs({ ...state.outputs, attributes }, hidden),
            __provider: hidden.__provider,
          },
          secrets: Object.keys(definition.fields).filter((key) => definition.fields[key]?.secret),
        },
      ];
    }),
  );
  return added.flat();
}
