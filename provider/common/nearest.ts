import { distance } from "fastest-levenshtein";

/** The most similar candidate, ignoring letter case; undefined if none is similar. */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(given.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(2, best.candidate.length / 3) ? best.candidate : undefined;
}
