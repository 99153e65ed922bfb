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
const parameter = 'GET /brands: parameters: reference_id';
const response = 'GET /brands: responses: 200';
const content = `${response}: content: application/json: schema: properties`;
const received = `${content}: brands: items: properties`;
const color = (required: boolean) => [
  ...at(`${brands}.parameters`),
  { name: 'color', in: 'query', required, schema: { type: 'string' } },
];
const required: readonly string[] = at(`${brand}.required`);
const codes: readonly string[] = at('components.schemas.ErrorCode.enum');
const responseOf = (status: string) => at(`${brands}.responses.${status}`);

const breaking: Readonly<Record<string, Change>> = {
  'The base path: /network/v1 was removed.': ['servers', [{ url: 'https://api.example/network/v2' }]],
  'GET /brands was removed.': ['paths', { '/brand': at('paths./brands') }],
  'GET /brands: x-stability was "stable", and is "beta".': [`${brands}.x-stability`, 'beta'],
  'GET /brands: x-rate-limit: requests was 50, and is 49.': [`${brands}.x-rate-limit.requests`, 49],
  'securitySchemes: ApiKey: scheme was "bearer", and is "basic".': [
    'components.securitySchemes.ApiKey.scheme',
    'basic',
  ],
  [`${parameter} was removed.`]: [`${brands}.parameters`, at(`${brands}.parameters`).slice(1)],
  [`${parameter}: required was false, and is true.`]: [`${reference}.required`, true],
  'GET /brands: parameters: color is new.': [`${brands}.parameters`, color(true)],
  [`${parameter}: style is new.`]: [`${reference}.style`, 'pipeDelimited'],
  [`${parameter}: schema: maxLength was 1024, and is 128.`]: [`${reference}.schema.maxLength`, 128],
  [`${response} was removed.`]: [`${brands}.responses.200`, undefined],
  'GET /brands: responses: 206 is new.': [`${brands}.responses.206`, responseOf('200')],
  [`${response}: headers: RateLimit was removed.`]: [`${brands}.responses.200.headers.RateLimit`, undefined],
  [`${received}: color was removed.`]: [`${brand}.properties.color`, undefined],
  [`${received}: name: type was "string", and is ["string","null"].`]: [`${name}.type`, ['string', 'null']],
  [`${received}: name: maxLength was 1024, and is 2048.`]: [`${name}.maxLength`, 2048],
  [`${received}: color: pattern was removed.`]: [`${brand}.properties.color.pattern`, undefined],
  [`${received}: name: oneOf is new.`]: [`${name}.oneOf`, [{}]],
  'ErrorCode: VALUE_EMPTY was removed.': [
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
  'another text': [`${brand}.description`, 'Another text.'],
  'another example': [`${name}.examples`, ['Another']],
  'another version': ['info.version', '1.1.0'],
  'a new optional field': [`${brand}.properties.description`, { type: 'string' }],
  'a field that is now always present': [`${brand}.required`, [...required, 'color']],
  'a new optional parameter': [`${brands}.parameters`, color(false)],
  'a parameter that may be longer': [`${reference}.schema.maxLength`, 2048],
  'a shorter field': [`${name}.maxLength`, 512],
  'a new error code': ['components.schemas.ErrorCode.enum', [...codes, 'TEAPOT']],
  'a new error status': [`${brands}.responses.418`, responseOf('429')],
  'a new header': [`${brands}.responses.200.headers.Age`, { schema: { type: 'integer' } }],
  'a new operation': ['paths./payments', at('paths./brands')],
  'another server with the same base path': ['servers', [{ url: 'https://api.example/network/v1' }]],
  'a higher rate': [`${brands}.x-rate-limit.requests`, 60],
};

for (const [what, [place, value]] of Object.entries(harmless)) {
  test(`accepts ${what}`, () => assert.deepEqual(breaksOf(place, value), []));
}

test('a field that is not always present any more, or has the name of an annotation, is found', () => {
  const [first] = breaksOf(`${brand}.required`, required.toSpliced(1, 1));
  assert.match(first!.text, /^GET \/brands: .*: items: required was .*, and is .*\.$/);
  const old = structuredClone(released) as Document;
  old.components.schemas.Brand.properties.title = { type: 'string' };
  const [{ text } = { text: '' }] = breaksBetween(old, released);
  assert.equal(text, `${received}: title was removed.`);
});

test('a break of a beta operation is marked, because it is allowed', () => {
  const [only, ...others] = breaksOf('components.schemas.Balance.properties.amount', undefined);
  assert.deepEqual([only!.isOfBeta, others], [true, []]);
  assert.match(only!.text, /^GET \/balances: .*: amount was removed\.$/);
});
