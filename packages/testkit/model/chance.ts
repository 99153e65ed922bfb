export type Chance = ReturnType<typeof chanceOf>;

/** Random numbers that are the same in every run with the same seed (mulberry32). */
export function chanceOf(seed: number) {
  let state = seed >>> 0;
  /** From 0 to 1, without 1. */
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  /** A whole number from the first to the last, both included. */
  const between = (first: number, last: number) => first + Math.floor(fraction() * (last - first + 1));
  const oneOf = <T>(choices: readonly T[]): T => choices[between(0, choices.length - 1)]!;
  return { fraction, between, oneOf };
}

/** Shuffles a list in place (Fisher and Yates). */
export function shuffle<T>(list: T[], { between }: Chance): T[] {
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = between(0, last);
    [list[last], list[other]] = [list[other]!, list[last]!];
  }
  return list;
}
