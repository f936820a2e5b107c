import { randomUUID } from "node:crypto";

import type { Definition } from "../../definitions/field";
import { isEmpty } from "../../definitions/values";
import { specialSigKey, specialSecretSig } from "../../definitions/marks";
import { providerCode, typeToken } from "../../definitions/pulumi";
import { encodeInputs, Encoder } from "../../engine/request";
import type { Connect } from "../../lifecycle/account";
import { check } from "../../lifecycle/check";
import { outputsOf } from "../../lifecycle/outputs";
import type { DeclaredRecord } from "./declared-values";
import type { Deployment, StateResource } from "../shared/state";

type Properties = Readonly<Record<string, unknown>>;

/** A resource as an import would have it in state, with its secrets in the clear. */
interface ImportedResource {
  readonly definition: Definition;
  readonly name: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
}

/** Records as an import by the provider would have them in state. A record that it would refuse is left out. */
export async function importedResources(
  records: readonly (DeclaredRecord & { readonly name: string })[],
  connectTo: (definition: Definition) => Connect,
  account: string | undefined,
  keys: ReadonlySet<string>,
): Promise<ImportedResource[]> {
  const accepted = records.filter(({ problems }) => problems.length === 0);
  return Promise.all(
    accepted.map(async ({ definition, record, values, name }) => {
      const connect = connectTo(definition);
      const owner = `${typeToken(definition)}::${name}`;
      const declared = Object.fromEntries(values);
      // What the record shows needs no second look at it.
      const checked = await check(definition, connect, { declared, account, options: { owner } });
      const inputs = { ...checked.inputs, importId: record.id };
      const outputs = outputsOf(connect(account), inputs, record, { claim: owner });
      const __provider = providerCode(definition);
      const hidden = { __options: { resource: owner }, __provider };
      const encoded = new Encoder(definition, keys).outputs(outputs, hidden);
      return {
        definition,
        name,
        id: record.id,
        inputs: encodeInputs(inputs, hidden),
        outputs: { ...encoded, __provider },
      };
    }),
  );
}

const dynamicHostType = "pulumi:providers:pulumi-nodejs";
const stackType = "pulumi:pulumi:Stack";

/** A stack's deployment with more resources in it, as an `up` that imports them would leave it. */
export function withResources(
  base: Deployment,
  { stack, project }: { readonly stack: string; readonly project: string },
  added: readonly ImportedResource[],
): Deployment {
  const present = base.deployment.resources ?? [];
  const urnOf = (type: string, name: string): string => `urn:pulumi:${stack}::${project}::${type}::${name}`;
  const root: StateResource = present.find(({ type }) => type === stackType) ?? {
    urn: urnOf(stackType, `${project}-${stack}`),
    custom: false,
    type: stackType,
  };
  const host = present.find(({ urn }) => urn.endsWith(`::${dynamicHostType}::default`)) ?? {
    urn: urnOf(dynamicHostType, "default"),
    custom: true,
    id: randomUUID(),
    type: dynamicHostType,
  };
  const resources = added.map(({ definition, name, id, inputs, outputs }): StateResource => {
    const type = typeToken(definition);
    const secrets = Object.keys(definition.fields).filter((key) => definition.fields[key]?.secret);
    return {
      urn: urnOf(type, name),
      custom: true,
      id,
      type,
      inputs: encrypted(inputs, secrets),
      outputs: encrypted(outputs, secrets),
      parent: root.urn,
      protect: true,
      provider: `${host.urn}::${host.id ?? ""}`,
      ...(secrets.length > 0 && { additionalSecretOutputs: secrets }),
    };
  });
  const rest = present.filter((resource) => resource !== root && resource !== host);
  return { ...base, deployment: { ...base.deployment, resources: [root, host, ...rest, ...resources] } };
}

/** Marks values as secrets that the engine must encrypt when it imports the state. */
function encrypted(properties: Properties, secrets: readonly string[]): Record<string, unknown> {
  const marked = Object.entries(properties).map(([key, value]) => {
    const isSecret = secrets.includes(key) && !isEmpty(value);
    return [key, isSecret ? { [specialSigKey]: specialSecretSig, plaintext: JSON.stringify(value) } : value];
  });
  return Object.fromEntries(marked) as Record<string, unknown>;
}
