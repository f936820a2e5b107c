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
  /** Undefined if the program computes it. */
  readonly name: string | undefined;
  readonly source: string;
}

/** Asks the stack's state, and searches the program's files for `import: "ID"`, without running them. */
export function findExisting(
  { directory, runtime, settings: yaml }: Project,
  state: readonly StateResource[],
  account: string | undefined,
  settings: Settings,
): ExistingResources {
  const texts = exists(directory) ? textsIn(directory) : [];
  const declared = texts.flatMap(resourcesIn);
  const isOfAccount = ({ source }: DeclaredResource): boolean =>
    account === undefined ? !/\baccount: ["']/.test(source) : holds(source, "account", account);
  const ofAccount = declared.filter(isOfAccount);
  const keyOf = (label: string, id: string): string => `${label} ${id}`;
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
  return {
    isManaged: ({ definition, record }) => managed.has(keyOf(definition.label, record.id)),
    importOf: ({ definition, record }) =>
      ofAccount.find(({ label, source }) => label === definition.label && holds(source, "import", record.id)),
    names: [
      ...declared.flatMap(({ name }) => name ?? []),
      // A program in YAML is in Pulumi.yaml, where a name is taken by a resource of any type.
      ...(runtime === "yaml" && isObject(yaml.resources) ? Object.keys(yaml.resources) : []),
      ...own.map(({ name }) => name),
    ],
    possibleKeys: new Set(texts.flatMap((text) => text.match(/[a-z0-9-]+/g) ?? [])),
  };
}

/** Whether a resource has a string as an option, as an export or a formatter writes it. */
function holds(source: string, option: string, text: string): boolean {
  return [stringLiteral(text), `'${text}'`].some((literal) => source.includes(`${option}: ${literal}`));
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

/** Resources such as `new Monitor("name", …)`. Each ends where the next `new` begins. */
function resourcesIn(text: string): DeclaredResource[] {
  return text.split(/\bnew\s+(?=[\w$.]+\()/).flatMap((source) => {
    const [, label = "", , name] = /^(?:[\w$]+\.)*([\w$]+)\([\s/]*(?:(["'`])(.*?)\2)?/.exec(source) ?? [];
    return definitions.some((definition) => definition.label === label) ? [{ label, name, source }] : [];
  });
}
