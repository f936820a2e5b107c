import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

import { parse } from "yaml";
import * as z from "zod/mini";

import { isObject } from "../../common/values";
import { explainFailure, readText, textIfThere } from "./files";
import { parseAs } from "./json";
import { slug } from "./quoting";

/** A folder that holds a Pulumi project, or will hold one. */
export type Project = ReturnType<typeof readProject>;

/** A package.json that makes files ES modules. If it cannot be parsed, npm reports that better. */
const moduleManifest = z.looseObject({ type: z.literal("module") });

const projectFiles = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/**
 * Whether a folder holds a Pulumi project. Pulumi also searches the folders above, but a project there may have nothing to do
 * with this folder.
 */
export function isProject(directory: string): boolean {
  return projectFiles.some((file) => existsSync(join(directory, file)));
}

/** Reads a folder, which need not exist. */
export function readProject(directory: string) {
  const entries = existsSync(directory)
    ? explainFailure(`${directory} cannot be read`, () => readdirSync(directory))
    : [];
  const file = projectFiles.find((name) => entries.includes(name));
  const path = join(directory, file ?? "");
  const text = file === undefined ? "" : readText(path);
  const content = explainFailure(`${path} is not YAML`, (): unknown => parse(text, { logLevel: "silent" }));
  const settings = isObject(content) ? content : {};
  const { runtime } = settings;
  const { providers } = isObject(settings.plugins) ? settings.plugins : {};
  const manifest = textIfThere(join(directory, "package.json")) ?? "";
  return {
    directory,
    /** False if the folder holds no Pulumi project yet. */
    exists: file !== undefined,
    name: textOf(settings.name) ?? newName(basename(directory)),
    /** Pulumi's word for the language: `nodejs`, `yaml`, `python`. Undefined if there is no project. */
    runtime: textOf(isObject(runtime) ? runtime.name : runtime),
    /** This package is installed in the project. */
    hasPackage: existsSync(join(directory, "node_modules", "pulumi-uptime")),
    /** Pulumi.yaml says where the provider plugin is. */
    namesPlugin:
      Array.isArray(providers) && providers.some((one: unknown) => isObject(one) && one.name === "uptime"),
    /** The ending of a module's name in an import. */
    extension: parseAs(moduleManifest, manifest) ? ".js" : "",
    /** Names of what is directly in the folder, in lower case. */
    files: new Set(entries.map((entry) => entry.toLowerCase())),
  };
}

/** A new project's name. It is not uptime, because then the project's own settings would have the provider's prefix. */
function newName(folder: string): string {
  const name = slug(folder);
  return name === "" || name === "uptime" ? "monitoring" : name;
}

/** A string in YAML; without quotes, one that looks like a number is read as a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
