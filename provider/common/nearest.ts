import { distance } from "fastest-levenshtein";

/**
 * The most similar candidate or, if none is similar, the only one that begins with what was given. Ignores letter case.
 *
 * @param share the part of its letters that may differ
 */
export function nearest(given: string, candidates: readonly string[], share = 1 / 3): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(given.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  if (best && best.far <= Math.max(2, best.candidate.length * share)) return best.candidate;
  const longer = candidates.filter((one) => one.toLowerCase().startsWith(given.toLowerCase()));
  return longer.length === 1 ? longer[0] : undefined;
}
