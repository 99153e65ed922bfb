/** The rate limit, by what callers saw and by what the instances logged. */
import { brandsPerSecond } from '@partner-network/contract/limits';
import { listBrands } from '@partner-network/contract/operations';
import type { Span } from '../../packages/testkit/fixtures/spans.ts';
import { requestIn } from '../log-lines.ts';
import type { Course } from '../run.ts';
import { partners } from '../world.ts';
import { type Verdict, type Violation, verdictOf } from './verdict.ts';

const windowMs = 1_000;
/** A log tells whole milliseconds. */
const roundingMs = 1;

type Judged = Pick<Course, 'recorder' | 'logs'>;

export function judgeRate({ recorder, logs }: Judged): Verdict[] {
  // Only pages: of other answers a log does not tell whether they were admitted.
  const logged = logs
    .flatMap(requestIn)
    .filter(({ operation, status }) => operation === listBrands.id && status === 200)
    .map((request) => ({
      ...request,
      sentMs: request.sentMs - roundingMs,
      receivedMs: request.receivedMs + roundingMs,
    }));
  const byCallers = partners.map((partnerId) =>
    recorder.answers.filter(
      (answer) =>
        answer.partnerId === partnerId &&
        answer.listing === 'brands' &&
        answer.isLimited &&
        answer.status !== 429,
    ),
  );
  const byInstances = partners.map((partnerId) => logged.filter((span) => span.partnerId === partnerId));
  const promise = `never more than ${brandsPerSecond} brands requests of a partner admitted in a second`;
  return [
    verdictOf(
      `${promise}, by callers`,
      fullestOf(byCallers),
      countOf(byCallers),
      byCallers.flatMap(crowdsIn),
    ),
    verdictOf(
      `${promise}, by logs`,
      fullestOf(byInstances),
      countOf(byInstances),
      byInstances.flatMap(crowdsIn),
    ),
  ];
}

/** That the rate was in reach: a run that never comes near it shows nothing. */
function fullestOf(groups: readonly (readonly Span[])[]): string {
  const fullest = Math.max(0, ...groups.flatMap((spans) => secondsOf(spans).map(({ count }) => count)));
  return `admissions, ${fullest} in the fullest second`;
}

const countOf = (groups: readonly (readonly unknown[])[]) =>
  groups.reduce((sum, { length }) => sum + length, 0);

/**
 * Each was admitted at some moment between two that are known. Those that lie within one second as a whole
 * were surely admitted in it, so that more than the rate is proof. Of seconds that overlap, the fullest.
 */
function crowdsIn(spans: readonly Span[]): Violation[] {
  const crowds: Second[] = [];
  for (const second of secondsOf(spans)) {
    if (second.count <= brandsPerSecond) continue;
    const before = crowds.at(-1);
    if (before === undefined || second.atMs - before.atMs >= windowMs) crowds.push(second);
    else if (second.count > before.count) crowds[crowds.length - 1] = second;
  }
  return crowds.map(({ atMs, count }) => ({ atMs, text: `${count} within a second` }));
}

interface Second {
  readonly atMs: number;
  readonly count: number;
}

/** One that begins with each of them, and how many lie in it. */
function secondsOf(spans: readonly Span[]): Second[] {
  const sorted = spans.toSorted((one, other) => one.sentMs - other.sentMs);
  return sorted.map(({ sentMs: atMs }, index) => {
    let count = 0;
    for (let next = index; next < sorted.length && sorted[next]!.sentMs < atMs + windowMs; next += 1) {
      if (sorted[next]!.receivedMs < atMs + windowMs) count += 1;
    }
    return { atMs, count };
  });
}
