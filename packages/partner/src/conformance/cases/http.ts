/** Methods, paths, the bytes of HTTP itself, and the rate, which only --burst checks. */
import { setTimeout as wait } from 'node:timers/promises';
import { Skip } from '../case.ts';
import type { Probe } from '../probe.ts';
import type { Answer } from '../send.ts';
import { type Finders, table } from './table.ts';
import { madeUp } from './walks.ts';

/** A limiter that counts per calendar second, or a bucket that fills up, admits too many of these. */
const bursts = (probe: Probe) =>
  probe.once('bursts', async () => {
    const answers: Answer[] = [];
    for (const pauseMs of [1_000, 400, 400]) {
      await wait(pauseMs);
      answers.push(...(await probe.burst(70, '/brands?limit=1')));
    }
    return answers;
  });

/**
 * A refusal for the rate takes no longer than the quickest answer of the run and this. A 503 that takes
 * longer proves nothing: our own service sheds a request only after it has waited for 150 ms.
 */
const promptMs = 100;
const tookMs = ({ sentMs, answeredMs }: Answer) => answeredMs - sentMs;
export const busyDeployment = 'a deployment that answers 70 requests at once without a delay';

const constant = ['content-type', 'content-length', 'cache-control', 'ratelimit-policy'];

const finders: Finders = {
  /** Compares HEAD with GET, for an answer and for an error. */
  head: () => async (probe) => {
    for (const target of [`/brands?reference_id=${madeUp()}`, '/brands?limit=0']) {
      const whole = await probe.get(target);
      const answer = await probe.get(target, undefined, 'HEAD');
      const isSame = answer.status === whole.status && answer.text === '';
      if (!isSame || constant.some((name) => answer.header(name) !== whole.header(name))) return answer;
    }
    return undefined;
  },
  /** Finds the first of 51 answers that were certainly admitted within a second. */
  excess: () => async (probe) => {
    const admitted = (await bursts(probe)).filter(({ status }) => status === 200);
    const isWithin = (sentMs: number) => (one: Answer) =>
      one.sentMs >= sentMs && one.answeredMs < sentMs + 1_000;
    return admitted.find(({ sentMs }) => admitted.filter(isWithin(sentMs)).length > 50);
  },
  /** A deployment that is too busy for a burst may answer 503 to a request that has waited. */
  otherStatus: () => async (probe) => {
    const others = (await bursts(probe)).filter(({ status }) => status !== 200 && status !== 429);
    const latestMs = Math.min(...probe.answers.map(tookMs)) + promptMs;
    const broken = others.find((one) => one.status !== 503 || tookMs(one) < latestMs);
    if (broken === undefined && others.length > 0) throw new Skip(busyDeployment);
    return broken;
  },
};

const line = 'raw GET {path}/brands?limit=1 HTTP/1.1';
const host = 'Host: {host}';
const rest = 'Origin: http://other.example; X-Request-Id: conformance; Authorization: Bearer {key}';

// Other methods are sent without a key, so that they cannot change anything in any deployment.
export const http = table(
  `
# Errors decisions
http.post: POST is refused, before the key is checked | POST as:nobody /brands -> 405 METHOD_NOT_ALLOWED
http.delete: DELETE is refused | DELETE as:nobody /balances -> 405 METHOD_NOT_ALLOWED
http.options: OPTIONS needs no key | OPTIONS as:nobody /brands -> 204
http.head: HEAD has the status and headers of GET, and no body | head
http.path.before-method: The path is checked before the method | POST as:nobody /none -> 404 NOT_FOUND
http.path.unknown: A path that does not exist is 404 | /none -> 404 NOT_FOUND
http.path.slash: A slash at the end is another path | /brands/ -> 404 NOT_FOUND
http.path.case: Upper case is another path | /Brands -> 404 NOT_FOUND
http.two-hosts: Two Host headers are refused | ${line}; ${host}; ${host}; ${rest} -> 400 MALFORMED_REQUEST
http.no-host: HTTP/1.1 needs a Host header | ${line}; ${rest} -> 400 MALFORMED_REQUEST
http.garbage: Bytes that are not HTTP are refused | raw conformance -> 400 MALFORMED_REQUEST
http.1.0: HTTP/1.0 is answered | ${line.replace('1.1', '1.0')}; ${host}; ${rest} -> 200
http.absolute-form: A target in absolute form is answered |
  ${line.replace('{path}', 'http://{host}{path}')}; ${host}; ${rest} -> 200
http.body: A body on GET is ignored | ${line}; ${host}; ${rest}; Content-Length: 5; ; limit -> 200
http.raw-byte: A byte over 0x7F in the query is refused |
  ${line.replace('=1', '=\xe9')}; ${host}; ${rest} -> 400 INVALID_CHARACTER limit
http.over-16-kib: Over 16 KiB of request line and headers are refused |
  ${line}; ${host}; ${rest}; X-Long: ${'x'.repeat(17_000)} -> 431 REQUEST_TOO_LARGE
http.15-kib: 15 KiB of headers are accepted | ${line}; ${host}; ${rest}; X-Long: ${'x'.repeat(15_000)} -> 200
# Rate limit decisions
burst.rate: Never more than 50 requests for brands are admitted in any second | excess --burst
burst.refused: Requests over the rate are 429, and all others are answered | otherStatus --burst
`,
  finders,
);
