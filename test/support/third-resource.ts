import * as pulumi from "@pulumi/pulumi";

import { pluginType, dynamicType } from "../../provider/common/pulumi";
import { choice, text } from "../../provider/definitions/field";
import type { AccountArgs, ArgsOf, Definition, OutputsOf } from "../../provider/definitions/field";
import { dynamicBinding } from "../../provider/sdk/dynamic-binding";
import { lookups, type AllArgs, type LookupResult, type OneArgs } from "../../provider/sdk/lookups";
import { pluginBinding } from "../../provider/sdk/plugin-binding";
import { argsToRead, hasPulumiType, Registration, type StateOf } from "../../provider/sdk/resource";

// A resource that the API does not have, written as a contributor would add one: its definition, and for each front its class
// and its lookups.

export const policyFields = {
  /** Name of the policy. (docs/policy.md) */
  displayName: text("display_name", { required: true, identifies: true }),
  /** When it applies: `always` or `nights`. Default always. (docs/policy.md) */
  applies: choice("applies", ["always", "nights"], { default: "always", resetByUpdate: true }),
  /** Text that alerts begin with. (docs/policy.md) */
  notice: text("notice"),
  /** Token of the person who is alerted. Secret. (docs/policy.md) */
  token: text("token", { secret: true }),
};

export const policyFilters = {
  /** Only the policies of the rota with this id, a whole number. (docs/policy.md) */
  rotaId: { wire: "rota", noun: "rota" },
};

export const policy: Definition = {
  label: "Policy",
  singular: "policy",
  plural: "policies",
  addressSetting: "baseUrl",
  fields: policyFields,
  filters: policyFilters,
  rules: [],
};

export interface PolicyArgs extends ArgsOf<typeof policyFields>, AccountArgs {}
export interface PolicyState extends StateOf<typeof policyFields> {}
export interface Policy extends OutputsOf<typeof policyFields> {}
export class Policy extends pulumi.CustomResource {
  static readonly __pulumiType: string = dynamicType(policy);
  constructor(name: string, args: PolicyArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(policy, dynamicBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: PolicyState,
    opts?: pulumi.CustomResourceOptions,
  ): Policy {
    return new Policy(name, argsToRead(policy, name, id, state) as PolicyArgs, { ...opts, id });
  }
  static override isInstance(obj: unknown): obj is Policy {
    return hasPulumiType(Policy.__pulumiType, obj);
  }
}

export interface GetPolicyArgs extends OneArgs<typeof policyFields, typeof policyFilters> {}
export interface GetPoliciesArgs extends AllArgs<typeof policyFields, typeof policyFilters> {}
export interface GetPolicyResult extends LookupResult<typeof policyFields> {}
export const {
  one: getPolicy,
  oneOutput: getPolicyOutput,
  all: getPolicies,
} = lookups<GetPolicyArgs, GetPoliciesArgs, GetPolicyResult>(policy, dynamicBinding);

class NativePolicy extends pulumi.CustomResource {
  static readonly __pulumiType: string = pluginType(policy);
  constructor(name: string, args: PolicyArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(policy, pluginBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: PolicyState,
    opts?: pulumi.CustomResourceOptions,
  ): NativePolicy {
    return new NativePolicy(name, argsToRead(policy, name, id, state) as PolicyArgs, { ...opts, id });
  }
  static override isInstance(obj: unknown): obj is NativePolicy {
    return hasPulumiType(NativePolicy.__pulumiType, obj);
  }
}
interface NativePolicy extends OutputsOf<typeof policyFields> {}
const found = lookups<GetPolicyArgs, GetPoliciesArgs, GetPolicyResult>(policy, pluginBinding);

/** The same on the provider plugin. */
export const native = {
  Policy: NativePolicy,
  getPolicy: found.one,
  getPolicyOutput: found.oneOutput,
  getPolicies: found.all,
  getPoliciesOutput: found.allOutput,
};
