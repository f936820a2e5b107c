export function buildSite(out?: string): void;
export function problemsIn(folder: string): Promise<string[]>;
