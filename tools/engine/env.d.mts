import type { Engine } from "./install.mjs";

export function enginePath(engine: Engine, path?: string): string;

export function engineEnv(
  engine: Engine,
  folders: { home: string; backend: string; temporary: string },
  env?: NodeJS.ProcessEnv,
): Record<string, string>;
