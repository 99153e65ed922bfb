import type { Logger } from 'pino';
import { observabilityBounds } from '../bounds/common.ts';

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

interface Spell {
  /** Milliseconds without a failure after which the spell is over. */
  readonly quietMs: number;
  /** Milliseconds between two lines about the same spell; only one line if absent. */
  readonly remindMs?: number;
  nowMs?(): number;
  /** Writes the last line. */
  ended(counted: { readonly requests: number; readonly duration_ms: number }): void;
}

export type SpellLog = ReturnType<typeof createSpellLog>;

/**
 * Logs the beginning and the end of a spell of requests that fail: a line for each would cost as much as its
 * 503, and hide the lines that matter. Returns a function to call with what writes a line about a failure,
 * and with its cause: another cause gets a line, too.
 */
export function createSpellLog(spell: Spell): (write: () => void, cause?: string) => void {
  const { quietMs, remindMs = Number.POSITIVE_INFINITY, nowMs = () => performance.now(), ended } = spell;
  let requests = 0;
  let startedMs = 0;
  let latestMs = 0;
  let writtenMs = 0;
  const causes = new Set<string>();

  function watchForEnd(): void {
    setTimeout(() => {
      if (nowMs() - latestMs < quietMs) return watchForEnd();
      ended({ requests, duration_ms: Math.round(latestMs - startedMs) });
      requests = 0;
      causes.clear();
    }, quietMs).unref();
  }

  return (write, cause = '') => {
    latestMs = nowMs();
    requests += 1;
    // A cause may contain a number that is different each time.
    const isNew = !causes.has(cause) && causes.size < observabilityBounds.failuresCauses;
    if (!isNew && latestMs - writtenMs < remindMs) return;
    causes.add(cause);
    writtenMs = latestMs;
    write();
    if (requests > 1) return;
    startedMs = latestMs;
    watchForEnd();
  };
}

const outages = new WeakMap<Logger, SpellLog>();

/** For requests that a lost database fails: each cause is logged once. */
export function outageOf(log: Logger): SpellLog {
  let outage = outages.get(log);
  if (outage === undefined) {
    const { failuresQuietMs: quietMs, failuresRemindMs: remindMs } = observabilityBounds;
    const what = `no request has failed for ${quietMs / 1_000} s`;
    outage = createSpellLog({ quietMs, remindMs, ended: (counted) => log.warn(counted, what) });
    outages.set(log, outage);
  }
  return outage;
}
