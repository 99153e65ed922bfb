/** Judges errors, response times, access and recovery. */
import { errorCatalogue } from '@partner-network/contract/errors';
import type { Span } from '../../../packages/testkit/fixtures/spans.ts';
import { active, mayHaveBeen } from '../history.ts';
import type { Answer } from '../record.ts';
import { type Run, recoveryMs, requestIn, type Verdict, verdictOf } from '../record.ts';

/** By the instance's clock: 2 s, and half a second for a busy machine. */
const answerMs = 2_500;
/** A revoked key or grant is refused after this time. */
const revocationMs = 1_000;

/** Times are not judged for this long after a stall of the machine. */
const stalledMs = 2_000;

const expectedStatuses = [200, 401, 403, 429, 503];
const quietStatuses = [200, 401, 403, 429];

export function judgeAnswers(run: Run): Verdict[] {
  const { answers } = run.recorder;
  const whole = answers.filter(({ status }) => status !== 0);
  const quiet = answers.filter((answer) => isQuiet(answer, run));
  return [
    judgeEach('all answers are documented', whole, catalogueFault),
    judgeTimes(run),
    judgeEach('keys and grants are respected, and revocations take effect within a second', whole, (answer) =>
      accessFault(answer, run),
    ),
    judgeEach('only 200 and 429 before the first fault and after the last one', quiet, quietFault),
    verdictOf('all parts recover, and no instance ends by itself', 'instances', run.instances.length, [
      ...run.unrecovered.map((text) => ({ atMs: run.endedMs, text })),
      ...run.instances.flatMap(({ name, endings }) =>
        endings
          .filter(({ how }) => how === 'by itself')
          .map(({ atMs }) => ({ atMs, text: `instance ${name} ended by itself` })),
      ),
    ]),
  ];
}

function judgeEach(
  promise: string,
  answers: readonly Answer[],
  faultOf: (answer: Answer) => string | undefined,
): Verdict {
  const violations = answers.flatMap((answer) => {
    const fault = faultOf(answer);
    const text = `${fault} (${answer.listing}, walk ${answer.walk})`;
    return fault === undefined ? [] : [{ atMs: answer.sentMs, text }];
  });
  return verdictOf(promise, 'answers', answers.length, violations);
}

function catalogueFault({ status, body }: Answer): string | undefined {
  if (status === 200) return undefined;
  if (!expectedStatuses.includes(status) && !isBalancers(status))
    return `status ${status}: ${body.slice(0, 200)}`;
  const { category, code } = firstErrorIn(body) ?? {};
  const entry = errorCatalogue[code as keyof typeof errorCatalogue];
  const isKnown = entry?.category === category && (entry?.status === status || isBalancers(status));
  return isKnown ? undefined : `${status} with ${body.slice(0, 200)}`;
}

/** The balancer answers 502 if an instance closes the connection, 504 if it is silent for too long. */
const isBalancers = (status: number) => status === 502 || status === 504;

function firstErrorIn(body: string): { category?: string; code?: string } | undefined {
  try {
    return (JSON.parse(body) as { errors: { category: string; code: string }[] }).errors[0];
  } catch {
    return undefined;
  }
}

/** By the logs of instances: clients share the machine with all parts, which delays what they see. */
function judgeTimes({ faults, logs, stalls }: Run): Verdict {
  const requests = logs.flatMap(requestIn).filter((request) => !isStalled(request, stalls));
  const late = requests.filter(({ sentMs, receivedMs }) => {
    const isFrozen = faults.some(
      ({ part, harm, beganMs, overMs }) =>
        part.startsWith('instance') && harm === 'freeze' && sentMs <= overMs && receivedMs >= beganMs,
    );
    return receivedMs - sentMs > answerMs && !isFrozen;
  });
  return verdictOf(
    'every request is answered within 2 s, unless the instance is frozen',
    'logged requests',
    requests.length,
    late.map(({ sentMs, receivedMs, status }) => ({
      atMs: sentMs,
      text: `${status} after ${Math.round(receivedMs - sentMs)} ms`,
    })),
  );
}

function accessFault(answer: Answer, { history }: Run): string | undefined {
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

function isQuiet(answer: Answer, { faults, stalls }: Run): boolean {
  if (isStalled(answer, stalls)) return false;
  const firstMs = Math.min(Infinity, ...faults.map(({ beganMs }) => beganMs));
  const lastMs = Math.max(-Infinity, ...faults.map(({ overMs }) => overMs));
  return answer.receivedMs < firstMs || answer.sentMs > lastMs + recoveryMs;
}

/** Includes some time after the stall, when delayed work is done. */
function isStalled({ sentMs, receivedMs }: Span, stalls: readonly Span[]): boolean {
  return stalls.some((stall) => sentMs <= stall.receivedMs + stalledMs && receivedMs >= stall.sentMs);
}

function quietFault({ status, body }: Answer): string | undefined {
  return quietStatuses.includes(status) ? undefined : `${status || 'no answer'}: ${body.slice(0, 200)}`;
}
