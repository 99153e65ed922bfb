/** Promises about every answer of the run, and about the OpenAPI document. They come last. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { type Operation, operations } from '@partner-network/contract/operations';
import { type Answer, type Probe, Skip } from '../case.ts';
import { faultsOf, type Schema } from '../schema.ts';
import { type Broken, type Find, type Finders, table, withoutErrors } from './table.ts';

/** Finds the first answer of the run that is broken. */
function every(isBroken: (answer: Answer, all: readonly Answer[]) => Broken | boolean): Find {
  return async ({ answers }) => {
    for (const answer of answers) {
      const broken = answer.status > 0 && isBroken(answer, answers);
      if (broken) return broken === true ? answer : broken;
    }
    return undefined;
  };
}

const idOf = (answer: Answer) => answer.header('x-request-id') ?? answer;

/** An answer of one of the two listings to GET. */
const isPage = ({ path = '', method }: Answer) => /^.(brands|balances)$/.test(path) && method === 'GET';

const kinds: Readonly<Record<string, (answer: Answer) => boolean>> = {
  all: () => true,
  pages: isPage,
  limited: (one) => isPage(one) && one.path === '/brands' && [200, 400, 429].includes(one.status),
  '401': ({ status }) => status === 401,
  '405': ({ status }) => status === 405 || status === 204,
};

/** A part of another's document, which may lack anything. */
interface Part {
  readonly [name: string]: Part | undefined;
}

const documentOf = (probe: Probe) =>
  probe.once('document', () => probe.get('/openapi.json', {}, { key: null }));

/** The part itself, or what its `$ref` points to. */
function followed(document: Part, part: Part | undefined): Part | undefined {
  const [, ...names] = typeof part?.$ref === 'string' ? String(part.$ref).split('/') : [];
  return names.length === 0 ? part : names.reduce<Part | undefined>((place, name) => place?.[name], document);
}

/** Finds an answer that the document does not describe. */
function undocumented(what: string): Find {
  return async (probe) => {
    const document = ((await documentOf(probe)).json ?? {}) as Part;
    if (document.paths === undefined) throw new Skip('an OpenAPI document');
    return every((answer) => {
      const responses = document.paths?.[answer.path ?? '']?.get?.responses;
      const response = followed(document, responses?.[answer.status]);
      if (!isPage(answer) || what === 'status') return isPage(answer) && response === undefined;
      const schema = response?.content?.['application/json']?.schema as Schema | undefined;
      const [fault] = schema === undefined ? [] : faultsOf(schema, answer.json, { document });
      return fault !== undefined && [answer, `this: ${fault}`];
    })(probe);
  };
}

/** The parameters and scope of an operation, as the document should describe them. */
const essence = ({ scope, parameters }: Operation) =>
  [...Object.entries(parameters).map(([name, { required }]) => `${name} ${required}`), scope].sort().join();

/** Finds out whether the document describes both operations as the contract does. */
const misdescribed: Find = async (probe) => {
  const answer = await documentOf(probe);
  const document = (answer.json ?? {}) as Part;
  const found = operations.map(({ name }) => {
    const { parameters, security } = document.paths?.[`/${name}`]?.get ?? {};
    const list = (Array.isArray(parameters) ? parameters : []).map((one) => followed(document, one));
    const scopes = Object.values((Array.isArray(security) ? security : [])[0] ?? {});
    return [...list.map((one) => `${one?.name} ${one?.required ?? false}`), ...scopes].sort().join();
  });
  return found.join() === operations.map(essence).join() ? undefined : answer;
};

const image: Find = async (probe) => {
  const answer = await probe.get('/assets/brand-placeholder.png', {}, { key: null, atOrigin: true });
  const isPng = answer.status === 200 && /^.PNG/.test(answer.body.toString('latin1'));
  const size = isPng && [answer.body.readUInt32BE(16), answer.body.readUInt32BE(20)].join();
  return size === '256,256' ? undefined : answer;
};

const aKey = RegExp(`${keyPrefixPattern}\\w{20}`);
/** Long values of the cases are one character, many times. */
const manyCharacters = /(.)\1{64}/;

const finders: Finders = {
  lacks: (kind: string, name = '', ...value) => {
    const pattern = RegExp(`^${value.join(' ')}$`);
    return every((answer) => kinds[kind]!(answer) && !pattern.test(answer.header(name) ?? ''));
  },
  errors: () => every((one) => isPage(one) && one.status === 400 && withoutErrors(one)),
  allErrors: () => every((one) => one.method !== 'HEAD' && one.status >= 300 && withoutErrors(one)),
  repeats: (kind: string) =>
    every(({ status, text }) => status >= 400 && (kind === 'key' ? aKey : manyCharacters).test(text)),
  cors: () => every(({ rawHeaders }) => rawHeaders.some((name) => /^access-control-/i.test(name))),
  sameId: () => every((one, all) => all.some((other) => other !== one && idOf(other) === idOf(one))),
  undocumented,
  misdescribed: () => misdescribed,
  image: () => image,
};

export const answers = table(
  `
# 7 specification
errors.records: Every 400 of a listing has a list of Error records | errors
# Errors decisions
errors.everywhere: Every answer that is not 2xx has a list of Error records, on every path | allErrors
errors.no-long-values: No error repeats a value of over 64 characters | repeats value
errors.no-keys: No error repeats a key | repeats key
headers.www-authenticate: Every 401 has WWW-Authenticate: Bearer | lacks 401 www-authenticate Bearer
headers.allow: Every 405, and every answer to OPTIONS, has Allow | lacks 405 allow GET, HEAD, OPTIONS
headers.no-cors: No answer has a CORS header | cors
# Records on the wire decisions
headers.content-type: Listings answer with application/json; charset=utf-8 |
  lacks pages content-type application/json; charset=utf-8
headers.nosniff: Listings answer with nosniff | lacks pages x-content-type-options nosniff
headers.no-store: Listings answer with no-store | lacks pages cache-control no-store
headers.request-id: Every answer has an X-Request-Id | lacks all x-request-id .+
headers.own-request-id: The X-Request-Id of a caller is ignored | lacks all x-request-id ((?!conformance).+)?
headers.request-id-unique: No two answers have the same X-Request-Id | sameId
# Rate limit decisions
headers.rate-limit-policy: Brands answer with RateLimit-Policy |
  lacks limited ratelimit-policy "brands";q=50;w=1
headers.rate-limit: Brands answer with RateLimit | lacks limited ratelimit "brands";r=([1-4]?[0-9]);t=[01]
# Errors decisions
openapi.served: The OpenAPI document is served without a key |
  as:nobody /openapi.json -> 200 mentioning "openapi"
openapi.operations: The OpenAPI document has the parameters and the scope of both listings | misdescribed
openapi.statuses: The OpenAPI document has every status that the listings answered | undocumented status
openapi.answers: Every answer of the listings matches its schema in the OpenAPI document | undocumented body
docs.served: The reference page is served without a key | as:nobody origin /docs -> 200 mentioning <html
placeholder.served: The placeholder image is a PNG of 256x256 pixels | image
`,
  finders,
);
