/**
 * Cases as text. A heading gives the section (of brands/of balances, if they differ) and the profile. A case
 * is an id, the promise, a request, and what the request gets:
 *
 *     # Errors decisions
 *     scopes.brands: A key with BRANDS_READ lists brands | as:BRANDS_ONLY /brands?limit=1 -> 200
 *     *.cursor.no-key: A cursor needs a key | as:nobody /*?{*}&cursor={*-cursor} -> 401 UNAUTHORIZED
 *
 * `*` makes a case for each listing. Braces: see `shorthands` and `filling`.
 * `as:` names the variable of a key, or is a whole Authorization header with `+` for spaces. `raw` sends
 * lines, separated by `; `. A request gets a status and exactly these errors, each with its field if it has
 * one; `400 errors`, any errors; `4xx`; a text that the body mentions; or `the same as` another request.
 * In place of a request, a case may name a function of its file, with a listing, other words or --burst.
 */
import { randomBytes } from 'node:crypto';
import { keyPrefixes } from '@partner-network/contract/environments';
import { errorCatalogue } from '@partner-network/contract/errors';
import { errorRecordSchema } from '@partner-network/contract/records';
import { type Case, Failure, type Profile } from '../case.ts';
import { canonical, contentOf } from '../content.ts';
import type { Variable } from '../given.ts';
import type { Probe } from '../probe.ts';
import { violationIn } from '../schema.ts';
import type { Answer } from '../send.ts';
import { cursorOf, type Item, isObject, type Listing, listings, madeUp } from './walks.ts';

/** The answer that breaks the promise. Undefined if the promise is kept. */
export type Broken = Answer | Failure | undefined;
export type Find = (probe: Probe) => Promise<Broken>;
export type Finders = Readonly<Record<string, (listing: Listing, ...words: string[]) => Find>>;

/** Looks once more, with new answers, before a case fails: data may change between two answers. */
export function settled(find: (probe: Probe, isAgain: boolean) => Promise<Broken>): Find {
  return async (probe) => (await find(probe, false)) && find(probe, true);
}

// Another implementation may have further fields.
const errorRecord = { ...errorRecordSchema, additionalProperties: true };
const errorList = { type: 'array', minItems: 1, items: errorRecord };
const errorBody = { type: 'object', required: ['errors'], properties: { errors: errorList } };

/** The answer, if its body is not a list of Error records. */
export function withoutErrors(answer: Answer): Broken {
  const violation = violationIn(errorBody, answer.json);
  return violation === undefined ? undefined : new Failure(`this: ${violation}`, { cause: answer });
}

/** The answer, unless it has this status and these errors, in their categories and with details. */
function unless(answer: Answer, expected: string): Broken {
  const [wanted = '', mention = ''] = expected.split(' mentioning ');
  const [status = '', ...errors] = wanted.split(' ');
  const isRight = RegExp(status.replace('xx', '..')).test(String(answer.status));
  if (!isRight || !contentOf(answer).includes(mention))
    return new Failure(`status ${expected}`, { cause: answer });
  if (errors.length === 0) return undefined;
  const broken = withoutErrors(answer);
  if (errors[0] === 'errors' || broken) return broken;
  const found = (answer.json as { errors: Item[] }).errors.map(({ code, category, detail, field }) => {
    const entry = errorCatalogue[code as keyof typeof errorCatalogue];
    return `${entry?.category === category && detail ? code : ''}${field === undefined ? '' : ` ${field}`}`;
  });
  const isSame = found.join(', ') === errors.join(' ');
  return isSame ? undefined : new Failure(`status ${expected}, in their categories`, { cause: answer });
}

/** The value of a name in braces: one of these, or a variable without its beginning. */
async function filling(probe: Probe, name: string): Promise<string> {
  const { base, given } = probe;
  const key = given.PARTNER_NETWORK_API_KEY!;
  const [, listing, change] = /^(\w+)-(cursor|changed)$/.exec(name) ?? [];
  if (listing !== undefined) {
    const cursor = await cursorOf(probe, listing as Listing);
    const other = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A');
    // It comes from the deployment, and must not become words of the request.
    return encodeURIComponent(change === 'changed' ? other : cursor);
  }
  const prefix = keyPrefixes[key.startsWith(keyPrefixes.production) ? 'production' : 'sandbox'];
  const unknownKey = prefix + randomBytes(25).toString('hex').slice(1);
  const values = {
    path: base.pathname,
    host: base.host,
    key,
    'made-up': madeUp(),
    'unknown-key': unknownKey,
  };
  return (
    values[name as keyof typeof values] ?? encodeURIComponent(given[`PARTNER_NETWORK_${name}` as Variable]!)
  );
}

async function send(probe: Probe, request: string): Promise<Answer> {
  let text = request;
  for (const [whole, name] of request.matchAll(/\{([\w-]+)\}/g))
    text = text.split(whole).join(await filling(probe, name!));
  if (text.startsWith('raw ')) return probe.raw([...text.slice(4).split('; '), '', ''].join('\r\n'));
  const words = text.split(' ');
  const target = words.at(-1)!.replace('?&', '?');
  const as = words.find((word) => word.startsWith('as:'))?.slice(3);
  const key = probe.given[`PARTNER_NETWORK_${as}_API_KEY` as Variable];
  const header = key === undefined ? as?.replaceAll('+', ' ') : `Bearer ${key}`;
  const method = words.find((word) => /^[A-Z]+$/.test(word));
  return probe.get(target, as === 'nobody' ? '' : header, method);
}

/**
 * What two answers must share. A page gets a new cursor each time. Refusals must have the same bytes: any
 * difference between two refusals can tell that something exists.
 */
function comparable({ status, json, body }: Answer): string {
  if (status !== 200 || !isObject(json)) return body.toString('latin1');
  return canonical({ ...json, cursor: typeof json.cursor });
}

function gets(request: string, expected: string): Find {
  const other = /^the same as (.*)/.exec(expected)?.[1];
  if (other === undefined) return async (probe) => unless(await send(probe, request), expected);
  return settled(async (probe) => {
    const [answer, same] = [await send(probe, request), await send(probe, other)];
    if (answer.status !== same.status)
      throw new Failure(`status ${answer.status}, as before`, { cause: same });
    return comparable(answer) === comparable(same) ? undefined : answer;
  });
}

function caseOf(text: string, finders: Finders, section: string, profile: Profile): Case {
  const [, id = '', title = '', body = ''] = /^(\S+): (.*?) \| (.*)$/.exec(text)!;
  const [request = '', expected = ''] = body.split(' -> ');
  const [name = '', listing, ...words] = request.split(' ');
  const find = finders[name]?.(listing as Listing, ...words) ?? gets(request, expected);
  const whole = body.replace(/\{balances-cursor|^\w+ balances/, '{CUSTOMER_ID}$&');
  const check = async (probe: Probe) => {
    const broken = await find(probe);
    if (broken instanceof Failure) throw broken;
    if (broken !== undefined) throw new Failure('an answer that keeps the promise', { cause: broken });
  };
  const needs = [...whole.matchAll(/\{([A-Z_]+)\}|as:([A-Z_]+)\b/g)].map(
    ([, id, key]) => `PARTNER_NETWORK_${id ?? `${key}_API_KEY`}` as Variable,
  );
  return { id, section, profile, title, needs: listing === '--burst' ? [listing] : needs, check };
}

/** The required parameters of the listings. */
const shorthands: Readonly<Record<string, string>> = {
  brands: '',
  balances: 'customer_id={CUSTOMER_ID}&type=CHECKING',
  'no-grant': 'customer_id={CUSTOMER_ID_WITHOUT_GRANT}&type=CHECKING',
  unknown: 'customer_id={made-up}&type=CHECKING',
};

export function table(text: string, finders: Finders = {}): Case[] {
  const parts = text.trim().split(/^# /m).slice(1);
  return parts.flatMap((part) => {
    const [heading = '', ...entries] = part.trim().split(/\n+(?! )/);
    const [sections = '', profile] = heading.split(/ (?=\w+$)/);
    return entries.flatMap((entry) =>
      (entry.includes('*') ? listings : ['']).map((listing, index) => {
        const short = entry.replace(/\n */g, ' ').replaceAll('*', listing);
        const whole = short.replace(/\{([a-z-]+)\}/g, (brace, name) => shorthands[name] ?? brace);
        return caseOf(whole, finders, sections.split('/')[index] ?? sections, profile as Profile);
      }),
    );
  });
}
