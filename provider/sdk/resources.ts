import type { CustomResourceOptions, ID, Input } from "@pulumi/pulumi";

import { domain } from "../definitions/domain";
import type { domainFields } from "../definitions/domain";
import type { AccountArgs, ArgsOf, OutputsOf } from "../definitions/field";
import { monitor } from "../definitions/monitor";
import type { monitorFields } from "../definitions/monitor";
import { typeToken } from "../definitions/identity";
import { argsToRead, isOf, UptimeResource } from "./resource";
import type { AttributesState } from "./resource";

/** The inputs of a {@link Domain}. */
export interface DomainArgs extends ArgsOf<typeof domainFields>, AccountArgs {}

/** The outputs of a {@link Domain} by which {@link Domain.get} finds it; the provider needs `account` only. */
export interface DomainState extends Partial<ArgsOf<typeof domainFields>>, AccountArgs, AttributesState {}

export interface Domain extends OutputsOf<typeof domainFields> {}

/**
 * A domain. Fields that you do not declare keep the value that they have in the API, and are shown in `attributes`.
 *
 * @example
 * const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/home" });
 */
export class Domain extends UptimeResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = typeToken(domain);

  /**
   * @param name the name of the resource in Pulumi
   * @param args the domain's fields
   * @param opts Pulumi's options. With `import`, the id of an existing domain, nothing is created: the resource manages
   * that domain as it is, and the preview refuses inputs that differ from it.
   */
  constructor(name: string, args: DomainArgs, opts?: CustomResourceOptions) {
    super(domain, name, args, opts);
  }

  /**
   * Reads an existing domain by its id, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the domain's id in the API
   * @param state `account` for a domain of another account; other outputs may be given, and are not used
   * @param opts Pulumi's options
   */
  static get(name: string, id: Input<ID>, state?: DomainState, opts?: CustomResourceOptions): Domain {
    return new this(name, argsToRead(domain, name, id, state) as DomainArgs, { ...opts, id });
  }

  /** Whether a value is a Domain, also one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Domain {
    return isOf(this.__pulumiType, obj);
  }
}

/** The inputs of a {@link Monitor}. */
export interface MonitorArgs extends ArgsOf<typeof monitorFields>, AccountArgs {}

/** The outputs of a {@link Monitor} by which {@link Monitor.get} finds it; the provider needs `account` only. */
export interface MonitorState extends Partial<ArgsOf<typeof monitorFields>>, AccountArgs, AttributesState {}

export interface Monitor extends OutputsOf<typeof monitorFields> {}

/**
 * An uptime monitor: a check of a URL that runs at a fixed interval. Fields that you do not declare keep the value that
 * they have in the API, and are shown in `attributes`.
 *
 * @example
 * const home = new Monitor("home", { name: "Home page", url: "https://example.com/", interval: 300 });
 */
export class Monitor extends UptimeResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = typeToken(monitor);

  /**
   * @param name the name of the resource in Pulumi
   * @param args the monitor's fields
   * @param opts Pulumi's options. With `import`, the id of an existing monitor, nothing is created: the resource manages
   * that monitor as it is, and the preview refuses inputs that differ from it.
   */
  constructor(name: string, args: MonitorArgs, opts?: CustomResourceOptions) {
    super(monitor, name, args, opts);
  }

  /**
   * Reads an existing monitor by its id, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the monitor's id in the API
   * @param state `account` for a monitor of another account; other outputs may be given, and are not used
   * @param opts Pulumi's options
   */
  static get(name: string, id: Input<ID>, state?: MonitorState, opts?: CustomResourceOptions): Monitor {
    return new this(name, argsToRead(monitor, name, id, state) as MonitorArgs, { ...opts, id });
  }

  /** Whether a value is a Monitor, also one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Monitor {
    return isOf(this.__pulumiType, obj);
  }
}
