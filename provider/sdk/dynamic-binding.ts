import * as pulumi from "@pulumi/pulumi";
import type { CustomResourceOptions, Resource } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { secretKeys } from "../definitions/keys";
import { hiddenNames, pluginType, providerCode, stackType, dynamicType } from "../common/pulumi";
import type { HiddenOptions } from "../common/pulumi";
import { declaredProps } from "./binding";
import type { Binding } from "./binding";
import type * as inProcess from "./lookup-in-process";
import { secretInputs } from "./secret-inputs";
import { warnOfProject } from "./warnings";

/** Loaded only when a program looks something up, because it loads HTTP and zod. */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const lookup = (): typeof inProcess => require("./lookup-in-process") as typeof inProcess;

/** As Pulumi's dynamic resources, which need nothing but this package. */
export const dynamicBinding: Binding = {
  prepare: (definition, name, args, options) => {
    warnOfProject();
    const props = propsOf(definition, name, args, options);
    return [dynamicType(definition), name, props, dynamicOptions(definition, props, options)];
  },
  find: (...call) => lookup().find(...call),
  findOutput: (...call) => lookup().findOutput(...call),
};

/** The properties of a resource; hidden ones hold what Pulumi does not pass to a dynamic provider. */
function propsOf(
  definition: Definition,
  name: string,
  args: object,
  options: CustomResourceOptions,
): Record<string, unknown> {
  const { label, singular } = definition;
  // Pulumi passes it on to resources of the plugin only, so this one would be of the stack's own account.
  if (options.parent?.getProvider(pluginType(definition)) !== undefined)
    throw new pulumi.RunError(
      `${label} ${name} has a parent with a provider, which only resources of "pulumi-uptime/native" use: import it from there, or ` +
        "give it another parent. Another account of the stack's settings is the argument account.",
    );
  if (options.import !== undefined && options.id !== undefined)
    throw new pulumi.RunError(
      `${label} ${name} has both the options id and import: use id to read a ${singular}, or import to manage it.`,
    );
  const passed = hiddenOptions(definition, name, args, options);
  return {
    ...declaredProps(definition, args, options),
    ...(options.import !== undefined && { importId: options.import }),
    ...(Object.keys(passed).length > 0 && { [hiddenNames.options]: passed }),
    [hiddenNames.providerCode]: providerCode(definition),
  };
}

/** The options for Pulumi: the program's, and the ones that a dynamic resource always needs. */
export function dynamicOptions(
  definition: Definition,
  props: object,
  options: CustomResourceOptions,
): CustomResourceOptions {
  // State has this list for each resource, so it names only properties that the resource has.
  const secrets = secretKeys(definition).filter((key) => key in props);
  // The engine cannot import a dynamic resource, so the option is passed as an input.
  const { import: id, replaceWith, ...rest } = options;
  return {
    ...rest,
    // If the other resource is deleted first, the engine deletes the imported record with it, before it asks `check`.
    ...(id === undefined && replaceWith && { replaceWith }),
    // Otherwise the engine would also keep the hidden options of the first run, such as the resource's former name.
    ...(rest.ignoreChanges?.includes("*") && {
      ignoreChanges: [...Object.keys(definition.fields), "account"],
    }),
    ...(secrets.length > 0 && {
      additionalSecretOutputs: [...(options.additionalSecretOutputs ?? []), ...secrets],
    }),
  };
}

/** The hidden options as inputs, in which the SDK waits for a promise. */
type HiddenOptionInputs = {
  readonly [Name in keyof HiddenOptions]: HiddenOptions[Name] | Promise<HiddenOptions[Name]>;
};

function hiddenOptions(
  definition: Definition,
  name: string,
  args: object,
  options: CustomResourceOptions,
): HiddenOptionInputs {
  const { ignoreChanges, replaceOnChanges, customTimeouts } = options;
  // Every stack's state has these names, so the fields that are always secret are left out.
  const always = secretKeys(definition);
  const others = Object.entries(args).filter(([key]) => !always.includes(key));
  const secrets = secretInputs(Object.fromEntries(others));
  return {
    ...(ignoreChanges?.length && { ignoreChanges }),
    ...(replaceOnChanges?.length && { replaceOnChanges }),
    ...(customTimeouts && { customTimeouts }),
    ...(secrets && { secrets }),
    // A read-only resource has no record of its own. With an argument of the option's name, `check` refuses the import.
    ...(options.id === undefined &&
      (args as { importId?: unknown }).importId === undefined && {
        owner: buildUrnSuffix(dynamicType(definition), name, options.parent),
      }),
  };
}

/** The URN suffix of a resource, whose URN is known only after registration. */
function buildUrnSuffix(type: string, name: string, parent: Resource | undefined): string {
  const types = [type];
  for (let ancestor = parent as Ancestor | undefined; ancestor; ancestor = ancestor.__parentResource) {
    const { __pulumiType: ancestorType } = ancestor;
    // The engine leaves the stack out of URNs.
    if (ancestorType && ancestorType !== stackType) types.unshift(ancestorType);
  }
  return `${types.join("$")}::${name}`;
}

/** The SDK sets both on every resource, and does not declare them. */
interface Ancestor {
  readonly __pulumiType?: string;
  readonly __parentResource?: Ancestor;
}
