/** The parts of `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`. */
interface Urn {
  readonly stack: string;
  readonly project: string;
  /** The types of the parents and the resource's own. */
  readonly types: string;
  /** The resource's own type. */
  readonly type: string;
  readonly name: string;
}

/** Takes a URN apart. A name may hold `::` too. */
export function parseUrn(urn: string): Urn {
  const [stack = "", project = "", types = "", ...name] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, project, types, type: types.split("$").at(-1) ?? "", name: name.join("::") };
}

/** Pulumi names the providers that it makes of the stack's configuration `default`, or after a version such as `default_1_2_3`. */
export function isDefaultProvider(urn: string): boolean {
  return /^default(_\d+_\d+_\d+(_.*)?)?$/.test(parseUrn(urn).name);
}
