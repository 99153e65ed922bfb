/** Logs when something starts to fail and when it works again, and nothing in between. */
export interface OutageLog {
  /** Reports a failure. Calls `write` once for each outage. */
  failed(write: () => void): void;
  /** Reports a success. Calls `write` if the outage was logged. */
  recovered(write: () => void): void;
}

/** An outage is logged at the first failure that comes `graceMs` or more after the outage began. */
export function createOutageLog(graceMs = 0, nowMs: () => number = () => performance.now()): OutageLog {
  let sinceMs: number | undefined;
  let isLogged = false;
  return {
    failed(write) {
      sinceMs ??= nowMs();
      if (isLogged || nowMs() - sinceMs < graceMs) return;
      isLogged = true;
      write();
    },
    recovered(write) {
      if (isLogged) write();
      sinceMs = undefined;
      isLogged = false;
    },
  };
}
