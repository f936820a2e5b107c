// Runs a program without an engine, in a process of its own, and sends its parent what the program declares. Nothing is
// created: the SDK's mocks answer in the engine's place, as in a preview in which no value of a new resource is known.
import { existsSync, readFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join, resolve } from "node:path";

import type * as Pulumi from "@pulumi/pulumi";
import type * as Typescript from "typescript";

import { isObject } from "../definitions/kinds";
import { markKey, unknownValue } from "../engine/marks";

const [directory = ".", project = "project", stack = "stack"] = process.argv.slice(2);

/** From where the program itself would load it. */
const load = createRequire(resolve(directory, "package.json"));
const pulumi = load("@pulumi/pulumi") as typeof Pulumi;

/** Inputs as the engine would hand them to a provider. */
function plain(value: unknown): unknown {
  if (pulumi.isUnknown(value)) return unknownValue;
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  if (markKey in value && "value" in value) return plain(value.value);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (entry === undefined ? [] : [[key, plain(entry)]])),
  );
}

/** Programs in TypeScript, without a check of their types: with the project's compiler, or the one in the SDK. */
function readTypeScript(): void {
  const bundled = join(
    dirname(load.resolve("@pulumi/pulumi")),
    "vendor",
    "typescript@3.8.3",
    "typescript.js",
  );
  const compiler = load(isInstalled("typescript") ? "typescript" : bundled) as typeof Typescript;
  const file = resolve(directory, "tsconfig.json");
  const { config } = existsSync(file)
    ? (compiler.readConfigFile(file, (path) => readFileSync(path, "utf8")) as { config?: unknown })
    : {};
  const own = isObject(config) ? config.compilerOptions : {};
  const { options } = compiler.convertCompilerOptionsFromJson(own, directory);
  const compilerOptions: Typescript.CompilerOptions = {
    ...options,
    module: compiler.ModuleKind.CommonJS,
    target: compiler.ScriptTarget.ES2019,
    inlineSourceMap: true,
  };
  delete compilerOptions.moduleResolution;
  const extensions = (Module as unknown as { _extensions: Record<string, Extension> })._extensions;
  extensions[".ts"] = (module, path) => {
    const { outputText } = compiler.transpileModule(readFileSync(path, "utf8"), {
      fileName: path,
      compilerOptions,
    });
    module._compile(outputText, path);
  };
}

type Extension = (module: { _compile(source: string, path: string): void }, path: string) => void;

function isInstalled(name: string): boolean {
  try {
    load.resolve(name);
    return true;
  } catch {
    return false;
  }
}

async function declared(): Promise<void> {
  const resources: { type: string; name: string; inputs: unknown }[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, custom }) => {
        if (custom) resources.push({ type, name, inputs: plain(inputs) });
        return { id: undefined, state: {} };
      },
      call: () => ({}),
    },
    project,
    stack,
    true,
  );
  readTypeScript();
  process.chdir(directory);
  // With a slash at its end it is the folder, and no file beside it that has the folder's name.
  const program = `${resolve(directory)}/`;
  await pulumi.runtime.runInPulumiStack(() => Promise.resolve(load(program) as unknown));
  await pulumi.runtime.disconnect();
  process.send?.(resources, () => process.exit());
}

function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack === "" ? error.message : error.stack) : String(error);
  process.stderr.write(`${text ?? ""}\n`, () => process.exit(1));
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
declared().catch(fail);
