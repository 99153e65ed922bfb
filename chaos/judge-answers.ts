/** Every answer that is no page, and everybody who got one: nothing but what the catalogue has, in time. */
import { errorCatalogue } from '@partner-network/contract/errors';
import type { Applied } from './faults.ts';
import { active, mayHaveBeen } from './history.ts';
import type { Answer } from './recorder.ts';
import type { Course } from './run.ts';
import { type Verdict, type Violation, verdictOf } from './verdict.ts';

/** The service's 2 s, and one for the balancer and a busy machine. */
const answerMs = 3_000;
/** A key or a grant that is revoked lets nobody in after this. */
const revocationMs = 1_000;
/** After the last fault, until all must be well; also how long a balancer may take to know. */
export const recoveryMs = 5_000;

const expectedStatuses = [200, 401, 403, 429, 503];
const quietStatuses = [200, 401, 403, 429];

type Judged = Pick<Course, 'faults' | 'history' | 'recorder' | 'endedMs' | 'unrecovered' | 'instances'>;

export function judgeAnswers(course: Judged): Verdict[] {
  const { answers } = course.recorder;
  const each = (fault: (answer: Answer) => string | undefined) =>
    answers.map((answer): Violation | undefined => {
      const text = fault(answer);
      return text === undefined
        ? undefined
        : { atMs: answer.sentMs, text: `${text} (${answer.listing}, walk ${answer.walk})` };
    });
  const whole = answers.filter(({ status }) => status !== 0);
  const quiet = answers.filter((answer) => isQuiet(answer, course));
  return [
    verdictOf('only answers of the catalogue', 'answers', whole.length, each(catalogueFault)),
    verdictOf(
      'answered within 2 s, as far as the instance and the balancer run',
      'answers',
      whole.length,
      each((answer) => timeFault(answer, course)),
    ),
    verdictOf(
      'keys and grants let in whom they should, and nobody a second after a revocation',
      'answers',
      whole.length,
      each((answer) => accessFault(answer, course)),
    ),
    verdictOf(
      'nothing but 200 and 429 before the first fault, and after the last one',
      'answers',
      quiet.length,
      each((answer) => quietFault(answer, course)),
    ),
    verdictOf('all parts recover, and no instance ends by itself', 'instances', course.instances.length, [
      ...course.unrecovered.map((text) => ({ atMs: course.endedMs, text })),
      ...course.instances.flatMap(({ name, endings }) =>
        endings
          .filter(({ how }) => how === 'by itself')
          .map(({ atMs }) => ({ atMs, text: `instance ${name} ended by itself` })),
      ),
    ]),
  ];
}

function catalogueFault({ status, body }: Answer): string | undefined {
  if (status === 200 || status === 0) return undefined;
  if (!expectedStatuses.includes(status) && !isBalancers(status))
    return `status ${status}: ${body.slice(0, 200)}`;
  const { category, code } = firstErrorIn(body) ?? {};
  const entry = errorCatalogue[code as keyof typeof errorCatalogue];
  const isKnown = entry?.category === category && (entry?.status === status || isBalancers(status));
  return isKnown ? undefined : `${status} with ${body.slice(0, 200)}`;
}

/** When an instance is cut off in the middle, and when it is silent for too long. */
const isBalancers = (status: number) => status === 502 || status === 504;

function firstErrorIn(body: string): { category?: string; code?: string } | undefined {
  try {
    return (JSON.parse(body) as { errors: { category: string; code: string }[] }).errors[0];
  } catch {
    return undefined;
  }
}

const overlaps = ({ sentMs, receivedMs }: Answer, { beganMs, overMs }: Applied, graceMs: number) =>
  sentMs <= overMs + graceMs && receivedMs >= beganMs;

function timeFault(answer: Answer, { faults }: Judged): string | undefined {
  const tookMs = answer.receivedMs - answer.sentMs;
  if (tookMs <= answerMs || answer.status === 0) return undefined;
  const isInstance = ({ part }: Applied) => part.startsWith('instance') || part === 'balancer';
  if (faults.some((fault) => isInstance(fault) && overlaps(answer, fault, recoveryMs))) return undefined;
  return `${answer.status} after ${Math.round(tookMs)} ms`;
}

function accessFault(answer: Answer, { history }: Judged): string | undefined {
  const { status, partnerId, keyId, listing, customerId, sentMs, receivedMs } = answer;
  const key = history.rows('keys', partnerId).get(keyId) ?? [];
  const grant = history.rows('grants', partnerId).get(customerId ?? '') ?? [];
  if (status === 200) {
    if (!mayHaveBeen(key, active, sentMs - revocationMs, receivedMs)) return 'a page for a revoked key';
    const isGranted = mayHaveBeen(grant, active, sentMs - revocationMs, receivedMs);
    return listing === 'brands' || isGranted ? undefined : `a page of ${customerId} without a grant`;
  }
  if (status === 401) {
    return mayHaveBeen(key, undefined, sentMs, receivedMs) ? undefined : 'a valid key is refused';
  }
  if (status === 403) {
    const isMissing = listing === 'balances' && mayHaveBeen(grant, undefined, sentMs, receivedMs);
    return isMissing ? undefined : `an active grant of ${customerId} is refused`;
  }
  return undefined;
}

function isQuiet(answer: Answer, { faults }: Judged): boolean {
  const firstMs = Math.min(Infinity, ...faults.map(({ beganMs }) => beganMs));
  const lastMs = Math.max(-Infinity, ...faults.map(({ overMs }) => overMs));
  return answer.receivedMs < firstMs || answer.sentMs > lastMs + recoveryMs;
}

function quietFault(answer: Answer, course: Judged): string | undefined {
  if (quietStatuses.includes(answer.status) || !isQuiet(answer, course)) return undefined;
  return `${answer.status || 'no answer'}: ${answer.body.slice(0, 200)}`;
}
