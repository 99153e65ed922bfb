/**
 * The OpenAPI document suits the tools of others. Whether it is complete is shown by the comparison with
 * every response of the tests: see packages/testkit/watch.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isWebAddress } from '../../packages/common/src/text.ts';
import { formats } from '../../packages/testkit/watch/compiled-schemas.ts';
import { openApiFile } from '../../scripts/openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests know the paths of the document that they read.
type Json = any;

/** The part that a `$ref` refers to, or the part itself. */
function resolve(part: Json): Json {
  if (part.$ref === undefined) return part;
  const steps: string[] = part.$ref.split('/').slice(1);
  return steps.reduce((place, step) => place[step], document);
}

function examplesOf(response: Json): [name: string, example: { summary: string; value: Json }][] {
  return Object.entries(response.content['application/json'].examples);
}

const document: Json = JSON.parse(readFileSync(openApiFile, 'utf8'));
const { schemas, headers, parameters } = document.components;
const ajv = new Ajv2020({ strict: true, keywords: ['components'], formats });
ajv.addSchema({ $id: 'openapi', components: { schemas } });

function assertFits(schema: { $ref?: string }, value: unknown, where: string): void {
  const { $ref } = schema;
  const validate = $ref === undefined ? ajv.compile(schema) : ajv.getSchema(`openapi${$ref}`)!;
  assert.ok(validate(value), `${where}: ${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`);
}

test('has both listings and nothing else, each with its id, scope and stability', () => {
  const shown = Object.entries<Json>(document.paths).map(([path, { get, ...others }]) => {
    const { operationId, security, 'x-stability': stability } = get;
    return [path, operationId, security, stability, others];
  });
  assert.deepEqual(shown, [
    ['/brands', 'listBrands', [{ ApiKey: ['BRANDS_READ'] }], 'stable', {}],
    ['/balances', 'listBalances', [{ ApiKey: ['BALANCES_READ'] }], 'beta', {}],
  ]);
});

test('every example response fits its schema, and every listing shows a first and a last page', () => {
  for (const [path, { get }] of Object.entries<Json>(document.paths)) {
    for (const [status, part] of Object.entries(get.responses)) {
      const response = resolve(part);
      for (const [name, { value }] of examplesOf(response)) {
        assertFits(response.content['application/json'].schema, value, `${path} ${status} ${name}`);
        for (const { detail } of value.errors ?? []) assert.doesNotMatch(detail, /[{}]|undefined/);
      }
    }
    const pages = examplesOf(get.responses[200]).map(([, { value }]) => value);
    assert.ok(pages.some(({ cursor }) => cursor !== undefined));
    assert.ok(pages.some(({ cursor }) => cursor === undefined));
  }
});

test('the example of every field, parameter and header fits its schema', () => {
  let examples = 0;
  const shows = (schema: Json, where: string) => {
    for (const example of schema.examples ?? []) {
      assertFits(schema, example, where);
      examples += 1;
    }
  };
  for (const [name, { properties = {} }] of Object.entries<Json>(schemas)) {
    for (const [field, schema] of Object.entries<Json>(properties)) {
      if (schema.type !== 'array') shows(schema, `${name}.${field}`);
    }
  }
  for (const [name, { schema }] of Object.entries<Json>(headers)) shows(schema, name);
  for (const [name, { schema, example }] of Object.entries<Json>(parameters)) {
    if (example !== undefined) shows({ ...schema, examples: [example] }, name);
  }
  assert.ok(examples > 30, `${examples} examples`);
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
  for (const { get } of Object.values<Json>(document.paths)) {
    const { 200: page, 400: refused } = get.responses;
    assert.equal(examplesOf(page)[0]?.[1].value.cursor, undefined, "a mock's walk ends");
    assert.equal(examplesOf(resolve(refused))[0]?.[0], 'several-at-once');
  }
});

test('the document of a service has its address and its rates, and shows what it would answer', () => {
  const [production, sandbox] = document.servers;
  assert.match(production.description, /^Production/);
  assert.match(sandbox.description, /^Sandbox/);
  for (const { url } of document.servers) assert.match(url, /^https:\/\/[a-z.]+\.example\/network\/v1$/);

  const place = { environment: 'sandbox', publicUrl: 'https://here.example' } as const;
  const { servers, paths, components }: Json = openApi(partnersApi(place, { balances: 7 }));
  assert.equal(servers[0].url, 'https://here.example/network/v1');
  assert.match(servers[0].description, /^Sandbox/);
  assert.deepEqual(servers.slice(1), [production], 'the other server stays');
  assert.equal(paths['/brands'].get['x-rate-limit'], undefined);
  assert.equal(paths['/balances'].get['x-rate-limit'].requests, 7);
  assert.match(paths['/balances'].get.description, /Rate limit: 7 requests/);
  assert.deepEqual(components.headers['RateLimit-Policy'].schema.examples, ['"balances";q=7;w=1']);
  assert.deepEqual(components.headers.RateLimit.schema.examples, ['"balances";r=6;t=1']);

  const { Unauthorized, RateLimited } = components.responses;
  const said = new Map([...examplesOf(Unauthorized), ...examplesOf(RateLimited)]);
  const detailOf = (code: string) => said.get(code)?.value.errors[0].detail;
  assert.match(detailOf('API_KEY_ENVIRONMENT_MISMATCH'), /pn_test_.* sandbox environment/);
  assert.match(detailOf('RATE_LIMITED'), /limit is 7 requests/);
  const [page] = examplesOf(paths['/brands'].get.responses[200]);
  const image = page?.[1].value.brands[0].profile_image_url;
  assert.equal(image, 'https://here.example/assets/brand-placeholder.png');
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
