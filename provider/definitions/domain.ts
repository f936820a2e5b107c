import { hostname, url } from "./field";
import type { Definition } from "./field";

export const domainFields = {
  /**
   * The domain's name, for example `example.com`. Letter case does not matter. The API cannot change it: another
   * name replaces the domain. (docs/domain.md)
   */
  name: hostname("name", { required: true, identifies: true, fixed: true }),
  /** Homepage URL: an absolute http or https URL. (docs/domain.md) */
  homepageUrl: url("homepage_url"),
  /** URL for the 404 Not Found case: an absolute http or https URL. (docs/domain.md) */
  notFoundUrl: url("not_found_url"),
};

/** @internal */
export const domain: Definition = {
  label: "Domain",
  singular: "domain",
  plural: "domains",
  addressSetting: "baseUrl",
  fields: domainFields,
  rules: [],
};
