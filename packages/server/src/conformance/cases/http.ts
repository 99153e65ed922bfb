/** Methods, paths, and the bytes of HTTP itself. */
import { type Find, table } from './table.ts';
import { madeUp } from './walks.ts';

const constant = 'content-type content-length cache-control x-content-type-options ratelimit-policy'.split(
  ' ',
);

/** Compares HEAD with GET. */
const head =
  (query: string): Find =>
  async (probe) => {
    const whole = await probe.get('/brands', query);
    const answer = await probe.get('/brands', query, { method: 'HEAD' });
    const isSame = answer.status === whole.status && answer.text === '';
    return isSame && constant.every((name) => answer.header(name) === whole.header(name))
      ? undefined
      : answer;
  };

const line = 'raw GET {path}/brands?limit=1 HTTP/1.1';
const rest =
  'Connection: close; Origin: http://other.example; X-Request-Id: conformance; Authorization: Bearer {key}';
const long = (count: number) => `X-Long: ${'x'.repeat(count)}`;

// Other methods are sent without a key, so that they cannot change anything in any deployment.
export const http = table(
  `
# Errors decisions
http.post: POST is refused, before the key is checked | POST as:nobody /brands -> 405 METHOD_NOT_ALLOWED
http.put: PUT is refused | PUT as:nobody /brands -> 405 METHOD_NOT_ALLOWED
http.delete: DELETE is refused | DELETE as:nobody /balances -> 405 METHOD_NOT_ALLOWED
http.options: OPTIONS needs no key |
  raw OPTIONS {path}/brands HTTP/1.1; Host: {host}; Connection: close; Origin: http://other.example -> 204
http.head: HEAD has the status and headers of GET, and no body | head brands reference_id=${madeUp()}
http.head-refused: HEAD is refused with the headers of GET, and no body | head brands limit=0
http.path-before-method: The path is checked before the method | POST as:nobody /none -> 404 NOT_FOUND
http.path.unknown: A path that does not exist is 404 | /none -> 404 NOT_FOUND
http.path.slash: A slash at the end is another path | /brands/ -> 404 NOT_FOUND
http.path.case: Upper case is another path | /Brands -> 404 NOT_FOUND
http.path.double-slash: A double slash is another path | //brands -> 404 NOT_FOUND
http.two-hosts: Two Host headers are refused |
  ${line}; Host: {host}; Host: {host}; ${rest} -> 400 MALFORMED_REQUEST
http.no-host: HTTP/1.1 needs a Host header | ${line}; ${rest} -> 400 MALFORMED_REQUEST
http.garbage: Bytes that are not HTTP are refused | raw conformance -> 400 MALFORMED_REQUEST
http.1.0: HTTP/1.0 is answered | ${line.replace('1.1', '1.0')}; Host: {host}; ${rest} -> 200
http.absolute-form: A target in absolute form is answered |
  ${line.replace('{path}', 'http://{host}{path}')}; Host: {host}; ${rest} -> 200
http.body: A body on GET is ignored | ${line}; Host: {host}; ${rest}; Content-Length: 5; ; limit -> 200
http.raw-byte: A byte over 0x7F in the query is refused |
  ${line.replace('=1', '=\xe9')}; Host: {host}; ${rest} -> 400 INVALID_CHARACTER limit
http.over-16-kib: Over 16 KiB of request line and headers are refused |
  ${line}; Host: {host}; ${rest}; ${long(17_000)} -> 431 REQUEST_TOO_LARGE
http.15-kib: 15 KiB of request line and headers are accepted |
  ${line}; Host: {host}; ${rest}; ${long(15_000)} -> 200
`,
  { head: (_, query = '') => head(query) },
);
