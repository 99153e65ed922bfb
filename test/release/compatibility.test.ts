/** Changes of the API that break clients are found before a release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { breaksBetween } from '../../scripts/release/compatibility.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is changed in many places.
type Document = any;
type Change = (document: Document) => void;

const released = openApi(partnersApi()) as Record<string, unknown>;

function breaksOf(change: Change): string[] {
  const document = structuredClone(released);
  change(document);
  return breaksBetween(released, document).map(({ text }) => text);
}

const brand = ({ components }: Document) => components.schemas.Brand;
const parameter = ({ components }: Document, name: string) => components.parameters[name];
const brands = ({ paths }: Document) => paths['/brands'].get;

const received = 'GET /brands: the response 200: application/json.brands[]';

const breaking: Readonly<Record<string, Change>> = {
  'The base path /network/v1 was removed.': (document) => {
    for (const server of document.servers) server.url = server.url.replace('v1', 'v2');
  },
  'GET /brands was removed.': ({ paths }) => {
    paths['/brand'] = paths['/brands'];
    delete paths['/brands'];
  },
  'GET /brands has another "operationId".': (document) => {
    brands(document).operationId = 'brands';
  },
  'GET /brands has another "security".': (document) => {
    brands(document).security = [{ ApiKey: ['BRANDS_READ', 'BALANCES_READ'] }];
  },
  'GET /brands is no longer stable.': (document) => {
    brands(document)['x-stability'] = 'beta';
  },
  'GET /brands has a lower rate limit.': (document) => {
    brands(document)['x-rate-limit'].requests = 49;
  },
  'The rate limit of GET /brands has another "seconds".': (document) => {
    brands(document)['x-rate-limit'].seconds = 60;
  },
  'The document has another "securitySchemes".': ({ components }) => {
    components.securitySchemes.ApiKey.scheme = 'basic';
  },
  'GET /brands: the parameter reference_id was removed.': (document) => {
    brands(document).parameters.shift();
  },
  'GET /brands: the parameter reference_id is now required.': (document) => {
    parameter(document, 'ReferenceId').required = true;
  },
  'GET /brands: the parameter color is now required.': (document) => {
    brands(document).parameters.push({ name: 'color', in: 'query', required: true, schema: {} });
  },
  'GET /brands: the parameter reference_id has another "style".': (document) => {
    parameter(document, 'ReferenceId').style = 'pipeDelimited';
  },
  'GET /brands: the parameter reference_id has another "maxLength": 1024 is now 128.': (document) => {
    parameter(document, 'ReferenceId').schema.maxLength = 128;
  },
  'GET /brands: the parameter reference_id has another "type": "string" is now "integer".': (document) => {
    parameter(document, 'ReferenceId').schema.type = 'integer';
  },
  'GET /brands: the response 200 was removed.': (document) => {
    delete brands(document).responses[200];
  },
  'GET /brands: the response 206 is new.': (document) => {
    brands(document).responses[206] = brands(document).responses[200];
  },
  'GET /brands: the response 200: application/json was removed.': (document) => {
    brands(document).responses[200].content = {};
  },
  'GET /brands: the response 200: the header RateLimit was removed.': (document) => {
    delete brands(document).responses[200].headers.RateLimit;
  },
  [`${received}.color was removed.`]: (document) => {
    delete brand(document).properties.color;
  },
  [`${received}.name is no longer always present.`]: (document) => {
    brand(document).required.splice(1, 1);
  },
  [`${received}.name has another "type": "string" is now ["string","null"].`]: (document) => {
    brand(document).properties.name.type = ['string', 'null'];
  },
  [`${received}.name has another "maxLength": 1024 is now 2048.`]: (document) => {
    brand(document).properties.name.maxLength = 2048;
  },
  [`${received}.color has another "pattern": "^#[0-9A-Fa-f]{6}$" is now no rule.`]: (document) => {
    delete brand(document).properties.color.pattern;
  },
  [`${received}.name has another "oneOf".`]: (document) => {
    brand(document).properties.name.oneOf = [{}];
  },
  [`${received}.metadata.* has another "type": "string" is now no rule.`]: (document) => {
    brand(document).properties.metadata.additionalProperties = {};
  },
  [`${received}.metadata has another "additionalProperties".`]: (document) => {
    brand(document).properties.metadata.additionalProperties = true;
  },
  'The schema ErrorCode no longer has VALUE_EMPTY.': ({ components }) => {
    components.schemas.ErrorCode.enum.splice(1, 1);
  },
};

for (const [text, change] of Object.entries(breaking)) {
  test(`finds: ${text}`, () => assert.ok(breaksOf(change).includes(text), breaksOf(change).join('\n')));
}

const harmless: Readonly<Record<string, Change>> = {
  'the same document': () => {},
  'another text, and another example': (document) => {
    brand(document).description = 'Another text.';
    brand(document).properties.name.examples = ['Another'];
    document.info.version = '1.1.0';
  },
  'a new optional field': (document) => {
    brand(document).properties.country = { type: 'string' };
  },
  'a field that is now always present': (document) => {
    brand(document).required.push('color');
  },
  'a new optional parameter': (document) => {
    brands(document).parameters.push({ name: 'color', in: 'query', schema: { type: 'string' } });
  },
  'a parameter that may be longer': (document) => {
    parameter(document, 'ReferenceId').schema.maxLength = 2048;
  },
  'a shorter field, and fewer values': (document) => {
    brand(document).properties.name.maxLength = 512;
  },
  'a new error code, and a new error status': (document) => {
    document.components.schemas.ErrorCode.enum.push('TEAPOT');
    brands(document).responses[418] = brands(document).responses[429];
  },
  'a new header, a new operation and a new schema': (document) => {
    brands(document).responses[200].headers.Age = { schema: { type: 'integer' } };
    document.paths['/payments'] = document.paths['/brands'];
    document.components.schemas.Payment = { type: 'object' };
  },
  'another server with the same base path, and a higher rate': (document) => {
    document.servers = [{ url: 'https://api.example/network/v1' }];
    brands(document)['x-rate-limit'].requests = 60;
  },
};

for (const [name, change] of Object.entries(harmless)) {
  test(`accepts ${name}`, () => assert.deepEqual(breaksOf(change), []));
}

test('a break of a beta operation is marked, because it is allowed', () => {
  const document: Document = structuredClone(released);
  delete document.components.schemas.Balance.properties.amount;
  const breaks = breaksBetween(released, document);
  assert.deepEqual(
    breaks.map(({ isOfBeta }) => isOfBeta),
    [true],
  );
  assert.match(breaks[0]!.text, /^GET \/balances: .*\.amount was removed\.$/);
});

test('a value that the client did not expect is found', () => {
  const addCategory = ({ components }: Document) =>
    components.schemas.ErrorRecord.properties.category.enum.push('TEAPOT_ERROR');
  const place = 'GET /brands: the response 401: application/json.errors[].category';
  assert.ok(breaksOf(addCategory).some((text) => text.startsWith(`${place} has another "enum": [`)));
});
