/** Changes of the API that break clients are found before a release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { breaksBetween } from '../../scripts/release/compatibility.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is read and changed in many places.
type Document = any;
/** What a place of the document gets. Undefined removes it. */
type Change = readonly [place: string, value: unknown];

const released = openApi(partnersApi()) as Record<string, unknown>;

const partAt = (steps: readonly string[], document: Document): Document =>
  steps.reduce((part, step) => part[step], document);
const at = (place: string): Document => partAt(place.split('.'), released);

function breaksOf(place: string, value: unknown) {
  const document = structuredClone(released);
  const steps = place.split('.');
  const last = steps.pop()!;
  const part = partAt(steps, document);
  if (value === undefined) delete part[last];
  else part[last] = value;
  return breaksBetween(released, document);
}

const brands = 'paths./brands.get';
const brand = 'components.schemas.Brand';
const name = `${brand}.properties.name`;
const reference = 'components.parameters.ReferenceId';
const parameter = 'GET /brands: the parameter reference_id';
const response = 'GET /brands: the response 200';
const received = `${response}: application/json.brands[]`;
const scopes = ['BRANDS_READ', 'BALANCES_READ'];
const color = (required: boolean) => [
  ...at(`${brands}.parameters`),
  { name: 'color', in: 'query', required, schema: { type: 'string' } },
];
const required: readonly string[] = at(`${brand}.required`);
const codes: readonly string[] = at('components.schemas.ErrorCode.enum');

const breaking: Readonly<Record<string, Change>> = {
  'The base path /network/v1 was removed.': ['servers', [{ url: 'https://api.example/network/v2' }]],
  'GET /brands was removed.': ['paths', { '/brand': at('paths./brands') }],
  'GET /brands has another "operationId".': [`${brands}.operationId`, 'brands'],
  'GET /brands has another "security".': [`${brands}.security`, [{ ApiKey: scopes }]],
  'GET /brands is no longer stable.': [`${brands}.x-stability`, 'beta'],
  'GET /brands has a lower rate limit.': [`${brands}.x-rate-limit.requests`, 49],
  'The rate limit of GET /brands has another "seconds".': [`${brands}.x-rate-limit.seconds`, 60],
  'The document has another "securitySchemes".': ['components.securitySchemes.ApiKey.scheme', 'basic'],
  [`${parameter} was removed.`]: [`${brands}.parameters`, at(`${brands}.parameters`).slice(1)],
  [`${parameter} is now required.`]: [`${reference}.required`, true],
  'GET /brands: the parameter color is now required.': [`${brands}.parameters`, color(true)],
  [`${parameter} has another "style".`]: [`${reference}.style`, 'pipeDelimited'],
  [`${parameter} has another "maxLength": 1024 is now 128.`]: [`${reference}.schema.maxLength`, 128],
  [`${parameter} has another "type": "string" is now "integer".`]: [`${reference}.schema.type`, 'integer'],
  [`${response} was removed.`]: [`${brands}.responses.200`, undefined],
  'GET /brands: the response 206 is new.': [`${brands}.responses.206`, at(`${brands}.responses.200`)],
  [`${response}: application/json was removed.`]: [`${brands}.responses.200.content`, {}],
  [`${response}: the header RateLimit was removed.`]: [
    `${brands}.responses.200.headers.RateLimit`,
    undefined,
  ],
  [`${received}.color was removed.`]: [`${brand}.properties.color`, undefined],
  [`${received}.name is no longer always present.`]: [`${brand}.required`, required.toSpliced(1, 1)],
  [`${received}.name has another "type": "string" is now ["string","null"].`]: [
    `${name}.type`,
    ['string', 'null'],
  ],
  [`${received}.name has another "maxLength": 1024 is now 2048.`]: [`${name}.maxLength`, 2048],
  [`${received}.color has another "pattern": "^#[0-9A-Fa-f]{6}$" is now no rule.`]: [
    `${brand}.properties.color.pattern`,
    undefined,
  ],
  [`${received}.name has another "oneOf".`]: [`${name}.oneOf`, [{}]],
  [`${received}.metadata.* has another "type": "string" is now no rule.`]: [
    `${brand}.properties.metadata.additionalProperties`,
    {},
  ],
  [`${received}.metadata has another "additionalProperties".`]: [
    `${brand}.properties.metadata.additionalProperties`,
    true,
  ],
  'The schema ErrorCode no longer has VALUE_EMPTY.': [
    'components.schemas.ErrorCode.enum',
    codes.filter((code) => code !== 'VALUE_EMPTY'),
  ],
};

for (const [text, [place, value]] of Object.entries(breaking)) {
  test(`finds: ${text}`, () => {
    const found = breaksOf(place, value).map((one) => one.text);
    assert.ok(found.includes(text), found.join('\n'));
  });
}

const harmless: Readonly<Record<string, Change>> = {
  'the same document': ['openapi', released.openapi],
  'another text': [`${brand}.description`, 'Another text.'],
  'another example': [`${name}.examples`, ['Another']],
  'another version': ['info.version', '1.1.0'],
  'a new optional field': [`${brand}.properties.country`, { type: 'string' }],
  'a field that is now always present': [`${brand}.required`, [...required, 'color']],
  'a new optional parameter': [`${brands}.parameters`, color(false)],
  'a parameter that may be longer': [`${reference}.schema.maxLength`, 2048],
  'a shorter field': [`${name}.maxLength`, 512],
  'a new error code': ['components.schemas.ErrorCode.enum', [...codes, 'TEAPOT']],
  'a new error status': [`${brands}.responses.418`, at(`${brands}.responses.429`)],
  'a new header': [`${brands}.responses.200.headers.Age`, { schema: { type: 'integer' } }],
  'a new operation': ['paths./payments', at('paths./brands')],
  'a new schema': ['components.schemas.Payment', { type: 'object' }],
  'another server with the same base path': ['servers', [{ url: 'https://api.example/network/v1' }]],
  'a higher rate': [`${brands}.x-rate-limit.requests`, 60],
};

for (const [what, [place, value]] of Object.entries(harmless)) {
  test(`accepts ${what}`, () => assert.deepEqual(breaksOf(place, value), []));
}

test('a break of a beta operation is marked, because it is allowed', () => {
  const [only, ...others] = breaksOf('components.schemas.Balance.properties.amount', undefined);
  assert.deepEqual([only!.isOfBeta, others], [true, []]);
  assert.match(only!.text, /^GET \/balances: .*\.amount was removed\.$/);
});

test('a value that the client did not expect is found', () => {
  const categories = 'components.schemas.ErrorRecord.properties.category.enum';
  const found = breaksOf(categories, [...at(categories), 'TEAPOT_ERROR']);
  const start = 'GET /brands: the response 401: application/json.errors[].category has another "enum": [';
  assert.ok(found.some(({ text }) => text.startsWith(start)));
});
