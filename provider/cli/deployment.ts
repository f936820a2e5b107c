import { randomUUID } from "node:crypto";

import { isEmpty } from "../definitions/kinds";
import type { Definition } from "../definitions/field";
import type { State } from "../lifecycle/lifecycle";
import { typeToken } from "../engine/identity";
import { secret } from "./pulumi";
import type { Deployment, StateResource } from "./pulumi";

/** A resource that state is to hold from now on. */
export interface Adopted {
  readonly definition: Definition;
  readonly name: string;
  /** As the provider's check returns them. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly state: State;
}

const providerType = "pulumi:providers:pulumi-nodejs";
const stackType = "pulumi:pulumi:Stack";

/** A stack's own deployment with resources added, such as an `up` that imports them would leave behind. */
export function withResources(
  base: Deployment,
  { stack, project }: { readonly stack: string; readonly project: string },
  adopted: readonly Adopted[],
): Deployment {
  const present = base.deployment.resources ?? [];
  const urnOf = (type: string, name: string): string => `urn:pulumi:${stack}::${project}::${type}::${name}`;
  const root: StateResource = present.find(({ type }) => type === stackType) ?? {
    urn: urnOf(stackType, `${project}-${stack}`),
    custom: false,
    type: stackType,
  };
  const isHost = ({ type, urn }: StateResource): boolean =>
    type === providerType && urn.endsWith(`::${providerType}::default`);
  const host: StateResource & { id: string } = withId(present.find(isHost)) ?? {
    urn: urnOf(providerType, "default"),
    custom: true,
    id: randomUUID(),
    type: providerType,
  };
  const added = adopted.map(({ definition, name, inputs, state }): StateResource => {
    const secrets = Object.keys(definition.fields).filter((key) => definition.fields[key]?.secret);
    const text = `exports.handler=()=>require("pulumi-uptime/provider").${definition.singular}`;
    return {
      urn: urnOf(typeToken(definition), name),
      custom: true,
      id: state.id,
      type: typeToken(definition),
      inputs: { ...sealed(inputs, secrets), __provider: text },
      outputs: { ...sealed(state.outputs, secrets), __provider: text },
      parent: root.urn,
      protect: true,
      provider: `${host.urn}::${host.id}`,
      ...(secrets.length > 0 && { additionalSecretOutputs: secrets }),
    };
  });
  const rest = present.filter((resource) => resource.urn !== root.urn && resource.urn !== host.urn);
  return { ...base, deployment: { ...base.deployment, resources: [root, host, ...rest, ...added] } };
}

function withId(resource: StateResource | undefined): (StateResource & { id: string }) | undefined {
  return resource?.id === undefined ? undefined : { ...resource, id: resource.id };
}

function sealed(
  properties: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      secrets.includes(key) && !isEmpty(value) ? secret(value) : value,
    ]),
  );
}
