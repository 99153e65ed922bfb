/** Methods, paths, the bytes of HTTP itself, and the rate, which only --burst checks. */
import { Cases, type Check } from '../case.ts';
import { madeUp, nobody, type Probe, type Request } from '../probe.ts';
import { type Answer, Skip } from '../send.ts';

const constant = ['content-type', 'content-length', 'cache-control', 'ratelimit-policy'];

/** Compares HEAD with GET, for an answer and for an error. */
const head: Check = async (probe) => {
  for (const path of [`/brands?reference_id=${madeUp()}`, '/brands?limit=0']) {
    const whole = await probe.send({ path });
    const answer = await probe.send({ path, method: 'HEAD' });
    // A body after the headers breaks the answer, so its status is 0.
    const isSame = constant.every((name) => answer.header(name) === whole.header(name));
    if (answer.status !== whole.status || !isSame) return answer;
  }
  return undefined;
};

/** A raw request for a brand. Its first two headers must have no effect. */
const raw = ({ scheme = '', limit = '1', version = '1.1', hosts = 1, more = [] as string[] }): Request => ({
  lines: ({ base, ownKey }) => [
    `GET ${scheme && scheme + base.host}${base.pathname}/brands?limit=${limit} HTTP/${version}`,
    ...Array<string>(hosts).fill(`Host: ${base.host}`),
    'Origin: http://other.example',
    'X-Request-Id: conformance',
    `Authorization: ${ownKey}`,
    ...more,
  ],
});

// Other methods are sent without a key, so that they cannot change anything in any deployment.
const errors = new Cases('Errors')
  .promise('http.post', 'POST is refused, before the key is checked')
  .gets('METHOD_NOT_ALLOWED', { method: 'POST', path: '/brands', as: nobody })
  .promise('http.delete', 'DELETE is refused')
  .gets('METHOD_NOT_ALLOWED', { method: 'DELETE', path: '/balances', as: nobody })
  .promise('http.options', 'OPTIONS needs no key')
  .gets(204, { method: 'OPTIONS', path: '/brands', as: nobody })
  .promise('http.head', 'HEAD has the status and headers of GET, and no body')
  .holds(head)
  .promise('http.path.before-method', 'The path is checked before the method')
  .gets('NOT_FOUND', { method: 'POST', path: '/none', as: nobody })
  .promise('http.path.unknown', 'A path that does not exist is 404')
  .gets('NOT_FOUND', { path: '/none' })
  .promise('http.path.slash', 'A slash at the end is another path')
  .gets('NOT_FOUND', { path: '/brands/' })
  .promise('http.path.case', 'Upper case is another path')
  .gets('NOT_FOUND', { path: '/Brands' })
  .promise('http.two-hosts', 'Two Host headers are refused')
  .gets('MALFORMED_REQUEST', raw({ hosts: 2 }))
  .promise('http.no-host', 'HTTP/1.1 needs a Host header')
  .gets('MALFORMED_REQUEST', raw({ hosts: 0 }))
  .promise('http.garbage', 'Bytes that are not HTTP are refused')
  .gets('MALFORMED_REQUEST', { lines: () => ['conformance'] })
  .promise('http.1.0', 'HTTP/1.0 is answered')
  .gets(200, raw({ version: '1.0' }))
  .promise('http.absolute-form', 'A target in absolute form is answered')
  .gets(200, raw({ scheme: 'http://' }))
  .promise('http.body', 'A body on GET is ignored')
  .gets(200, raw({ more: ['Content-Length: 5', '', 'limit'] }))
  .promise('http.raw-byte', 'A byte over 0x7F in the query is refused')
  .gets({ limit: 'INVALID_CHARACTER' }, raw({ limit: '\xe9' }))
  .promise('http.over-16-kib', 'Over 16 KiB of request line and headers are refused')
  .gets('REQUEST_TOO_LARGE', raw({ more: [`X-Long: ${'x'.repeat(17_000)}`] }))
  .promise('http.15-kib', '15 KiB of headers are accepted')
  .gets(200, raw({ more: [`X-Long: ${'x'.repeat(15_000)}`] }));

/** A limiter that counts per calendar second, or a bucket that fills up, admits too many of these. */
const bursts = (probe: Probe) => {
  const burst = (pauseMs: number) => probe.burst(70, { path: '/brands?limit=1' }, pauseMs);
  return probe.once('bursts', async () => [await burst(1_000), await burst(400), await burst(400)].flat());
};

/** Finds the first of 51 answers that were certainly admitted within a second. */
const excess: Check = async (probe) => {
  const admitted = (await bursts(probe)).filter(({ status }) => status === 200);
  return admitted.find(({ sentMs: fromMs }) => {
    const within = admitted.filter((one) => one.sentMs >= fromMs && one.answeredMs < fromMs + 1_000);
    return within.length > 50;
  });
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

const rate = new Cases('Rate limit')
  .promise('burst.rate', 'Never more than 50 requests for brands are admitted in any second')
  .holds(excess)
  .promise('burst.refused', 'Requests over the rate are 429, and all others are answered')
  .holds(otherStatus);

export const http = [errors, rate];
