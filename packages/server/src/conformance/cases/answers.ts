/** Promises about every answer of the run, and about the OpenAPI document. They come last. */
import { type Operation, operations } from '@partner-network/contract/operations';
import type { Answer, Probe } from '../case.ts';
import { faultsOf, type Schema } from '../schema.ts';
import { type Broken, type Find, type Finders, table, withoutErrors } from './table.ts';

/** Finds the first answer of the run that is broken. */
const every =
  (isBroken: (answer: Answer) => Broken | boolean): Find =>
  async ({ answers }) => {
    for (const answer of answers) {
      const broken = answer.status > 0 && isBroken(answer);
      if (broken) return broken === true ? answer : broken;
    }
    return undefined;
  };

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

/** Finds an answer that is not as the document says. */
const documented =
  (isBroken: (answer: Answer, response: Part | undefined, document: Part) => Broken | boolean) =>
  (): Find =>
  async (probe) => {
    const document = ((await documentOf(probe)).json ?? {}) as Part;
    return every((answer) => {
      const responses = document.paths?.[answer.path ?? '']?.get?.responses;
      return isPage(answer) && isBroken(answer, followed(document, responses?.[answer.status]), document);
    })(probe);
  };

/** Finds an operation that the document describes in another way than the contract. */
const described =
  (isRight: (found: Part | undefined, own: Operation, document: Part) => boolean) =>
  (): Find =>
  async (probe) => {
    const answer = await documentOf(probe);
    const document = (answer.json ?? {}) as Part;
    const ofName = ({ name }: Operation) => document.paths?.[`/${name}`]?.get;
    return operations.every((own) => isRight(ofName(own), own, document)) ? undefined : answer;
  };

/** Finds a file at the origin that is not as it should be. */
const file = (path: string, isRight: (answer: Answer) => boolean) => (): Find => async (probe) => {
  const answer = await probe.get(path, {}, { key: null, atOrigin: true });
  return answer.status === 200 && isRight(answer) ? undefined : answer;
};

const finders: Finders = {
  lacks: (kind: string, name = '', ...value) => {
    const pattern = RegExp(`^${value.join(' ')}$`);
    return every((answer) => kinds[kind]!(answer) && !pattern.test(answer.header(name) ?? ''));
  },
  errors: () => every((one) => isPage(one) && one.status === 400 && withoutErrors(one)),
  allErrors: () => every((one) => one.method !== 'HEAD' && one.status >= 300 && withoutErrors(one)),
  cors: () => every(({ rawHeaders }) => rawHeaders.some((name) => /^access-control-/i.test(name))),
  sameId:
    () =>
    async ({ answers }) => {
      const all = answers.map((answer) => answer.header('x-request-id'));
      return answers.find((_, index) => all[index] !== undefined && all.indexOf(all[index]) < index);
    },
  document: () => async (probe) => {
    const answer = await documentOf(probe);
    return answer.status === 200 && (answer.json as Part | undefined)?.openapi !== undefined
      ? undefined
      : answer;
  },
  scopes: described((found, { scope }) => JSON.stringify(found?.security ?? '').includes(scope)),
  parameters: described((found, own, document) => {
    const list = Array.isArray(found?.parameters) ? found.parameters : [];
    const all = list.map((part: Part) => followed(document, part));
    const expected = Object.entries(own.parameters).map(([name, { required }]) => `${name} ${required}`);
    return (
      all
        .map((part) => `${part?.name} ${part?.required ?? false}`)
        .sort()
        .join() === expected.sort().join()
    );
  }),
  statuses: documented((_, response) => response === undefined),
  schemas: documented((answer, response, document) => {
    const schema = response?.content?.['application/json']?.schema as Schema | undefined;
    const [fault] = schema === undefined ? [] : faultsOf(schema, answer.json, { document });
    return fault !== undefined && [answer, fault];
  }),
  docs: file('/docs', (answer) => /^text\/html/.test(answer.header('content-type') ?? '')),
  image: file('/assets/brand-placeholder.png', ({ body }) => {
    const isPng = body.length > 24 && body.toString('latin1', 1, 4) === 'PNG';
    return isPng && body.readUInt32BE(16) === 256 && body.readUInt32BE(20) === 256;
  }),
};

export const answers = table(
  `
# 7 specification
errors.records: Every 400 of a listing has a list of Error records | errors
# Errors decisions
errors.everywhere: Every answer that is not 2xx has a list of Error records, on every path | allErrors
headers.www-authenticate: Every 401 has WWW-Authenticate: Bearer | lacks 401 www-authenticate Bearer
headers.allow: Every 405, and every answer to OPTIONS, has Allow | lacks 405 allow GET, HEAD, OPTIONS
headers.no-cors: No answer has a CORS header | cors
# Records on the wire decisions
headers.content-type: Listings answer with application/json; charset=utf-8 |
  lacks pages content-type application/json; charset=utf-8
headers.nosniff: Listings answer with nosniff | lacks pages x-content-type-options nosniff
headers.no-store: Listings answer with no-store | lacks pages cache-control no-store
headers.request-id: Every answer has an X-Request-Id | lacks all x-request-id .+
headers.request-id-unique: No two answers have the same X-Request-Id | sameId
# Rate limit decisions
headers.rate-limit-policy: Brands answer with RateLimit-Policy |
  lacks limited ratelimit-policy "brands";q=50;w=1
headers.rate-limit: Brands answer with RateLimit | lacks limited ratelimit "brands";r=([1-4]?[0-9]);t=[01]
# Errors decisions
openapi.served: The OpenAPI document is served without a key | document
openapi.scopes: The OpenAPI document has both listings, each with its scope | scopes
openapi.parameters: The OpenAPI document has the parameters of both listings | parameters
openapi.statuses: The OpenAPI document has every status that the listings answered | statuses
openapi.answers: Every answer of the listings matches its schema in the OpenAPI document | schemas
docs.served: /docs is served without a key | docs
placeholder.served: The placeholder image is a PNG of 256x256 pixels | image
`,
  finders,
);
