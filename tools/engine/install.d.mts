export interface Engine {
  /** Folders that have to be on PATH. */
  bin: string[];
  version: string;
  source: "path" | "npm" | "go";
}

export function ensureEngine(options?: {
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
}): Promise<Engine>;
