/** Judges that answered balances have a receipt, except in the last second before a kill. */

import { type Run, type Verdict, verdictOf } from '../record.ts';
import type { Answer } from '../recorder.ts';

/** The documented loss of a kill: receipts of its last second. */
const lostMs = 1_000;

export function judgeReceipts(run: Run): Verdict[] {
  const served = run.recorder.answers.filter(
    ({ listing, status, requestId }) => listing === 'balances' && status === 200 && requestId !== undefined,
  );
  const lost = served.filter((answer) => !run.receipts.has(answer.requestId!) && !isExcused(answer, run));
  return [
    verdictOf(
      'every answered balances request has a receipt, except in the second before a kill',
      'answers',
      served.length,
      lost.map(({ sentMs, servedBy, requestId }) => ({
        atMs: sentMs,
        text: `no receipt of ${requestId}, by instance ${servedBy}`,
      })),
    ),
  ];
}

/**
 * Whether the receipt may be lost. Receipts wait in memory while the database is down and for a second after
 * its return, and while the instance is frozen.
 */
function isExcused({ sentMs, receivedMs, servedBy }: Answer, { faults, instances }: Run): boolean {
  const endings = instances.find(({ name }) => name === servedBy)?.endings ?? [];
  return endings.some(({ how, atMs }) => {
    const outages = faults.filter(
      ({ part, harm, beganMs, overMs }) =>
        (part === 'primary' || (part === `instance ${servedBy}` && harm === 'freeze')) &&
        beganMs <= atMs &&
        overMs + lostMs >= atMs - lostMs,
    );
    if (how === 'terminate' && outages.length === 0) return false;
    const sinceMs = Math.min(atMs, ...outages.map(({ beganMs }) => beganMs)) - lostMs;
    return receivedMs >= sinceMs && sentMs <= atMs;
  });
}
