/** Methods, paths, the bytes of HTTP itself, and the rate, which only --burst checks. */
import { type Check, section } from '../case.ts';
import { madeUp, nobody, type Probe, type Request } from '../probe.ts';
import { type Answer, Skip } from '../send.ts';

const constant = ['content-type', 'content-length', 'cache-control', 'ratelimit-policy'];

/** Compares HEAD with GET, for an answer and for an error. */
const head: Check = async (probe) => {
  for (const path of [`/brands?reference_id=${madeUp()}`, '/brands?limit=0']) {
    const whole = await probe.send({ path });
    const answer = await probe.send({ path, method: 'HEAD' });
    const isSame = answer.status === whole.status && answer.text === '';
    if (!isSame || constant.some((name) => answer.header(name) !== whole.header(name))) return answer;
  }
  return undefined;
};

/** A limiter that counts per calendar second, or a bucket that fills up, admits too many of these. */
const bursts = (probe: Probe) => {
  const burst = (pauseMs: number) => probe.burst(70, { path: '/brands?limit=1' }, pauseMs);
  return probe.once('bursts', async () => [await burst(1_000), await burst(400), await burst(400)].flat());
};

/** Finds the first of 51 answers that were certainly admitted within a second. */
const excess: Check = async (probe) => {
  const admitted = (await bursts(probe)).filter(({ status }) => status === 200);
  const isWithin = (sentMs: number) => (one: Answer) =>
    one.sentMs >= sentMs && one.answeredMs < sentMs + 1_000;
  return admitted.find(({ sentMs }) => admitted.filter(isWithin(sentMs)).length > 50);
};

/**
 * A refusal for the rate takes no longer than the quickest answer of the run and this. A 503 that takes
 * longer proves nothing: our own service sheds a request only after it has waited for 150 ms.
 */
const promptMs = 100;
const tookMs = ({ sentMs, answeredMs }: Answer) => answeredMs - sentMs;
export const busyDeployment = 'a deployment that answers 70 requests at once without a delay';

/** A deployment that is too busy for a burst may answer 503 to a request that has waited. */
const otherStatus: Check = async (probe) => {
  const others = (await bursts(probe)).filter(({ status }) => status !== 200 && status !== 429);
  const latestMs = Math.min(...probe.answers.map(tookMs)) + promptMs;
  const broken = others.find((one) => one.status !== 503 || tookMs(one) < latestMs);
  if (broken === undefined && others.length > 0) throw new Skip(busyDeployment);
  return broken;
};

/** A raw request for a brand. Its first two headers must have no effect. */
const raw = ({ scheme = '', limit = '1', version = '1.1', hosts = 1, more = [] as string[] }): Request => ({
  lines: (probe) => [
    `GET ${scheme && scheme + probe.base.host}${probe.base.pathname}/brands?limit=${limit} HTTP/${version}`,
    ...Array<string>(hosts).fill(`Host: ${probe.base.host}`),
    'Origin: http://other.example',
    'X-Request-Id: conformance',
    `Authorization: ${probe.ownKey}`,
    ...more,
  ],
});

// Other methods are sent without a key, so that they cannot change anything in any deployment.
// biome-ignore format: a case has two lines, its promise and how it is checked.
export const http = [
  section('Errors', {
    'http.post': { promise: 'POST is refused, before the key is checked',
      method: 'POST', path: '/brands', as: nobody, gets: 'METHOD_NOT_ALLOWED' },
    'http.delete': { promise: 'DELETE is refused',
      method: 'DELETE', path: '/balances', as: nobody, gets: 'METHOD_NOT_ALLOWED' },
    'http.options': { promise: 'OPTIONS needs no key',
      method: 'OPTIONS', path: '/brands', as: nobody, gets: 204 },
    'http.head': { promise: 'HEAD has the status and headers of GET, and no body', check: head },
    'http.path.before-method': { promise: 'The path is checked before the method',
      method: 'POST', path: '/none', as: nobody, gets: 'NOT_FOUND' },
    'http.path.unknown': { promise: 'A path that does not exist is 404', path: '/none', gets: 'NOT_FOUND' },
    'http.path.slash': { promise: 'A slash at the end is another path', path: '/brands/', gets: 'NOT_FOUND' },
    'http.path.case': { promise: 'Upper case is another path', path: '/Brands', gets: 'NOT_FOUND' },
    'http.two-hosts': { promise: 'Two Host headers are refused',
      ...raw({ hosts: 2 }), gets: 'MALFORMED_REQUEST' },
    'http.no-host': { promise: 'HTTP/1.1 needs a Host header',
      ...raw({ hosts: 0 }), gets: 'MALFORMED_REQUEST' },
    'http.garbage': { promise: 'Bytes that are not HTTP are refused',
      lines: () => ['conformance'], gets: 'MALFORMED_REQUEST' },
    'http.1.0': { promise: 'HTTP/1.0 is answered', ...raw({ version: '1.0' }), gets: 200 },
    'http.absolute-form': { promise: 'A target in absolute form is answered',
      ...raw({ scheme: 'http://' }), gets: 200 },
    'http.body': { promise: 'A body on GET is ignored',
      ...raw({ more: ['Content-Length: 5', '', 'limit'] }), gets: 200 },
    'http.raw-byte': { promise: 'A byte over 0x7F in the query is refused',
      ...raw({ limit: '\xe9' }), gets: { limit: 'INVALID_CHARACTER' } },
    'http.over-16-kib': { promise: 'Over 16 KiB of request line and headers are refused',
      ...raw({ more: [`X-Long: ${'x'.repeat(17_000)}`] }), gets: 'REQUEST_TOO_LARGE' },
    'http.15-kib': { promise: '15 KiB of headers are accepted',
      ...raw({ more: [`X-Long: ${'x'.repeat(15_000)}`] }), gets: 200 },
  }),
  section('Rate limit', {
    'burst.rate': { promise: 'Never more than 50 requests for brands are admitted in any second',
      check: excess },
    'burst.refused': { promise: 'Requests over the rate are 429, and all others are answered',
      check: otherStatus },
  }),
].flat();
