import { choice, text } from "../../provider/definitions/field";
import type { AccountArgs, ArgsOf, Definition } from "../../provider/definitions/field";
import { dynamicBinding } from "../../provider/sdk/dynamic-binding";
import { lookups, type AllArgs, type LookupResult, type OneArgs } from "../../provider/sdk/lookups";
import { pluginBinding } from "../../provider/sdk/plugin-binding";
import { resourceClass, type ResourceOf, type StateOf } from "../../provider/sdk/resource";

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
export type Policy = ResourceOf<typeof policyFields>;
export const Policy = resourceClass<Policy, PolicyArgs, PolicyState>(policy, dynamicBinding);

export interface GetPolicyArgs extends OneArgs<typeof policyFields, typeof policyFilters> {}
export interface GetPoliciesArgs extends AllArgs<typeof policyFields, typeof policyFilters> {}
export interface GetPolicyResult extends LookupResult<typeof policyFields> {}
export const {
  getOne: getPolicy,
  getOneOutput: getPolicyOutput,
  getAll: getPolicies,
  getAllOutput: getPoliciesOutput,
} = lookups<GetPolicyArgs, GetPoliciesArgs, GetPolicyResult>(policy, dynamicBinding);

const [Class, found] = [
  resourceClass<Policy, PolicyArgs, PolicyState>(policy, pluginBinding),
  lookups<GetPolicyArgs, GetPoliciesArgs, GetPolicyResult>(policy, pluginBinding),
];

/** The same on the provider plugin. */
export const native = {
  Policy: Class,
  getPolicy: found.getOne,
  getPolicyOutput: found.getOneOutput,
  getPolicies: found.getAll,
  getPoliciesOutput: found.getAllOutput,
};
