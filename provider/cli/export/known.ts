import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { Settings } from "../../api/settings";
import { definitions } from "../../definitions";
import { isObject } from "../../definitions/values";
import { parseUrn } from "../../definitions/urn";
import { exists, readText } from "../shared/files";
import { textOf } from "../shared/project";
import type { Project } from "../shared/project";
import { stringLiteral } from "../shared/quoting";
import { findDefinition } from "../shared/resource-types";
import type { StateResource } from "../shared/state";
import type { DeclaredRecord } from "./declared-values";

/** What the project and its stack have already. */
export interface Known {
  /** Whether the stack has a record. */
  readonly isManaged: (record: DeclaredRecord) => boolean;
  /** The resource of the program that imports a record. */
  readonly importOf: (record: DeclaredRecord) => DeclaredResource | undefined;
  /** Resources that the program declares without an id and that the stack does not have. */
  readonly unidentified: readonly DeclaredResource[];
  /** Names of resources. */
  readonly names: readonly string[];
  /** Words that may be keys of the stack's configuration. */
  readonly words: ReadonlySet<string>;
}

/** A resource that a program declares, also in a comment: that is a record that cannot be managed yet. */
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
export function known(
  { directory, runtime, settings: yaml }: Project,
  state: readonly StateResource[],
  account: string | undefined,
  settings: Settings,
): Known {
  const sources = exists(directory) ? sourcesIn(directory) : [];
  const resources = [
    ...sources.flatMap(resourcesIn),
    ...(runtime === "yaml" ? resourcesInYaml(yaml.resources) : []),
  ];
  const keyOf = (label: string, id: string): string => `${label} ${id}`;
  const imports = new Map(
    resources
      .filter((resource) => resource.account === (account && literalText(account)))
      .map((resource) => [keyOf(resource.label, resource.import ?? ""), resource]),
  );
  const own = state.filter(({ type }) => findDefinition(type));
  const managed = new Set(
    own.flatMap(({ type, id = "", external, outputs }) => {
      const definition = findDefinition(type);
      if (!definition || external === true || outputs?.account !== account) return [];
      // On another server, the same id is another record.
      const servers: unknown[] = [undefined, settings[definition.baseUrl].hash, ...settings.movedFrom];
      return servers.includes(outputs?.__server) ? [keyOf(definition.label, id)] : [];
    }),
  );
  const inState = new Set(
    own.map(({ urn, type }) => keyOf(findDefinition(type)?.label ?? "", parseUrn(urn).name)),
  );
  const stacks = exists(directory)
    ? readdirSync(directory).filter((name) => /^Pulumi\..+\.ya?ml$/.test(name))
    : [];
  const texts = [...sources, ...stacks.map((name) => readText(join(directory, name)))];
  return {
    isManaged: ({ definition, record }) => managed.has(keyOf(definition.label, record.id)),
    importOf: ({ definition, record }) => imports.get(keyOf(definition.label, literalText(record.id))),
    unidentified: resources.filter(({ label, name, import: id }) => {
      if (label === "" || id !== undefined) return false;
      // The program computes the name.
      if (name === undefined) return !own.some(({ type }) => findDefinition(type)?.label === label);
      return !inState.has(keyOf(label, name));
    }),
    names: [...resources.flatMap(({ name }) => name ?? []), ...own.map(({ urn }) => parseUrn(urn).name)],
    words: new Set(texts.flatMap((text) => text.match(/[a-z0-9-]+/g) ?? [])),
  };
}

/** A string as a program writes it, without the quotes. */
function literalText(text: string): string {
  return stringLiteral(text).slice(1, -1);
}

const foreignFolders = ["node_modules", "dist", "bin", "build", "coverage"];

/** The text of each module in a folder. */
function sourcesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return foreignFolders.includes(entry.name) || entry.name.startsWith(".") ? [] : sourcesIn(path);
    return entry.isFile() && /(?<!\.d)\.[cm]?[jt]sx?$/.test(entry.name) ? [readText(path)] : [];
  });
}

/** Where a resource begins, or one of two options; a string that follows is the fourth group, and a comma after it the fifth. */
const places =
  /\b(?:new\s+(?:[\w$]+\.)*([\w$]+)\s*\(|(account|import):)[\s/]*(?:(["'`])((?:\\.|(?!\3)[^\\\n])*)\3\s*(,)?)?/g;

/** Resources such as `new Monitor("name", { account: "other" }, { import: "7" })`. Each ends where the next one begins. */
function resourcesIn(source: string): DeclaredResource[] {
  const found: DeclaredResource[] = [];
  for (const [, label, option, , text, comma] of source.matchAll(places)) {
    const last = found.at(-1);
    const isOwn = definitions.some((definition) => definition.label === label);
    // Any other resource has a name and arguments too, which `new URL("…")` has not.
    if (label !== undefined && (isOwn || comma !== undefined)) found.push({ label, name: text });
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
