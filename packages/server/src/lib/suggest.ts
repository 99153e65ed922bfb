/** The candidate with the smallest edit distance to a name. */
export function closest(name: string, candidates: readonly string[]): string {
  return measure(name, candidates).candidate;
}

/** The closest candidate for "did you mean", if at least half of what was typed is right. */
export function suggest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const { candidate, distance } = measure(name, candidates);
  return distance <= name.length / 2 ? candidate : undefined;
}

function measure(name: string, candidates: readonly string[]): { candidate: string; distance: number } {
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate) }))
    .reduce((best, next) => (next.distance < best.distance ? next : best));
}

/** The Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substituted = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
