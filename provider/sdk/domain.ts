import { domain } from "../definitions/domain";
import type { domainFields } from "../definitions/domain";
import type { AccountArgs, ArgsOf } from "../definitions/field";
import { dynamicBinding } from "./dynamic-binding";
import { lookups } from "./lookups";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "./lookups";
import { resourceClass } from "./resource";
import type { ResourceOf, StateOf } from "./resource";

/** The inputs of a {@link Domain}. */
export interface DomainArgs extends ArgsOf<typeof domainFields>, AccountArgs {}

/** The optional third argument of `Domain.get`. Only `account` is used. */
export interface DomainState extends StateOf<typeof domainFields> {}

export type Domain = ResourceOf<typeof domainFields>;

/**
 * A domain. Fields that you do not declare keep the value that they have in the API, and are shown in `attributes`.
 * See docs/domain.md, docs/api.md for what the API has, and docs/errors.md for what may go wrong.
 *
 * @class
 * @example
 * const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/home" });
 */
export const Domain = resourceClass<Domain, DomainArgs, DomainState>(domain, dynamicBinding);

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

const found = lookups<GetDomainArgs, GetDomainsArgs, GetDomainResult>(domain, dynamicBinding);
/** @function */
export const getDomain = found.getOne;
/** @function */
export const getDomainOutput = found.getOneOutput;
/** @function */
export const getDomains = found.getAll;
/** @function */
export const getDomainsOutput = found.getAllOutput;
