/** Logs an outage at its first failure after `graceMs` or more, and its end; nothing in between. */
export function createOutageLog(graceMs = 0, nowMs: () => number = () => performance.now()) {
  let sinceMs: number | undefined;
  let isLogged = false;
  return {
    /** Reports a failure. Calls `write` once for each outage. */
    failed(write: () => void): void {
      sinceMs ??= nowMs();
      if (isLogged || nowMs() - sinceMs < graceMs) return;
      isLogged = true;
      write();
    },
    /** Reports a success. Calls `write` if the outage was logged. */
    recovered(write: () => void): void {
      if (isLogged) write();
      sinceMs = undefined;
      isLogged = false;
    },
  };
}
