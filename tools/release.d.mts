export interface Release {
  tag: string;
  manifest: { version: string; repository?: { url: string }; private?: boolean };
  lock: { version: string; packages: Record<string, { version?: string }> };
  changelog: string;
  hasCorpus: boolean;
}

export function problemsOf(release: Release): string[];
