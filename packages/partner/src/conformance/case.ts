/** What a conformance case is, and how cases are written: a promise, and then how it is checked. */
import { errorCatalogue } from '@partner-network/contract/errors';
import type { ListingName } from '@partner-network/contract/operations';
import { errorRecordSchema } from '@partner-network/contract/records';
import { canonical, contentOf, isObject, violationIn } from './json.ts';
import type { PathRequest, Probe, Query, Request } from './probe.ts';
import { type Answer, Failure } from './send.ts';

/** A section of the specification, or a topic of our own decisions. */
type Section =
  | ('2.1' | '2.2' | '4.1' | '4.2' | '4.3.2' | '4.3.3' | '5' | '7')
  | ('Credentials' | 'Errors' | 'Grants' | 'Pagination' | 'Rate limit' | 'Records on the wire' | 'Terms');

/**
 * Resolves to an answer that breaks the promise, or throws a `Failure` that says more. Throws a `Skip` if
 * this run cannot show whether the promise is kept.
 */
export type Check = (probe: Probe) => Promise<Answer | undefined>;

export interface Case {
  /** Such as `brands.limit.zero`. It never changes: lists of expected failures name it. */
  readonly id: string;
  readonly section: string;
  readonly promise: string;
  readonly check: Check;
}

export type Code = keyof typeof errorCatalogue;

/** A status, the code of an error without a field, or the codes of all errors by their fields, in order. */
type Expected = 200 | 204 | '4xx' | '400 errors' | Code | Readonly<Record<string, Code>>;

/** Cases of a section. Without a section, they are added to others. */
export class Cases {
  readonly all: Case[] = [];
  readonly #section: string;

  constructor(section: Section | '' = '') {
    this.#section = section;
  }

  promise(id: string, promise: string) {
    const holds = (check: Check): Cases => {
      this.all.push({ id, section: this.#section, promise, check });
      return this;
    };
    return {
      holds,
      /** The request gets the expected answer, which mentions a text. */
      gets: (expected: Expected, request: Request, mentioned = '') =>
        holds(async ({ send }) => requireAnswer(await send(request), expected, mentioned)),
      /** The request gets the same with other parameters. */
      same: (request: PathRequest, other: Query) => holds(sameWith(request, other)),
    };
  }

  /** Adds cases with a name in front of their ids. */
  under(name: string, ...cases: readonly Case[]): Cases {
    const section = this.#section;
    this.all.push(...cases.map((each) => ({ ...each, section, id: `${name}.${each.id}` })));
    return this;
  }

  /** Adds the same cases for both listings, in turn. The name of the listing is put in front of their ids. */
  ofBoth(define: (listing: ListingName) => Cases): Cases {
    const balances = define('balances').all;
    for (const [index, ofBrands] of define('brands').all.entries())
      this.under('brands', ofBrands).under('balances', balances[index]!);
    return this;
  }
}

const sameWith = (request: PathRequest, other: Query): Check =>
  settled(async ({ send }) => {
    const answer = await send(request);
    const again = await send({ ...request, query: { ...request.query, ...other } });
    if (answer.status !== again.status)
      throw new Failure(`status ${answer.status}, as before`, { cause: again });
    return comparable(answer) === comparable(again) ? undefined : answer;
  });

/** Looks once more, with new answers, before a case fails: data may change between two answers. */
export function settled(check: Check): Check {
  return async (probe) => (await check(probe)) && check({ ...probe, once: (_, make) => make() });
}

/**
 * What two answers must share. A page gets a new cursor each time. Refusals must have the same bytes: any
 * difference between two refusals can tell that something exists.
 */
function comparable({ status, json, body }: Answer): string {
  if (status !== 200 || !isObject(json)) return body.toString('latin1');
  return canonical({ ...json, cursor: typeof json.cursor });
}

// Another implementation may have further fields.
const errorRecord = { ...errorRecordSchema, additionalProperties: true };
const errorList = { type: 'array', minItems: 1, items: errorRecord };
const errorBody = { type: 'object', required: ['errors'], properties: { errors: errorList } };

/** Throws a `Failure` unless the body is a list of Error records. */
export function requireErrors(answer: Answer): true {
  const violation = violationIn(errorBody, answer.json);
  if (violation !== undefined) throw new Failure(`this: ${violation}`, { cause: answer });
  return true;
}

/** Throws a `Failure` unless the answer is expected, with errors in their categories, and mentions a text. */
function requireAnswer(answer: Answer, expected: Expected, mentioned: string): undefined {
  const isByField = typeof expected === 'object';
  const codes = isByField ? Object.entries(expected).map(([field, code]) => `${code} ${field}`) : [expected];
  const wanted = codes.join(', ');
  const status = errorCatalogue[wanted.split(' ')[0] as Code]?.status;
  const whole = status === undefined ? wanted : `${status} ${wanted}`;
  const text = `status ${whole}${mentioned && ` mentioning ${mentioned}`}`;
  const isStatus = String(answer.status).startsWith(whole.slice(0, 3).replace('xx', ''));
  if (!isStatus || !contentOf(answer).includes(mentioned)) throw new Failure(text, { cause: answer });
  if (status !== undefined || expected === '400 errors') requireErrors(answer);
  if (status === undefined) return;

  const { errors } = answer.json as { errors: readonly Readonly<Record<string, unknown>>[] };
  const found = errors.map(({ code, category, detail, field }) => {
    const isWhole = errorCatalogue[code as Code]?.category === category && detail;
    return `${isWhole ? code : ''}${field === undefined ? '' : ` ${field}`}`;
  });
  if (found.join(', ') !== wanted) throw new Failure(`${text}, in their categories`, { cause: answer });
}
