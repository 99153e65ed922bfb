/** What a conformance case is, and how cases are written: by their ids, in the sections that they check. */
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

/** Cases of `specification` run in both profiles. */
export type Profile = 'specification' | 'decisions';

/**
 * Resolves to an answer that breaks the promise, or throws a `Failure` that says more. Throws a `Skip` if
 * this run cannot show whether the promise is kept.
 */
export type Check = (probe: Probe) => Promise<Answer | undefined>;

export type Code = keyof typeof errorCatalogue;

/** A status, the code of an error without a field, or the codes of all errors by their fields, in order. */
export type Expected = 200 | 204 | '4xx' | '400 errors' | Code | Readonly<Record<string, Code>>;

/** A promise, and a request with what it gets or with parameters that change nothing, or a function. */
export type Definition = { readonly promise: string } & (
  | (Request & { readonly gets: Expected; readonly mentions?: string })
  | (PathRequest & { readonly sameWith: Query })
  | { readonly check: Check }
);
/** By ids, such as `brands.limit.zero`. An id never changes: lists of expected failures name it. */
export type Definitions = Readonly<Record<string, Definition>>;

export type Case = ReturnType<typeof section>[number];

export function section(name: Section, definitions: Definitions) {
  const profile: Profile = /^\d/.test(name) ? 'specification' : 'decisions';
  return Object.entries(definitions).map(([id, definition]) => {
    const check = checkOf(definition);
    return { id, section: name as string, profile, promise: definition.promise, check } as const;
  });
}

/** The same cases for both listings, in turn. The name of the listing is put in front of their ids. */
export function ofBoth(define: (listing: ListingName) => Definitions): Definitions {
  const [brands, balances] = [under('brands', define('brands')), under('balances', define('balances'))];
  const inTurn = Object.entries(brands).flatMap((each, at) => [each, Object.entries(balances)[at]!]);
  return Object.fromEntries(inTurn);
}

/** Puts a name in front of ids. */
export const under = (name: string, definitions: Definitions): Definitions =>
  Object.fromEntries(Object.entries(definitions).map(([id, each]) => [`${name}.${id}`, each]));

function checkOf(definition: Definition): Check {
  if ('check' in definition) return definition.check;
  if ('gets' in definition)
    return async ({ send }) => requireAnswer(await send(definition), definition.gets, definition.mentions);
  return settled(async ({ send }) => {
    const answer = await send(definition);
    const same = await send({ ...definition, query: { ...definition.query, ...definition.sameWith } });
    if (answer.status !== same.status)
      throw new Failure(`status ${answer.status}, as before`, { cause: same });
    return comparable(answer) === comparable(same) ? undefined : answer;
  });
}

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
export function requireAnswer(answer: Answer, expected: Expected, mentioned = ''): undefined {
  const errors = typeof expected === 'object' ? Object.entries(expected) : [['', expected] as const];
  const codes = errors.map(([field, code]) => `${code} ${field}`.trimEnd()).join(', ');
  const status = errorCatalogue[errors[0]![1] as Code]?.status;
  const whole = status === undefined ? codes : `${status} ${codes}`;
  const text = `status ${whole}${mentioned && ` mentioning ${mentioned}`}`;
  const isStatus = RegExp(whole.slice(0, 3).replace('xx', '..')).test(String(answer.status));
  if (!isStatus || !contentOf(answer).includes(mentioned)) throw new Failure(text, { cause: answer });
  if (status !== undefined || expected === '400 errors') requireErrors(answer);
  if (status === undefined) return;

  const { errors: records } = answer.json as { errors: readonly Readonly<Record<string, unknown>>[] };
  const found = records.map(({ code, category, detail, field }) => {
    const isWhole = errorCatalogue[code as Code]?.category === category && detail;
    return `${isWhole ? code : ''}${field === undefined ? '' : ` ${field}`}`;
  });
  if (found.join(', ') !== codes) throw new Failure(`${text}, in their categories`, { cause: answer });
}
