/** The name that takes the fewest single-character edits to reach, for "did you mean". */
export function nearest(name: string, candidates: readonly string[]): string {
  return closest(name, candidates).candidate;
}

/** The nearest name, if at least half of what was typed is right. */
export function similar(name: string, candidates: readonly string[]): string | undefined {
  const { candidate, distance } = closest(name, candidates);
  return distance <= name.length / 2 ? candidate : undefined;
}

function closest(name: string, candidates: readonly string[]): { candidate: string; distance: number } {
  const measured = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), candidate),
  }));
  return measured.reduce((best, next) => (next.distance < best.distance ? next : best));
}

/** Levenshtein's distance, one row at a time. */
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
