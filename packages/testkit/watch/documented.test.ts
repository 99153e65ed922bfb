/** The comparison of responses with the OpenAPI document finds every difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorRecord } from '@partner-network/contract/errors';
import { assertDocumented } from './documented.ts';

const path = '/network/v1/brands?limit=1';

function answerOf(status: number, body: object, headers: Record<string, string | undefined> = {}) {
  const text = JSON.stringify(body);
  return {
    status,
    text,
    headers: {
      'x-request-id': '0b4e7a52-6c1d-4f39-9a80-2d5e8c7f1b36',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    },
  };
}

const brand = {
  id: 'b',
  name: 'n',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  reference_id: 'r',
};
const page = { brands: [brand] };
const rate = { ratelimit: '"brands";r=0;t=1', 'ratelimit-policy': '"brands";q=50;w=1' };
const retry = { 'retry-after': '1', 'retry-after-ms': '137' };
const errors = (...codes: Parameters<typeof errorRecord>[0][]) => ({
  errors: codes.map((code) => errorRecord(code)),
});

test('accepts documented responses', () => {
  assertDocumented(answerOf(200, page), 'GET', path);
  assertDocumented(answerOf(200, page, rate), 'GET', path);
  assertDocumented({ ...answerOf(200, page), text: '' }, 'HEAD', path);
  assertDocumented(answerOf(429, errors('RATE_LIMITED'), { ...rate, ...retry }), 'GET', path);
  assertDocumented(answerOf(404, errors('NOT_FOUND')), 'DELETE', '/nowhere');
  assertDocumented(answerOf(200, { balances: [] }), 'GET');
});

const wrong: Record<string, [ReturnType<typeof answerOf>, method?: string, path?: string]> = {
  'an unknown status': [answerOf(402, errors('NOT_FOUND'))],
  'a code under another status': [answerOf(400, errors('NOT_FOUND'))],
  'a code of the other operation': [answerOf(400, errors('INVALID_ENUM_VALUE'))],
  'an empty list of errors': [answerOf(400, { errors: [] })],
  'a field that is not documented': [answerOf(200, { brands: [{ ...brand, secret: 1 }] })],
  'a time without milliseconds': [
    answerOf(200, { brands: [{ ...brand, created_at: '2026-01-01T00:00:00Z' }] }),
  ],
  'a page of the other listing': [answerOf(200, { balances: [] })],
  'no request id': [answerOf(200, page, { 'x-request-id': undefined })],
  'an invalid request id': [answerOf(200, page, { 'x-request-id': 'mine' })],
  'a header that is not documented': [answerOf(200, page, { 'access-control-allow-origin': '*' })],
  'an answer that caches may keep': [answerOf(200, page, { 'cache-control': 'public' })],
  'a 401 without its scheme': [answerOf(401, errors('UNAUTHORIZED'))],
  'a 429 without its wait': [answerOf(429, errors('RATE_LIMITED'), rate)],
  'a wait in words': [answerOf(429, errors('RATE_LIMITED'), { ...rate, ...retry, 'retry-after': 'soon' })],
  'another type': [answerOf(200, page, { 'content-type': 'application/json' })],
  'another length': [answerOf(200, page, { 'content-length': '1' })],
  'a HEAD with a body': [answerOf(200, page), 'HEAD'],
  'a page for a POST': [answerOf(200, page), 'POST'],
  'a page at an unknown path': [answerOf(200, page), 'GET', '/nowhere'],
  'a 401 at an unknown path': [
    answerOf(401, errors('UNAUTHORIZED'), { 'www-authenticate': 'Bearer' }),
    'GET',
    '/nowhere',
  ],
  'OPTIONS without its methods': [answerOf(204, {}), 'OPTIONS'],
};

for (const [what, [answer, method = 'GET', at = path]] of Object.entries(wrong)) {
  test(`rejects ${what}`, () => {
    assert.throws(() => assertDocumented(answer, method, at), /answered/);
  });
}
