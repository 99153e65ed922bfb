/** Milliseconds since 1970 that never go back: what is noted here compares with logs of this machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
