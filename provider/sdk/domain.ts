import * as pulumi from "@pulumi/pulumi";

import { dynamicType } from "../common/pulumi";
import { domain } from "../definitions/domain";
import type { domainFields } from "../definitions/domain";
import type { AccountArgs, ArgsOf, OutputsOf } from "../definitions/field";
import { dynamicBinding } from "./dynamic-binding";
import { lookups } from "./lookups";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "./lookups";
import { argsToRead, hasPulumiType, Registration } from "./resource";
import type { RecordOutputs, StateOf } from "./resource";

/** The inputs of a {@link Domain}. */
export interface DomainArgs extends ArgsOf<typeof domainFields>, AccountArgs {}

/** The optional third argument of `Domain.get`. Only `account` is used. */
export interface DomainState extends StateOf<typeof domainFields> {}

export interface Domain extends OutputsOf<typeof domainFields>, RecordOutputs {}

/**
 * A domain. Fields that you do not declare keep their value in the API, and are shown in `attributes`.
 * See docs/domain.md; docs/api.md describes the API, and docs/errors.md the errors.
 *
 * @example
 * const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/home" });
 */
export class Domain extends pulumi.CustomResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = dynamicType(domain);

  /**
   * Declares a domain. If the option `import` names an existing domain's id, nothing is created: the resource manages
   * that domain, and the preview refuses inputs that differ from it. (docs/adopting.md)
   *
   * @throws if both the options `id` and `import` are set, if `providers` is, or if `parent` has a provider of
   * pulumi-uptime/native. The preview reports wrong arguments, and the option `provider`, which also needs that: see
   * docs/errors.md
   */
  constructor(name: string, args: DomainArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(domain, dynamicBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }

  /**
   * Reads an existing domain by its id, without managing it. A field that the record does not show is an output of undefined,
   * even if the field is required. Of `state`, only `account` is used. (docs/domain.md)
   *
   * @throws if `id` is empty or `state` has a key that is not an output. The run fails if the domain does not exist:
   * see docs/errors.md
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: DomainState,
    opts?: pulumi.CustomResourceOptions,
  ): Domain {
    return new Domain(name, argsToRead(domain, name, id, state) as DomainArgs, { ...opts, id });
  }

  /** Returns true for a domain of this type, including one from another copy of this package; false for one of pulumi-uptime/native. */
  static override isInstance(obj: unknown): obj is Domain {
    return hasPulumiType(Domain.__pulumiType, obj);
  }
}

/** Selects the domain for {@link getDomain}: by its `id` alone, or by any of the others. */
export interface GetDomainArgs extends OneArgs<typeof domainFields> {}
/** {@link GetDomainArgs} with inputs. */
export type GetDomainOutputArgs = OutputArgs<GetDomainArgs>;
/** Selects the domains for {@link getDomains}; all of them if nothing is given. */
export interface GetDomainsArgs extends AllArgs<typeof domainFields> {}
/** {@link GetDomainsArgs} with inputs. */
export type GetDomainsOutputArgs = OutputArgs<GetDomainsArgs>;
/** A domain as the API shows it. */
export interface GetDomainResult extends LookupResult<typeof domainFields> {}

const domains = lookups<GetDomainArgs, GetDomainsArgs, GetDomainResult>(domain, dynamicBinding);

/**
 * Finds one domain without managing it, by its id, the exact value of a field, or a search. (docs/domain.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and the
 * others have no effect
 * @throws if no argument says which domain, if none matches, or if more than one does: see docs/errors.md
 */
export function getDomain(args: GetDomainArgs, opts?: pulumi.InvokeOptions): Promise<GetDomainResult> {
  return domains.one(args, opts);
}

/**
 * Finds one domain as {@link getDomain} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/domain.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and only
 * `dependsOn` has an effect
 * @throws if no domain matches, or more than one: see docs/errors.md
 */
export function getDomainOutput(
  args: GetDomainOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetDomainResult> {
  return domains.oneOutput(args, opts);
}

/**
 * Finds all domains that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/domain.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and the
 * others have no effect
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getDomains(args?: GetDomainsArgs, opts?: pulumi.InvokeOptions): Promise<GetDomainResult[]> {
  return domains.all(args, opts);
}

/**
 * Finds all domains as {@link getDomains} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/domain.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and only
 * `dependsOn` has an effect
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getDomainsOutput(
  args?: GetDomainsOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetDomainResult[]> {
  return domains.allOutput(args, opts);
}
