import { CustomResource } from "@pulumi/pulumi";
import type { CustomResourceOptions, ID, Input, Output } from "@pulumi/pulumi";

import { domain } from "./definitions/domain";
import type { domainFields } from "./definitions/domain";
import type { AccountArgs, ArgsOf, GetOptions, OutputsOf } from "./definitions/field";
import { monitor } from "./definitions/monitor";
import type { monitorFields } from "./definitions/monitor";
import { declareOutputs, optionsOf, propsOf, SpareTraces, typeToken } from "./engine/props";

/** The inputs of a {@link Domain}. */
export interface DomainArgs extends ArgsOf<typeof domainFields>, AccountArgs {}

export interface Domain extends OutputsOf<typeof domainFields> {}

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

/** The inputs of a {@link Monitor}. */
export interface MonitorArgs extends ArgsOf<typeof monitorFields>, AccountArgs {}

export interface Monitor extends OutputsOf<typeof monitorFields> {}

/**
 * An uptime monitor: a check of a URL that runs at a fixed interval. Fields that are not declared are left as they are
 * at the API, and are shown in `attributes`.
 *
 * @example
 * const home = new Monitor("home", { name: "Home page", url: "https://example.com/", interval: 300 });
 */
export class Monitor extends CustomResource {
  /** The account that the monitor belongs to; undefined for the one without a name. */
  declare readonly account: Output<string | undefined>;
  /** What else the API shows of the monitor, under the API's own names; nothing of it is null. */
  declare readonly attributes: Output<Readonly<Record<string, unknown>>>;

  /**
   * @param name the name of the resource in Pulumi
   * @param args the monitor's fields
   * @param options Pulumi's options. With `import`, the id of a monitor that is there already, nothing is created: the
   * monitor is taken over as it is, and inputs that differ from it are refused in the preview.
   */
  constructor(name: string, args: MonitorArgs, options?: CustomResourceOptions) {
    const traces = new SpareTraces();
    try {
      const props = propsOf(monitor, name, args, options);
      super(typeToken(monitor), name, props, optionsOf(monitor, props, options));
    } catch (error) {
      throw traces.traced(Monitor, error);
    } finally {
      traces.giveBack();
    }
  }

  /**
   * Reads an existing monitor by its id at the API, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the monitor's id at the API
   * @param options Pulumi's options, and `account` for a monitor of another account
   */
  static get(name: string, id: Input<ID>, { account, ...options }: GetOptions = {}): Monitor {
    return new Monitor(name, { account } as MonitorArgs, { ...options, id });
  }
}
declareOutputs(Monitor, monitor);
