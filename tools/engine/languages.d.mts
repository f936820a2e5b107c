import type { Engine } from "./install.mjs";

export type Language = "yaml" | "python" | "go" | "untested";

export function ensureLanguage(
  language: Language,
  options?: { log?: (line: string) => void; env?: NodeJS.ProcessEnv },
): Promise<Engine>;
