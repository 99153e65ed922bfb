/** Who got balances left a receipt, but for the last second of an instance that was killed. */
import type { Answer } from '../recorder.ts';
import type { Course } from '../run.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** What a kill costs at the most, by the documents. */
const lostMs = 1_000;

type Judged = Pick<Course, 'faults' | 'recorder' | 'instances' | 'receipts'>;

export function judgeReceipts(course: Judged): Verdict[] {
  const served = course.recorder.answers.filter(
    ({ listing, status, requestId }) => listing === 'balances' && status === 200 && requestId !== undefined,
  );
  const lost = served.filter(
    (answer) => !course.receipts.has(answer.requestId!) && !isExcused(answer, course),
  );
  return [
    verdictOf(
      'balances that were answered left a receipt, but for the second before a kill',
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
 * While the database is away receipts wait in memory, and so they do for a second after its return; and so
 * they do in an instance that is frozen.
 */
function isExcused({ sentMs, receivedMs, servedBy }: Answer, { faults, instances }: Judged): boolean {
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
