/** Checks all promises against the record of a run: those of rates and receipts here, others beside. */
import { brandsPerSecond } from '@partner-network/contract/limits';
import { listBrands } from '@partner-network/contract/operations';
import { type Span, secondsOf } from '../../../packages/testkit/fixtures/spans.ts';
import type { Answer } from '../record.ts';
import { type Run, requestIn, type Verdict, type Violation, verdictOf } from '../record.ts';
import { partners } from '../world.ts';
import { judgeAnswers } from './answers.ts';
import { judgePages, judgeWalks } from './pages.ts';

export function judge(run: Run): Verdict[] {
  return [judgePages, judgeWalks, judgeRate, judgeReceipts, judgeAnswers].flatMap((part) => part(run));
}

const windowMs = 1_000;
/** Logs have whole milliseconds. */
const roundingMs = 1;
const promise =
  `at most ${brandsPerSecond} brands requests of a partner are admitted in a second ` +
  `(${2 * brandsPerSecond} if Redis is lost or returns)`;

/** By what clients saw and by what the instances logged. */
function judgeRate({ recorder, logs, redisSwitches }: Run): Verdict[] {
  const byClients = recorder.answers.filter(
    ({ listing, isLimited, status }) => listing === 'brands' && isLimited && status !== 429,
  );
  // Only pages: a log does not say of other answers whether they were admitted.
  const byInstances = logs
    .flatMap(requestIn)
    .filter(({ operation, status }) => operation === listBrands.id && status === 200)
    .map((request) => ({
      ...request,
      sentMs: request.sentMs - roundingMs,
      receivedMs: request.receivedMs + roundingMs,
    }));
  return [
    judgeAdmissions(`${promise}, by callers`, byClients, redisSwitches),
    judgeAdmissions(`${promise}, by logs`, byInstances, redisSwitches),
  ];
}

type Admission = Span & { readonly partnerId: unknown };

function judgeAdmissions(
  promise: string,
  admissions: readonly Admission[],
  redisSwitches: readonly Span[],
): Verdict {
  const ofPartners = partners.map((id) => secondsOf(admissions.filter(({ partnerId }) => partnerId === id)));
  // Reported, because a run far below the rate proves nothing.
  const fullest = ofPartners.flat().reduce((most, { count }) => Math.max(most, count), 0);
  const violations = ofPartners.flatMap((seconds) =>
    fullestOf(seconds.filter(({ atMs, count }) => count > limitAt(atMs, redisSwitches))),
  );
  return verdictOf(promise, `admissions, ${fullest} in the fullest second`, admissions.length, violations);
}

/** Twice the rate if Redis was lost or returned in the second that begins at `atMs` or just before it. */
function limitAt(atMs: number, redisSwitches: readonly Span[]): number {
  const isSwitching = redisSwitches.some(
    ({ sentMs, receivedMs }) => sentMs < atMs + windowMs && receivedMs > atMs - windowMs,
  );
  return isSwitching ? 2 * brandsPerSecond : brandsPerSecond;
}

type Second = ReturnType<typeof secondsOf>[number];

/** The fullest of seconds that overlap. */
function fullestOf(seconds: readonly Second[]): Violation[] {
  const fullest: Second[] = [];
  for (const second of seconds) {
    const before = fullest.at(-1);
    if (before === undefined || second.atMs - before.atMs >= windowMs) fullest.push(second);
    else if (second.count > before.count) fullest[fullest.length - 1] = second;
  }
  return fullest.map(({ atMs, count }) => ({ atMs, text: `${count} within a second` }));
}

/** The documented loss of a kill: receipts of its last second. */
const lostMs = 1_000;

function judgeReceipts(run: Run): Verdict[] {
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
