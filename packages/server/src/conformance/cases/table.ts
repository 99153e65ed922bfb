/**
 * Cases as text. A heading gives the section (of brands/of balances, if they differ) and the profile. A case
 * is an id, the promise, a request, and what the request gets:
 *
 *     # Errors decisions
 *     scopes.brands: A key with BRANDS_READ lists brands | as:BRANDS_ONLY /brands?limit=1 -> 200
 *     *.cursor.made-up: A made-up cursor is refused | /*?{*}&cursor={made-up} -> 400 INVALID_CURSOR cursor
 *
 * `*` makes a case for each listing, and `{*}` is its required parameters. `as:` names the key, or is a whole
 * Authorization header with `+` for spaces. `raw` sends lines, separated by `; `. `filling` knows other
 * braces. A request gets a status and exactly these errors, each with its field if it has one; `400 errors`,
 * any errors; `4xx`; a text that the body mentions; or a likeness, such as `the same records as` another
 * request. In place of a request, a case may name a function of its file, with a listing and other words.
 */
import { errorCatalogue } from '@partner-network/contract/errors';
import { errorRecordSchema } from '@partner-network/contract/records';
import { type Answer, type Case, Failure, type Probe, type Profile, type Variable } from '../case.ts';
import { faultsOf } from '../schema.ts';
import { madeUpKey } from './made-up-key.ts';
import { type Item, idsOf, type Listing, listings, madeUp, pageWithCursor } from './walks.ts';

/** The answer that breaks the promise, and what it should be. Undefined if the promise is kept. */
export type Broken = Answer | readonly [answer: Answer, expected: string] | undefined;
export type Find = (probe: Probe) => Promise<Broken>;
export type Finders = Readonly<Record<string, (listing: Listing, ...words: string[]) => Find>>;

/** Looks once more, with new answers, before a case fails: data may change between two answers. */
export function settled(find: (probe: Probe, isAgain: boolean) => Promise<Broken>): Find {
  return async (probe) => (await find(probe, false)) && find(probe, true);
}

const errorList = { type: 'array', minItems: 1, items: errorRecordSchema };
const errorBody = { type: 'object', required: ['errors'], properties: { errors: errorList } };

/** The answer, if its body is not a list of Error records. */
export function withoutErrors(answer: Answer): Broken {
  const [fault] = faultsOf(errorBody, answer.json, { allowsMore: true });
  return fault === undefined ? undefined : [answer, `this: ${fault}`];
}

/** The answer, unless it has this status and these errors, in their categories and with details. */
function unless(answer: Answer, expected: string): Broken {
  const [wanted = '', mention = ''] = expected.split(' mentioning ');
  const [status = '', ...errors] = wanted.split(' ');
  const isRight = RegExp(status.replace('xx', '..')).test(String(answer.status));
  if (!isRight || !answer.text.includes(mention)) return [answer, `status ${expected}`];
  if (errors.length === 0) return undefined;
  const broken = withoutErrors(answer);
  if (errors[0] === 'errors' || broken) return broken;
  const found = (answer.json as { errors: Item[] }).errors.map(({ code, category, detail, field }) => {
    const entry = errorCatalogue[code as keyof typeof errorCatalogue];
    return `${entry?.category === category && detail ? code : ''}${field === undefined ? '' : ` ${field}`}`;
  });
  return found.join(', ') === errors.join(' ')
    ? undefined
    : [answer, `status ${expected}, in their categories`];
}

/** The value of a name in braces. The probe fills in the others. */
async function filling(probe: Probe, name: string): Promise<string | undefined> {
  const [first = '', second, change] = name.split('-');
  if (name === 'made-up') return madeUp();
  if (second === 'key')
    return madeUpKey(probe.given.PARTNER_NETWORK_API_KEY!, first === 'own', change !== 'broken');
  if (second === 'cursor') {
    const { cursor } = await pageWithCursor(probe, first as Listing);
    if (change === undefined || change === 'cut') return change === 'cut' ? cursor.slice(0, -1) : cursor;
    const place = change === 'first' ? 0 : change === 'last' ? cursor.length - 1 : cursor.length >> 1;
    return cursor.slice(0, place) + (cursor[place] === 'A' ? 'B' : 'A') + cursor.slice(place + 1);
  }
  const given = probe.given[`PARTNER_NETWORK_${name}` as Variable];
  return given && encodeURIComponent(given);
}

async function send(probe: Probe, request: string): Promise<Answer> {
  let text = request;
  for (const [whole, name] of request.matchAll(/\{([\w-]+)\}/g))
    text = text.replace(whole, (await filling(probe, name!)) ?? whole);
  if (text.startsWith('raw ')) return probe.raw([...text.slice(4).split('; '), '', ''].join('\r\n'));
  const words = text.split(' ');
  const [path = '', query = ''] = words.at(-1)!.split('?');
  const as = words.find((word) => word.startsWith('as:'))?.slice(3);
  const variable = `PARTNER_NETWORK${as === undefined ? '' : `_${as}`}_API_KEY` as Variable;
  const header = { header: `${as}`.replaceAll('+', ' ') };
  const key = as === 'nobody' ? null : variable in probe.given ? variable : header;
  const method = words.find((word) => /^[A-Z]+$/.test(word)) ?? 'GET';
  const atOrigin = words.includes('origin');
  return probe.get(path, query.replace(/^&/, ''), { key, method, ...(atOrigin && { atOrigin }) });
}

/** Whether an answer is as another one in this way. */
const likenesses: Readonly<Record<string, (answer: Answer, other: Answer) => boolean>> = {
  'the same': (answer, other) => answer.status === other.status && answer.text === other.text,
  'the same records': (answer, other) => recordIds(answer).join() === recordIds(other).join(),
  'the same start': (answer, other) => recordIds(answer)[0] === recordIds(other)[0],
};

/** The ids of a page. Every answer that is not a page differs from all others. */
function recordIds({ path = '', status, json }: Answer): string[] {
  const list = (json as Record<string, unknown> | undefined)?.[path.slice(1)];
  return status === 200 && Array.isArray(list) ? idsOf(list) : [madeUp()];
}

function gets(request: string, expected: string): Find {
  const [likeness = '', other = ''] = expected.split(' as ');
  const isAlike = likenesses[likeness];
  if (isAlike === undefined) return async (probe) => unless(await send(probe, request), expected);
  return settled(async (probe) => {
    const answer = await send(probe, request);
    return isAlike(answer, await send(probe, other)) ? undefined : answer;
  });
}

/** The variables that a case names. */
function needsOf(text: string): Variable[] {
  const whole = text.replaceAll('{balances-cursor', '{CUSTOMER_ID}');
  const names = whole.matchAll(/\{([A-Z_]+)\}|as:([A-Z_]+)\b/g);
  return [...names].map(([, id, key]) => `PARTNER_NETWORK_${id ?? `${key}_API_KEY`}` as Variable);
}

function caseOf(text: string, finders: Finders, section: string, profile: Profile): Case {
  const filled = text.replaceAll('{balances}', 'customer_id={CUSTOMER_ID}&type=CHECKING');
  const [, id = '', title = '', body = ''] = /^(\S+): (.*?) \| (.*)$/.exec(filled)!;
  const [request = '', expected = ''] = body.split(' -> ');
  const [name = '', listing, ...words] = request.split(' ');
  const find = finders[name]?.(listing as Listing, ...words) ?? gets(request, expected);
  const needs = needsOf(filled + (listing === 'balances' ? '{CUSTOMER_ID}' : ''));
  const check = async (probe: Probe) => {
    const broken = await find(probe);
    if (broken === undefined) return;
    throw 'status' in broken
      ? new Failure(broken, 'an answer that keeps the promise')
      : new Failure(...broken);
  };
  return { id, section, profile, title, needs, check };
}

export function table(text: string, finders: Finders = {}): Case[] {
  return text
    .trim()
    .split(/^# /m)
    .slice(1)
    .flatMap((part) => {
      const [heading = '', ...entries] = part.trim().split(/\n(?! )/);
      const [sections = '', profile] = heading.split(/ (?=\w+$)/);
      return entries.flatMap((entry) =>
        (entry.includes('*') ? listings : ['']).map((listing, index) => {
          const whole = entry.replace(/\n */g, ' ').replaceAll('*', listing).replaceAll('{brands}', '');
          return caseOf(whole, finders, sections.split('/')[index] ?? sections, profile as Profile);
        }),
      );
    });
}
