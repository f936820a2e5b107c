import { CustomResource } from "@pulumi/pulumi";
import type { CustomResourceOptions, ID, Input, Output } from "@pulumi/pulumi";

import { hostname, url } from "./fields";
import type { AccountArgs, ArgsOf, Definition, GetOptions, OutputsOf } from "./fields";
import { declareOutputs, optionsOf, propsOf, typeToken, SpareTraces } from "./resource";

const fields = {
  /**
   * The domain's name, for example `example.com`. Letter case means nothing. The API cannot change it: another name
   * replaces the domain, and the new one is made before the old one goes. (API reference, section 2.1)
   */
  name: hostname("name", { required: true, replace: true }),
  /** Homepage URL: an absolute http or https URL. (API reference, section 2.1) */
  homepageUrl: url("homepage_url"),
  /** URL for the 404 Not Found case: an absolute http or https URL. (API reference, section 2.1) */
  notFoundUrl: url("not_found_url"),
};

export const domain: Definition = {
  label: "Domain",
  singular: "domain",
  plural: "domains",
  baseUrl: "baseUrl",
  fields,
  rules: [],
};

/** The inputs of a {@link Domain}. */
export interface DomainArgs extends ArgsOf<typeof fields>, AccountArgs {}

export interface Domain extends OutputsOf<typeof fields> {}

/**
 * A domain. Fields that are not declared are left as they are at the API, and are shown in `attributes`.
 *
 * @example
 * const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/home" });
 */
export class Domain extends CustomResource {
  /** The account that the domain belongs to; undefined for the one without a name. */
  declare readonly account: Output<string | undefined>;
  /** What else the API shows of the domain, under the API's own names; nothing of it is null. */
  declare readonly attributes: Output<Readonly<Record<string, unknown>>>;

  /**
   * @param name the name of the resource in Pulumi
   * @param args the domain's fields
   * @param options Pulumi's options. With `import`, the id of a domain that is there already, nothing is created: the
   * domain is taken over as it is, and inputs that differ from it are refused in the preview.
   */
  constructor(name: string, args: DomainArgs, options?: CustomResourceOptions) {
    const traces = new SpareTraces();
    try {
      const props = propsOf(domain, name, args, options);
      super(typeToken(domain), name, props, optionsOf(domain, props, options));
    } catch (error) {
      throw traces.traced(Domain, error);
    } finally {
      traces.giveBack();
    }
  }

  /**
   * Reads an existing domain by its id at the API, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the domain's id at the API
   * @param options Pulumi's options, and `account` for a domain of another account
   */
  static get(name: string, id: Input<ID>, { account, ...options }: GetOptions = {}): Domain {
    return new Domain(name, { account } as DomainArgs, { ...options, id });
  }
}
declareOutputs(Domain, domain);
