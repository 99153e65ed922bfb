/** The inputs of the HTTP target: valid requests, arbitrary values in each part, and changed bytes. */
import { listBalances, listBrands } from '@partner-network/contract/operations';
import fc from 'fast-check';
import { keys } from '../../packages/testkit/fixtures/fixture.ts';
import { edited, editWith, targetText } from './words.ts';

/** A complete request, and what is known about its answer. */
interface WholeRequest {
  readonly bytes: string;
  readonly isHead: boolean;
  /** Set if only one status is right. */
  readonly status?: number;
}

/** Arbitrary bytes, and the lowest and highest number of answers to them. */
interface Rest {
  readonly bytes: string;
  readonly least: number;
  readonly most: number;
}

/** What one connection sends: complete requests first, then arbitrary bytes. */
export interface Sent {
  readonly whole: readonly WholeRequest[];
  readonly rest: Rest;
  /** The bytes after this number are sent in a second packet. */
  readonly pauseAt: number;
}

const listings = [listBrands.path, listBalances.path];
const names = [...Object.keys(listBrands.parameters), ...Object.keys(listBalances.parameters)];
const fitting = ['alice', 'zoe', 'CHECKING', '7', 'shared', 'zenith-only', 'g-active', 'g-zenith', 'b1'];

const pair = fc
  .tuple(fc.oneof(fc.constantFrom(...names), targetText), fc.oneof(fc.constantFrom(...fitting), targetText))
  .map((sides) => sides.join('='));
const query = fc.oneof(
  fc.array(pair, { maxLength: 8 }).map((pairs) => pairs.join('&')),
  targetText,
  fc.constantFrom('limit=1', 'customer_id=alice&type=CHECKING&limit=1', 'customer_id=zoe&type=CHECKING', ''),
);
const ownKey = fc.constantFrom(keys.acme, keys.acmeBrandsOnly, keys.acmeBalancesOnly);

interface Parts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly string[];
  readonly status?: number;
}

function request({ method = 'GET', target, headers = [], status }: Parts): WholeRequest {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: a', ...headers, '', ''];
  const bytes = lines.join('\r\n');
  return { bytes, isHead: method === 'HEAD', ...(status !== undefined && { status }) };
}

const withKey = (key: string) => [`Authorization: Bearer ${key}`];

const anySearch = fc
  .tuple(fc.constantFrom(...listings), ownKey, query, fc.constantFrom('GET', 'GET', 'HEAD'))
  .map(([path, key, asked, method]) =>
    request({ method, target: `${path}?${asked}`, headers: withKey(key) }),
  );

const inventedCursor = fc.oneof(
  fc.base64String({ maxLength: 1_100 }).map(encodeURIComponent),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  targetText,
);
const anyCursor = fc.tuple(fc.constantFrom(...listings), inventedCursor).map(([path, cursor]) => {
  const search = path === listBrands.path ? '' : 'customer_id=alice&type=CHECKING&';
  // An invented cursor is never valid.
  return request({ target: `${path}?${search}cursor=${cursor}`, headers: withKey(keys.acme), status: 400 });
});

const printable = /[^\t\x20-\x7e]/g;
const wrongKey = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 80 }).map((text) => text.replace(printable, '~')),
  fc.nat(56).map((length) => keys.zenith.slice(0, length)),
);
const anyCredentials = fc
  .tuple(fc.constantFrom(...listings), fc.constantFrom('Bearer ', 'bearer', 'Basic ', ''), wrongKey)
  .map(([path, scheme, key]) =>
    request({ target: path, headers: [`Authorization: ${scheme}${key}`], status: 401 }),
  );

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'LOCK', 'M-SEARCH'];
export const files = ['/network/v1/', '/network/v1/openapi.json', '/docs', '/assets/brand-placeholder.png'];
const path = fc.oneof(
  targetText.map((text) => `/${text}`),
  fc.constantFrom(...listings, ...files),
  targetText.map((text) => listings[0] + text),
);
/** Headers that change how the request is read, or end the connection. */
const framing = /^(?:authorization|connection|content-length|expect|host|transfer-encoding|upgrade)$/i;
const header = fc
  .tuple(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/), wrongKey)
  .filter(([name]) => !framing.test(name))
  .map(([name, value]) => `${name}: ${value}`);
const anyHead = fc
  .tuple(fc.constantFrom(...methods), path, fc.array(header, { maxLength: 6 }))
  .map(([method, target, headers]) =>
    request({ method, target, headers: [...withKey(keys.acme), ...headers] }),
  );

const wholeRequest = fc.oneof(anySearch, anyCursor, anyCredentials, anyHead);

/** Pieces of requests. */
const tokens = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', ' ', '\t', '\0', ':', '\u00ff', ' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0'],
  ...['GET ', 'HEAD ', 'POST ', 'CONNECT ', 'FOO ', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...['Host: b\r\n', 'X: ', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n', 'Content-Length: 0\r\n'],
  ...['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: chunked, gzip\r\n', 'Transfer-Encoding : x\r\n'],
  ...['5\r\nhello\r\n', '0\r\n\r\n', 'fffffffffffffffff\r\n', '1;a=b\r\n', 'hello'],
  ...['Connection: close\r\n', 'Connection: keep-alive, upgrade\r\n', 'Upgrade: h2c\r\n'],
  ...['Expect: 100-continue\r\n', 'Expect: x\r\n', 'http://a', '*', '/docs', '/network/v1/brands', '?', '%'],
  ...['Authorization: Bearer x\r\n', `Authorization: Bearer ${keys.acme}\r\n`, 'A'.repeat(16_000)],
];
const edit = editWith(fc.constantFrom(...tokens));

const template = fc.oneof(
  wholeRequest.map(({ bytes }) => bytes),
  fc.constant('POST /network/v1/brands HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'),
  fc.constant('GET /docs HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'),
  fc.constant('GET http://a/network/v1/brands HTTP/1.0\r\n\r\n'),
);
const anyBytes = fc.oneof(
  fc.tuple(template, fc.array(edit, { maxLength: 4 })).map(([bytes, edits]) => edits.reduce(edited, bytes)),
  fc
    .array(fc.oneof(fc.constantFrom(...tokens), fc.string({ maxLength: 30 })), { maxLength: 8 })
    .map((all) => all.join('')),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

/** A request ends with an empty line: at most one answer for each empty line, and one for the rest. */
const emptyLine = /\n\r?\n/g;

function ofUnknown(bytes: string): Rest {
  return { bytes, least: 0, most: [...bytes.matchAll(emptyLine)].length + (bytes === '' ? 0 : 1) };
}

/** A request that is answered, followed by an invalid body, which gets no second answer. */
const brokenBody = fc
  .tuple(fc.constantFrom('GET /docs', 'POST /network/v1/brands', 'GET /'), fc.constantFrom(...tokens))
  .map(([line, noise]): Rest => {
    const head = `${line} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    return { bytes: `${head}z${noise}`, least: 1, most: 1 };
  });

export const nothing: Rest = { bytes: '', least: 0, most: 0 };

export const sent: fc.Arbitrary<Sent> = fc.record(
  {
    whole: fc.array(wholeRequest, { maxLength: 3 }),
    rest: fc.oneof(
      { weight: 3, arbitrary: fc.constant(nothing) },
      { weight: 6, arbitrary: anyBytes.map(ofUnknown) },
      { weight: 1, arbitrary: brokenBody },
    ),
    pauseAt: fc.nat(1_000),
  },
  { noNullPrototype: true },
);
