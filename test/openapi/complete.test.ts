/** The OpenAPI document describes the whole contract, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, errorCatalogue, errorCategories } from '@partner-network/contract/errors';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import {
  basePath,
  type ListingOperation,
  listBalances,
  listBrands,
  listings,
} from '@partner-network/contract/operations';
import { scopes } from '@partner-network/contract/permissions';
import { isWebAddress } from '../../packages/common/src/text.ts';
import { examplesOf, type Json, resolve } from './document.ts';

const document: Json = openApi(partnersApi());
const { schemas } = document.components;

function operationAt({ path }: ListingOperation) {
  return document.paths[path.slice(basePath.length)].get;
}

test('has both listings and nothing else, each with its id, scope and stability', () => {
  assert.equal(document.openapi, '3.1.0');
  assert.deepEqual(Object.keys(document.paths), ['/brands', '/balances']);
  for (const operation of listings) {
    const { operationId, security, ...rest } = operationAt(operation);
    assert.equal(operationId, operation.id);
    assert.deepEqual(security, [{ ApiKey: [operation.permission] }]);
    assert.equal(rest['x-stability'], operation.stability);
  }
  assert.equal(operationAt(listBalances)['x-stability'], 'beta');
  const { type, scheme, 'x-scopes': meanings } = document.components.securitySchemes.ApiKey;
  assert.deepEqual([type, scheme, Object.keys(meanings)], ['http', 'bearer', [...scopes]]);
});

test('allows unknown error codes, and lists all known codes', () => {
  const { category, code } = schemas.ErrorRecord.properties;
  assert.deepEqual(category.enum, [...errorCategories]);
  assert.equal(code.enum, undefined, 'a new code must not break an old client');
  assert.deepEqual(schemas.ErrorCode.enum, Object.keys(errorCatalogue));
  for (const known of schemas.ErrorCode.enum) {
    assert.match(known, new RegExp(code.pattern));
    assert.ok(known.length <= code.maxLength);
  }
  assert.partialDeepStrictEqual(schemas.ErrorBody, {
    required: ['errors'],
    properties: { errors: { minItems: 1 } },
  });
});

test('has nothing that breaks the generators and mocks of others', () => {
  const text = JSON.stringify(document);
  assert.doesNotMatch(text, /\\u00|\\\\u|\\\\x|\\\\p/, 'a pattern of control characters');
  const times = text.match(/\{[^{}]*"date-time"[^{}]*\}/g) ?? [];
  assert.equal(times.length, 4);
  for (const time of times) assert.doesNotMatch(time, /pattern|Length/);
  assert.equal(schemas.Error, undefined, 'the name would hide the Error of the language');
  for (const { url, variables } of document.servers) {
    assert.equal(variables, undefined);
    assert.doesNotMatch(url, /[{}]/);
  }
  for (const { schema } of Object.values<Json>(document.components.headers))
    assert.equal(schema.enum, undefined);
  for (const operation of listings) {
    const { 200: page, 400: refused } = operationAt(operation).responses;
    assert.equal(examplesOf(page)[0]?.[1].value.cursor, undefined, "a mock's walk ends");
    assert.equal(examplesOf(resolve(document, refused))[0]?.[0], 'several-at-once');
  }
});

test('has every code of the catalogue as an example under its status, filled in', () => {
  const statuses = [...new Set(Object.values(errorCatalogue).map(({ status }) => String(status)))].sort();
  const everywhere = new Set<string>();
  for (const operation of listings) {
    const { 200: page, ...refusals } = operationAt(operation).responses;
    assert.ok(page.description);
    assert.deepEqual(Object.keys(refusals), statuses);
    for (const [status, response] of Object.entries<object>(refusals)) {
      for (const [code, { summary, value }] of examplesOf(resolve(document, response))) {
        if (code === 'several-at-once') continue;
        const [{ detail, field: _, ...error }, ...others] = value.errors;
        const { category, when } = errorCatalogue[code as ErrorCode];
        assert.deepEqual([error, others, summary], [{ category, code }, [], when]);
        assert.equal(String(errorCatalogue[code as ErrorCode].status), status);
        assert.doesNotMatch(detail, /[{}]|undefined/);
        everywhere.add(code);
      }
    }
  }
  assert.deepEqual([...everywhere].sort(), Object.keys(errorCatalogue).sort());
});

test('lists the headers of each response', () => {
  const rate = ['RateLimit-Policy', 'RateLimit'];
  const own: Record<string, string[]> = {
    200: rate,
    400: rate,
    401: ['WWW-Authenticate'],
    429: [...rate, 'Retry-After', 'Retry-After-Ms'],
    500: rate,
    503: [...rate, 'Retry-After'],
  };
  for (const operation of listings) {
    for (const [status, response] of Object.entries<object>(operationAt(operation).responses)) {
      const grants = status === '403' && operation.name === 'balances' ? rate : [];
      const shown = Object.keys(resolve(document, response).headers);
      const expected = ['X-Request-Id', ...(own[status] ?? []), ...grants];
      assert.deepEqual(shown, expected, `${operation.id} ${status}`);
    }
  }
});

test('states the rates that are set, and the public addresses of servers', () => {
  assert.deepEqual(operationAt(listBrands)['x-rate-limit'].requests, brandsPerSecond);
  assert.equal(operationAt(listBalances)['x-rate-limit'], undefined);
  const [production, sandbox] = document.servers;
  assert.match(production.description, /^Production/);
  assert.match(sandbox.description, /^Sandbox/);
  for (const { url } of document.servers) assert.match(url, /^https:\/\/[a-z.]+\.example\/network\/v1$/);

  const place = { environment: 'sandbox', publicUrl: 'https://here.example' } as const;
  const own: Json = openApi(partnersApi(place, { balances: 7 }));
  assert.equal(own.servers[0].url, 'https://here.example/network/v1');
  assert.match(own.servers[0].description, /^Sandbox/);
  assert.deepEqual(own.servers.slice(1), [production], 'the other server stays');
  assert.equal(own.paths['/brands'].get['x-rate-limit'], undefined);
  assert.equal(own.paths['/balances'].get['x-rate-limit'].requests, 7);
  assert.match(own.paths['/balances'].get.description, /Rate limit: 7 requests/);
  assert.deepEqual(own.components.headers['RateLimit-Policy'].schema.examples, ['"balances";q=7;w=1']);
  assert.deepEqual(own.components.headers.RateLimit.schema.examples, ['"balances";r=6;t=1']);
});

test('the document of a service shows what this service would answer', () => {
  const place = { environment: 'sandbox', publicUrl: 'https://here.example' } as const;
  const { components, paths }: Json = openApi(partnersApi(place, { brands: 7 }));
  const { Unauthorized, RateLimited } = components.responses;
  const said = new Map([...examplesOf(Unauthorized), ...examplesOf(RateLimited)]);
  const detailOf = (code: string) => said.get(code)?.value.errors[0].detail;
  assert.match(detailOf('API_KEY_ENVIRONMENT_MISMATCH'), /pn_test_.* sandbox environment/);
  assert.match(detailOf('RATE_LIMITED'), /limit is 7 requests/);
  assert.deepEqual(components.headers['RateLimit-Policy'].schema.examples, ['"brands";q=7;w=1']);
  const [page] = examplesOf(paths['/brands'].get.responses[200]);
  assert.equal(
    page?.[1].value.brands[0].profile_image_url,
    'https://here.example/assets/brand-placeholder.png',
  );
});

test('accepts every image address that an import accepts', () => {
  const { pattern, format } = schemas.Brand.properties.profile_image_url;
  assert.equal(format, undefined, 'a strict reader would refuse a page for what RFC 3986 does not know');
  for (const address of ['https://example.com/ü.png', 'HTTP://a/%zz', 'http://a.example/a[1].png?x={y}|^`']) {
    assert.ok(isWebAddress(address));
    assert.match(address, new RegExp(pattern, 'u'));
  }
  for (const address of ['ftp://a.example/', 'http://', 'https:///a', 'https://a b']) {
    assert.doesNotMatch(address, new RegExp(pattern, 'u'));
  }
});
