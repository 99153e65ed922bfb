/** Promises about every answer of the run, and the OpenAPI document. They come last. */
import { operations } from '@partner-network/contract/operations';
import type { Answer, Case, Probe } from '../case.ts';
import { faultsOf, type Schema } from '../schema.ts';
import { type Broken, cases, type Find } from './rows.ts';
import { withoutErrors } from './table.ts';

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

/** Answers of the two listings to GET. */
const isListing = ({ path, method }: Answer) =>
  (path === '/brands' || path === '/balances') && method === 'GET';

const lacks = (name: string, value: RegExp, where: (answer: Answer) => boolean): Find =>
  every((answer) => where(answer) && !value.test(answer.header(name) ?? ''));

const hasRate = (answer: Answer) =>
  isListing(answer) && answer.path === '/brands' && [200, 400, 429].includes(answer.status);

/** A part of the document. It may lack anything: it is another's. */
interface Part {
  readonly [name: string]: Part | undefined;
}

const documentOf = (probe: Probe) =>
  probe.once('document', () => probe.get('/openapi.json', {}, { key: null }));

/** The part itself, or what its `$ref` points to. */
function followed(document: Part | undefined, part: Part | undefined): Part | undefined {
  const names = typeof part?.$ref === 'string' ? String(part.$ref).slice(2).split('/') : undefined;
  return names === undefined ? part : names.reduce((place, name) => place?.[name], document);
}

/** Finds an answer that is not as the document says. */
const documented =
  (faultIn: (answer: Answer, response: Part | undefined, document: Part) => string | undefined): Find =>
  async (probe) => {
    const document = (await documentOf(probe)).json as Part | undefined;
    return every((answer) => {
      const responses = isListing(answer) && document?.paths?.[answer.path!]?.get?.responses;
      if (!document || !responses) return false;
      const fault = faultIn(answer, followed(document, responses[answer.status]), document);
      return fault !== undefined && [answer, fault];
    })(probe);
  };

/** Finds an operation that the document describes in another way than the contract. */
const described =
  (isRight: (found: Part, own: (typeof operations)[number], document: Part) => boolean): Find =>
  async (probe) => {
    const answer = await documentOf(probe);
    const document = (answer.json ?? {}) as Part;
    const isSame = operations.every((own) => {
      const found = document.paths?.[`/${own.name}`]?.get;
      return found !== undefined && isRight(found, own, document);
    });
    return isSame ? undefined : answer;
  };

export const everyAnswer: readonly Case[] = [
  ...cases('7', 'specification', {
    'errors.records': [
      'Every 400 of a listing has a list of Error records',
      every((answer) => isListing(answer) && answer.status === 400 && withoutErrors(answer)),
    ],
  }),
  ...cases('Errors', 'decisions', {
    'errors.everywhere': [
      'Every answer that is not 2xx has a list of Error records, on every path',
      every((answer) => answer.method !== 'HEAD' && answer.status >= 300 && withoutErrors(answer)),
    ],
    'headers.www-authenticate': [
      'Every 401 has WWW-Authenticate: Bearer',
      lacks('www-authenticate', /^Bearer$/, ({ status }) => status === 401),
    ],
    'headers.allow': [
      'Every 405, and every answer to OPTIONS, has Allow',
      lacks('allow', /^GET, HEAD, OPTIONS$/, ({ status }) => status === 405 || status === 204),
    ],
    'headers.no-cors': [
      'No answer has a CORS header',
      every(({ rawHeaders }) => rawHeaders.some((name) => /^access-control-/i.test(name))),
    ],
  }),
  ...cases('Records on the wire', 'decisions', {
    'headers.content-type': [
      'Answers of the listings are application/json; charset=utf-8',
      lacks('content-type', /^application\/json; charset=utf-8$/, isListing),
    ],
    'headers.request-id': ['Every answer has an X-Request-Id', lacks('x-request-id', /./, () => true)],
    'headers.request-id-unique': [
      'No two answers have the same X-Request-Id',
      async ({ answers }) => {
        const all = answers.map((answer) => answer.header('x-request-id'));
        return answers.find((_, index) => all[index] !== undefined && all.indexOf(all[index]) < index);
      },
    ],
    'headers.nosniff': [
      'Answers of the listings have X-Content-Type-Options: nosniff',
      lacks('x-content-type-options', /^nosniff$/, isListing),
    ],
    'headers.no-store': [
      'Answers of the listings have Cache-Control: no-store',
      lacks('cache-control', /^no-store$/, isListing),
    ],
  }),
  ...cases('Rate limit', 'decisions', {
    'headers.rate-limit-policy': [
      'Answers of brands have RateLimit-Policy: "brands";q=50;w=1',
      lacks('ratelimit-policy', /^"brands";q=50;w=1$/, hasRate),
    ],
    'headers.rate-limit': [
      'Answers of brands have RateLimit with what is left',
      lacks('ratelimit', /^"brands";r=([0-9]|[1-4][0-9]);t=[01]$/, hasRate),
    ],
  }),
  ...cases('Errors', 'decisions', {
    'openapi.served': [
      'The OpenAPI document is served without a key',
      async (probe) => {
        const answer = await documentOf(probe);
        return answer.status === 200 && (answer.json as Part)?.openapi !== undefined ? undefined : answer;
      },
    ],
    'openapi.operations': [
      'The document has both listings, each with its scope',
      described(({ security }, { scope }) => JSON.stringify(security)?.includes(scope) === true),
    ],
    'openapi.parameters': [
      'The document has the parameters of both listings, and which are required',
      described(({ parameters }, own, document) => {
        const list = (Array.isArray(parameters) ? parameters : []).map((part: Part) =>
          followed(document, part),
        );
        const found = list.map((part) => `${part?.name} ${part?.required}`).sort();
        const expected = Object.entries(own.parameters).map(([name, { required }]) => `${name} ${required}`);
        return found.join() === expected.sort().join();
      }),
    ],
    'openapi.statuses': [
      'The document has every status that the listings answered',
      documented((_, response) => (response === undefined ? 'a status in the document' : undefined)),
    ],
    'openapi.answers': [
      'Every answer of the listings matches its schema in the document',
      documented(({ json }, response, document) => {
        const schema = response?.content?.['application/json']?.schema;
        return schema === undefined ? undefined : faultsOf(schema as Schema, json, { document })[0];
      }),
    ],
    'docs.served': [
      '/docs is served without a key',
      async (probe) => {
        const answer = await probe.get('/docs', {}, { key: null, atOrigin: true });
        return answer.status === 200 && /^text\/html/.test(answer.header('content-type') ?? '')
          ? undefined
          : answer;
      },
    ],
    'placeholder.served': [
      'The placeholder image is a PNG of 256x256 pixels',
      async (probe) => {
        const answer = await probe.get('/assets/brand-placeholder.png', {}, { key: null, atOrigin: true });
        const { body } = answer;
        const isPng = body.length > 24 && body.toString('latin1', 1, 4) === 'PNG';
        return isPng && body.readUInt32BE(16) === 256 && body.readUInt32BE(20) === 256 ? undefined : answer;
      },
    ],
  }),
];
