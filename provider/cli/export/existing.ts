import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { Settings } from "../../api/settings";
import { definitions } from "../../definitions";
import { hiddenNames } from "../../definitions/pulumi";
import { parseUrn } from "../../definitions/urn";
import { isObject } from "../../definitions/values";
import { isServerOfState } from "../../lifecycle/same-record";
import { exists, readText } from "../shared/files";
import { textOf, type Project } from "../shared/project";
import { stringLiteral } from "../shared/quoting";
import { findDefinition } from "../shared/resource-types";
import type { StateResource } from "../shared/state";
import type { ExportedRecord } from "./exported-record";

/** The resources that the project and its stack have already. */
export interface ExistingResources {
  readonly isManaged: (record: ExportedRecord) => boolean;
  /** The resource of the program that imports a record. */
  readonly importOf: (record: ExportedRecord) => DeclaredResource | undefined;
  /** Resources that the program declares without an id and that the stack does not have. */
  readonly withoutId: readonly DeclaredResource[];
  /** Names of resources. */
  readonly names: readonly string[];
  /** Words that may be keys of the stack's configuration. */
  readonly possibleKeys: ReadonlySet<string>;
}

/**
 * A resource that the program declares. One in a comment counts: an earlier export wrote it so because the provider would
 * refuse its record.
 */
interface DeclaredResource {
  /** The class: `Domain`, for example. */
  readonly label: string;
  /** These are as the program writes them, with escapes. */
  name?: string | undefined;
  account?: string | undefined;
  /** The id in the option `import`. */
  import?: string | undefined;
}

/** Asks the stack's state, and searches the program's files without running them. */
export function findExisting(
  { directory, runtime, settings: yaml }: Project,
  state: readonly StateResource[],
  account: string | undefined,
  settings: Settings,
): ExistingResources {
  const texts = exists(directory) ? textsIn(directory) : [];
  const declared = [
    ...texts.flatMap(resourcesIn),
    ...(runtime === "yaml" ? resourcesInYaml(yaml.resources) : []),
  ];
  const keyOf = (label: string, id: string): string => `${label} ${id}`;
  const imports = new Map(
    declared
      .filter((resource) => resource.account === (account && literalText(account)))
      .map((resource) => [keyOf(resource.label, resource.import ?? ""), resource]),
  );
  const own = state.flatMap(({ type, urn, id = "", external, outputs }) => {
    const definition = findDefinition(type);
    if (!definition) return [];
    // On another server, the same id is another record.
    const isHere =
      outputs?.account === account &&
      isServerOfState(
        settings[definition.addressSetting],
        settings,
        textOf(outputs?.[hiddenNames.serverHash]),
      );
    return [
      { label: definition.label, name: parseUrn(urn).name, id, isManaged: isHere && external !== true },
    ];
  });
  const managed = new Set(own.flatMap(({ label, id, isManaged }) => (isManaged ? [keyOf(label, id)] : [])));
  const labels = new Set(own.map(({ label }) => label));
  const inState = new Set(own.map(({ label, name }) => keyOf(label, name)));
  return {
    isManaged: ({ definition, record }) => managed.has(keyOf(definition.label, record.id)),
    importOf: ({ definition, record }) => imports.get(keyOf(definition.label, literalText(record.id))),
    withoutId: declared.filter(({ label, name, import: id }) => {
      if (label === "" || id !== undefined) return false;
      // Without a name, the program computes it.
      return name === undefined ? !labels.has(label) : !inState.has(keyOf(label, name));
    }),
    names: [...declared.flatMap(({ name }) => name ?? []), ...own.map(({ name }) => name)],
    possibleKeys: new Set(texts.flatMap((text) => text.match(/[a-z0-9-]+/g) ?? [])),
  };
}

/** A string as a program writes it, without the quotes. */
function literalText(text: string): string {
  return stringLiteral(text).slice(1, -1);
}

const foreignFolders = ["node_modules", "dist", "bin", "build", "coverage"];

/** The text of each module in a folder, and of each stack's configuration. */
function textsIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return foreignFolders.includes(entry.name) || entry.name.startsWith(".") ? [] : textsIn(path);
    const isText = /(?<!\.d)\.[cm]?[jt]sx?$|^Pulumi\..+\.ya?ml$/.test(entry.name);
    return entry.isFile() && isText ? [readText(path)] : [];
  });
}

/** The beginning of a resource, or one of two options; a string that follows is the fourth group, and a comma after it the fifth. */
const places =
  /\b(?:new\s+(?:[\w$]+\.)*([\w$]+)\s*\(|(account|import)["']?:)[\s/]*(?:(["'`])((?:\\.|(?!\3)[^\\\n])*)\3\s*(,)?)?/g;

/** Resources such as `new Monitor("name", { account: "other" }, { import: "7" })`. Each ends where the next one begins. */
function resourcesIn(source: string): DeclaredResource[] {
  const found: DeclaredResource[] = [];
  for (const [, label, option, , text, comma] of source.matchAll(places)) {
    const last = found.at(-1);
    const isOfPackage = definitions.some((definition) => definition.label === label);
    // Any other resource has a name and arguments too, which `new URL("…")` has not.
    if (label !== undefined && (isOfPackage || comma !== undefined)) found.push({ label, name: text });
    else if (last && text !== undefined && (option === "account" || option === "import")) last[option] = text;
  }
  return found.filter(({ label }) => definitions.some((definition) => definition.label === label));
}

/** The resources of a program in YAML, which is in Pulumi.yaml. The name of any of them is taken. */
function resourcesInYaml(resources: unknown): DeclaredResource[] {
  return Object.entries(isObject(resources) ? resources : {}).map(([key, resource]) => {
    const { type, name, properties, options } = isObject(resource) ? resource : {};
    return {
      label: /^uptime:(?:index:)?(\w+)$/.exec(textOf(type) ?? "")?.[1] ?? "",
      name: textOf(name) ?? key,
      account: isObject(properties) ? textOf(properties.account) : undefined,
      import: isObject(options) ? textOf(options.import) : undefined,
    };
  });
}
