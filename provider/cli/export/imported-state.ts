import { randomUUID } from "node:crypto";

import type { Definition } from "../../definitions/field";
import { secretKeys } from "../../definitions/keys";
import { specialSigKey, specialSecretSig } from "../../definitions/marks";
import { hiddenNames, providerCode, stackType, typeToken } from "../../definitions/pulumi";
import { isEmpty } from "../../definitions/values";
import { Cleaner } from "../../engine/clean";
import { encodeInputs, encodeOutputs } from "../../engine/request";
import { check } from "../../lifecycle/check";
import { namedClaim } from "../../lifecycle/claims";
import { outputsOf } from "../../lifecycle/outputs";
import type { Connect } from "../../lifecycle/record-scope";
import type { Deployment, StateResource } from "../shared/state";
import type { ExportedRecord } from "./exported-record";

/** A record, and the name of its resource. */
export interface NamedRecord extends ExportedRecord {
  readonly name: string;
}

const dynamicHostType = "pulumi:providers:pulumi-nodejs";

/**
 * A stack's deployment with more resources in it, as an `up` that imports their records would leave it, but with secrets
 * in the clear. The provider must accept all of the records.
 */
export async function addImported(
  base: Deployment,
  { stack, project }: { readonly stack: string; readonly project: string },
  records: readonly NamedRecord[],
  { connectTo, account, secrets }: StateSource,
): Promise<Deployment> {
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
  const importedResource = async ({
    definition,
    record,
    values,
    name,
  }: NamedRecord): Promise<StateResource> => {
    const type = typeToken(definition);
    const connect = connectTo(definition);
    const owner = `${type}::${name}`;
    // The record was read already, so `check` gets no `importId` and does not read it again.
    const declared = Object.fromEntries(values);
    const checked = await check(definition, connect, { declared, account, options: { owner } });
    const inputs = { ...checked.inputs, importId: record.id };
    const outputs = outputsOf(connect(account), inputs, record, { claim: namedClaim(owner) });
    const code = { [hiddenNames.providerCode]: providerCode(definition) };
    const passed = { ...code, [hiddenNames.options]: { resource: owner } };
    const encoded = encodeOutputs(
      definition,
      outputs,
      Cleaner.forResource(secrets, definition, outputs.values),
      passed,
    );
    const secretProperties = secretKeys(definition);
    return {
      urn: urnOf(type, name),
      custom: true,
      id: record.id,
      type,
      inputs: markPlainSecrets(encodeInputs(inputs, passed), secretProperties),
      outputs: markPlainSecrets({ ...encoded, ...code }, secretProperties),
      parent: root.urn,
      protect: true,
      provider: `${host.urn}::${host.id ?? ""}`,
      ...(secretProperties.length > 0 && { additionalSecretOutputs: secretProperties }),
    };
  };
  const added = await Promise.all(records.map(importedResource));
  const rest = present.filter((resource) => resource !== root && resource !== host);
  return { ...base, deployment: { ...base.deployment, resources: [root, host, ...rest, ...added] } };
}

/** The account that the records are in, and the secrets that must not get into attributes. */
interface StateSource {
  readonly connectTo: (definition: Definition) => Connect;
  readonly account: string | undefined;
  readonly secrets: ReadonlySet<string>;
}

/** Marks values as secrets that the engine must encrypt when it imports the state. */
function markPlainSecrets(
  properties: Readonly<Record<string, unknown>>,
  secretProperties: readonly string[],
): Record<string, unknown> {
  const entries = Object.entries(properties).map(([key, value]) => {
    const isSecret = secretProperties.includes(key) && !isEmpty(value);
    return [key, isSecret ? { [specialSigKey]: specialSecretSig, plaintext: JSON.stringify(value) } : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}
