import fs from "node:fs";
import { dirname, join } from "node:path";

import { cli, emulator, folder, type Outcome, withCli } from "./cli";

/** Gives each test of the file a server, and a project to export into. */
export function withExports(): void {
  withCli();
  beforeEach(() => {
    newProject({ "Pulumi.yaml": "name: mine\nruntime: nodejs\n" });
  });
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

export const exported = (...args: string[]): Promise<Outcome> => exportedWith({}, ...args);
export const exportedWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(emulator, folder, ["export", "--out", "out", ...args], { env });

/** A monitor as the API has it. */
export const site = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  url: `https://${encodeURIComponent(name)}.example/`,
  interval: 300,
  ...more,
});
export const addMonitor = (name: string, more?: Record<string, unknown>): unknown =>
  emulator.monitors.add(site(name, more));
