import fs from "node:fs";
import { dirname, join } from "node:path";
import { createContext, Script } from "node:vm";

import ts from "typescript";

import { cli, emulator, folder, type Outcome, withCli, withStack } from "./cli";
import { site } from "./monitors";

/** Gives each test of the file a server, and a project to export into. */
export function withExports(): void {
  withCli();
  beforeEach(() => newProject({ "Pulumi.yaml": "name: mine\nruntime: nodejs\n" }));
}

/** Nothing but these files in the project. */
export function newProject(present: Record<string, string>): void {
  fs.rmSync(out(), { recursive: true, force: true });
  fs.mkdirSync(out());
  for (const [file, content] of Object.entries(present)) write(file, content);
}

/** The project, or a path in it. */
export const out = (...path: string[]): string => join(folder, "out", ...path);
export const text = (...path: string[]): string => fs.readFileSync(out(...path), "utf8");
export const files = (): string[] => fs.readdirSync(out()).sort();
export function write(file: string, content: string): void {
  fs.mkdirSync(dirname(out(file)), { recursive: true });
  fs.writeFileSync(out(file), content);
}

/** Exports to a project, whose stack is empty. */
export const exported = (...args: string[]): Promise<Outcome> => exportedWith(withStack(folder, {}), ...args);
export const exportedWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(emulator, folder, ["export", "--out", "out", ...args], { env });

/** Adds a monitor to the API. */
export const addMonitor = (name: string, more?: Record<string, unknown>): unknown =>
  emulator.monitors.add(site(name, more));

/** A resource as a program declares it. */
interface Declaration {
  kind: "Domain" | "Monitor";
  name: string;
  args: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** What the program in the project declares, with these secrets in the configuration. */
export function declaredResources(secrets?: Record<string, string>): Declaration[] {
  const declared: Declaration[] = [];
  const classOf = (kind: Declaration["kind"]) =>
    function (name: string, args: Record<string, unknown>, options: Record<string, unknown>) {
      declared.push({ kind, name, args, options });
    };
  class Config {
    getSecret(key: string): string | undefined {
      // The API does not show passwords.
      return secrets ? secrets[key] : key.endsWith("-password") ? undefined : "secret";
    }
    getBoolean(): undefined {
      return undefined;
    }
  }
  const modules: Record<string, unknown> = {
    "@pulumi/pulumi": { Config },
    "pulumi-uptime": { Domain: classOf("Domain"), Monitor: classOf("Monitor") },
  };
  for (const file of files().filter((name) => name.endsWith(".ts") && name !== "index.ts")) {
    const { outputText } = ts.transpileModule(text(file), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS },
    });
    new Script(outputText, { filename: file }).runInContext(
      createContext({ exports: {}, require: (name: string) => modules[name] }),
    );
  }
  // As values of this realm.
  return JSON.parse(JSON.stringify(declared)) as Declaration[];
}
