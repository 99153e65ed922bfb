/** `customer` is 4 edits from `cursor`, which is another word. */
const mostEdits = 3;

/** The closest candidate for "did you mean", if at least half of what was typed is right. */
export function suggest(name: string, candidates: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  const most = Math.min(mostEdits, typed.length / 2);
  const measured = candidates
    // A request may have thousands of names: those of another length are not measured.
    .filter((candidate) => Math.abs(candidate.length - typed.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate) }));
  const [best] = measured.toSorted((left, right) => left.distance - right.distance);
  return best !== undefined && best.distance <= most ? best.candidate : undefined;
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
