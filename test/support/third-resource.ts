import type {
  CustomResourceOptions,
  ID,
  Input,
  InvokeOptions,
  InvokeOutputOptions,
  Output,
} from "@pulumi/pulumi";

import { choice, text } from "../../provider/definitions/field";
import type { AccountArgs, ArgsOf, Definition, OutputsOf } from "../../provider/definitions/field";
import { typeToken } from "../../provider/definitions/identity";
import { all, allOutput, one, oneOutput } from "../../provider/sdk/invoke";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "../../provider/sdk/invoke";
import { argsToRead, isOf, UptimeResource } from "../../provider/sdk/resource";
import type { AttributesState } from "../../provider/sdk/resource";

// A resource that the API does not have, written as a contributor would add one: its definition, its class and its lookups.

export const pageFields = {
  /** Name of the page. (API reference, section 2.3) */
  name: text("name", { required: true }),
  /** Look of the page: `light` or `dark`. Default light. (API reference, section 2.3) */
  theme: choice("theme", ["light", "dark"], { default: "light", resetByUpdate: true }),
  /** Text above the page. (API reference, section 2.3) */
  headline: text("headline"),
  /** Password of the page. Secret, and never compared with what the API shows. (API reference, section 2.3) */
  passcode: text("passcode", { secret: true, writeOnly: true }),
};

export const page: Definition = {
  label: "Page",
  singular: "page",
  plural: "pages",
  baseUrl: "baseUrl",
  fields: pageFields,
  rules: [],
};

export interface PageArgs extends ArgsOf<typeof pageFields>, AccountArgs {}

export interface PageState extends Partial<ArgsOf<typeof pageFields>>, AccountArgs, AttributesState {}

export interface Page extends OutputsOf<typeof pageFields> {}

export class Page extends UptimeResource {
  static readonly __pulumiType: string = typeToken(page);

  constructor(name: string, args: PageArgs, opts?: CustomResourceOptions) {
    super(page, name, args, opts);
  }

  static get(name: string, id: Input<ID>, state?: PageState, opts?: CustomResourceOptions): Page {
    return new this(name, argsToRead(page, name, id, state) as PageArgs, { ...opts, id });
  }

  static override isInstance(obj: unknown): obj is Page {
    return isOf(this.__pulumiType, obj);
  }
}

export type PageResult = LookupResult<Omit<PageArgs, "passcode">>;

export function getPage(args: OneArgs<typeof pageFields>, opts?: InvokeOptions): Promise<PageResult> {
  return one(page, args, opts);
}

export function getPageOutput(
  args: OutputArgs<OneArgs<typeof pageFields>>,
  opts?: InvokeOutputOptions,
): Output<PageResult> {
  return oneOutput(page, args, opts);
}

export function getPages(args: AllArgs<typeof pageFields> = {}, opts?: InvokeOptions): Promise<PageResult[]> {
  return all(page, args, opts);
}

export function getPagesOutput(
  args: OutputArgs<AllArgs<typeof pageFields>> = {},
  opts?: InvokeOutputOptions,
): Output<PageResult[]> {
  return allOutput(page, args, opts);
}
