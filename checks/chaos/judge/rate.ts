/** Judges the rate limit, by what clients saw and by what the instances logged. */
import { brandsPerSecond } from '@partner-network/contract/limits';
import { listBrands } from '@partner-network/contract/operations';
import { type Span, secondsOf } from '../../../packages/testkit/fixtures/spans.ts';
import { type Run, requestIn, type Verdict, type Violation, verdictOf } from '../record.ts';
import { partners } from '../world.ts';

const windowMs = 1_000;
/** Logs have whole milliseconds. */
const roundingMs = 1;
const promise =
  `at most ${brandsPerSecond} brands requests of a partner are admitted in a second ` +
  `(${2 * brandsPerSecond} if Redis is lost or returns)`;

export function judgeRate({ recorder, logs, redisSwitches }: Run): Verdict[] {
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
