/** Methods, paths, and the bytes of HTTP itself. */
import type { Answer, Case } from '../case.ts';
import { cases, type Find } from './rows.ts';
import { table, unless } from './table.ts';
import { madeUp } from './walks.ts';

const start = 'GET {path}/brands?limit=1 HTTP/1.1';
const key = 'Authorization: Bearer {key}';
const rest = ['Host: {host}', key, 'Connection: close'];

/** Sends these lines. */
const raw =
  (expected: string, ...lines: string[]): Find =>
  async (probe) =>
    unless(await probe.raw([...lines, '', ''].join('\r\n')), expected);

/** Headers that differ between any two answers. */
const fleeting = /^(date|x-request-id|ratelimit|connection|keep-alive|transfer-encoding): /;

function headersOf({ rawHeaders }: Answer): string {
  const lines = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[i + 1]}`] : [],
  );
  return lines
    .filter((text) => !fleeting.test(text))
    .sort()
    .join('\n');
}

const head =
  (query: string): Find =>
  async (probe) => {
    const whole = await probe.get('/brands', query);
    const answer = await probe.get('/brands', query, { method: 'HEAD' });
    const isSame = answer.status === whole.status && headersOf(answer) === headersOf(whole);
    return isSame && answer.text === '' ? undefined : answer;
  };

export const http: readonly Case[] = [
  // Without a key, no method can change anything in any deployment.
  ...table(
    'Errors',
    'decisions',
    `
http.post: POST is refused, before the key is checked
  POST as:nobody /brands -> 405 METHOD_NOT_ALLOWED
http.put: PUT is refused
  PUT as:nobody /brands -> 405 METHOD_NOT_ALLOWED
http.delete: DELETE is refused
  DELETE as:nobody /balances -> 405 METHOD_NOT_ALLOWED
http.options: OPTIONS needs no key
  OPTIONS as:nobody /brands -> 204
http.path-before-method: The path is checked before the method
  POST as:nobody /conformance -> 404 NOT_FOUND
http.path.unknown: A path that does not exist is 404
  /conformance -> 404 NOT_FOUND
http.path.slash: A slash at the end is another path
  /brands/ -> 404 NOT_FOUND
http.path.case: Upper case is another path
  /Brands -> 404 NOT_FOUND
http.path.double-slash: A double slash is another path
  //brands -> 404 NOT_FOUND
http.path.below: No path is below a listing
  /brands/1 -> 404 NOT_FOUND
`,
  ),
  ...cases('Errors', 'decisions', {
    'http.head': ['HEAD has the status and headers of GET, and no body', head(`reference_id=${madeUp()}`)],
    'http.head-refused': ['HEAD is refused with the headers of GET, and no body', head('limit=0')],
    'http.two-hosts': [
      'Two Host headers are refused',
      raw('400 MALFORMED_REQUEST', start, 'Host: {host}', ...rest),
    ],
    'http.no-host': [
      'HTTP/1.1 needs a Host header',
      raw('400 MALFORMED_REQUEST', start, key, 'Connection: close'),
    ],
    'http.garbage': ['Bytes that are not HTTP are refused', raw('400 MALFORMED_REQUEST', 'conformance')],
    'http.1.0': ['HTTP/1.0 is answered', raw('200', start.replace('1.1', '1.0'), ...rest)],
    'http.absolute-form': [
      'A target in absolute form is answered',
      raw('200', start.replace('{path}', 'http://{host}{path}'), ...rest),
    ],
    'http.body': ['A body on GET is ignored', raw('200', start, ...rest, 'Content-Length: 4', '', '')],
    'http.raw-byte': [
      'A byte over 0x7F in the query is refused',
      raw('400 INVALID_CHARACTER limit', start.replace('=1', '=\xe9'), ...rest),
    ],
    'http.over-16-kib': [
      'Over 16 KiB of request line and headers are refused',
      raw('431 REQUEST_TOO_LARGE', start, ...rest, `X-Long: ${'x'.repeat(17_000)}`),
    ],
    'http.under-16-kib': ['15 KiB are accepted', raw('200', start, ...rest, `X-Long: ${'x'.repeat(15_000)}`)],
    'http.own-request-id': [
      'The X-Request-Id of a caller is ignored',
      async (probe) => {
        const id = madeUp();
        const answer = await probe.get('/brands', { limit: 1 }, { headers: ['X-Request-Id', id] });
        return answer.header('x-request-id') === id ? answer : undefined;
      },
    ],
  }),
];
