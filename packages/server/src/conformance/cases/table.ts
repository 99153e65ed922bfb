/**
 * Cases as text: an id and the promise, then a request and what it gets.
 *
 *     scopes.balances: A key without BALANCES_READ is refused
 *       as:BRANDS_ONLY /balances?limit=x -> 403 INSUFFICIENT_SCOPES
 *
 * A request may begin with a method, and with `as:` and the kind of key, or `as:nobody`. `{CUSTOMER_ID}` is the
 * value of PARTNER_NETWORK_CUSTOMER_ID; without it, the case is skipped. `{made-up}` is a random text,
 * `{brands-cursor}` a cursor, `{customer}` the required parameters of balances. It gets a status and exactly these errors, each with its field if it has one;
 * `4xx`; `the next record`, the one after the cursor; or `the same as` another request.
 */
import { errorCatalogue } from '@partner-network/contract/errors';
import { errorRecordSchema } from '@partner-network/contract/records';
import type { Answer, Case, Probe, Profile, Variable } from '../case.ts';
import { faultsOf } from '../schema.ts';
import { type Broken, cases, type Find, settled } from './rows.ts';
import { type Item, listings, madeUp, page, pageWithCursor } from './walks.ts';

const errorBody = {
  type: 'object',
  required: ['errors'],
  properties: { errors: { type: 'array', minItems: 1, items: errorRecordSchema } },
} as const;

/** The answer, if its body is not a list of Error records. */
export function withoutErrors(answer: Answer): Broken {
  const [fault] = faultsOf(errorBody, answer.json, { allowsMore: true });
  return fault === undefined ? undefined : [answer, fault];
}

/** The answer, unless it has this status and exactly these errors, in their categories and with a detail. */
export function unless(answer: Answer, expected: string): Broken {
  const [status = '', ...rest] = expected.split(' ');
  const errors = rest.length === 0 ? [] : rest.join(' ').split(', ');
  const isRight = ({ code, category, detail }: Item) =>
    errorCatalogue[code as keyof typeof errorCatalogue]?.category === category && typeof detail === 'string';
  const found =
    errors.length === 0 || withoutErrors(answer) ? [] : (answer.json as { errors: Item[] }).errors;
  const codes = found.map(({ code, field }) => (field === undefined ? code : `${code} ${field}`));
  const hasStatus =
    status === '4xx' ? answer.status >= 400 && answer.status < 500 : String(answer.status) === status;
  return hasStatus && codes.join(', ') === errors.join(', ') && found.every(isRight)
    ? undefined
    : [answer, expected];
}

/** Sends a request of the table. */
async function send(probe: Probe, request: string): Promise<Answer> {
  let text = request;
  for (const listing of listings) {
    if (text.includes(`{${listing}-cursor}`))
      text = text.replace(`{${listing}-cursor}`, (await pageWithCursor(probe, listing)).cursor);
  }
  const words = text.split(' ');
  const [path = '', query = ''] = words.at(-1)!.split('?');
  const kind = words.find((word) => word.startsWith('as:'))?.slice(3);
  const key = kind === 'nobody' ? null : kind && (`PARTNER_NETWORK_${kind}_API_KEY` as Variable);
  const method = words.find((word) => /^[A-Z]+$/.test(word));
  const value = (_: string, name: string) =>
    name === 'made-up'
      ? madeUp()
      : encodeURIComponent(probe.given[`PARTNER_NETWORK_${name}` as Variable] ?? '');
  return probe.get(path, query.replace(/\{([\w-]+)\}/g, value), {
    ...(key !== '' && { key }),
    ...(method && { method }),
  });
}

export const gets = (request: string, expected: string): Find => {
  if (!/^the /.test(expected)) return async (probe) => unless(await send(probe, request), expected);
  return settled(async (probe) => {
    const answer = await send(probe, request);
    if (expected.startsWith('the same as ')) {
      const other = await send(probe, expected.slice(12));
      return answer.status === other.status && answer.text === other.text ? undefined : answer;
    }
    const listing = listings.find((name) => answer.path === `/${name}`)!;
    const [, second] = (await page(probe, listing, { limit: 2 })).records;
    const [found] = (answer.json as Record<string, Item[] | undefined> | undefined)?.[listing] ?? [];
    return found !== undefined && found.id === second?.id ? undefined : answer;
  });
};

/** The variables that a request needs. */
function needsIn(text: string): readonly Variable[] {
  const whole = text.replace('{balances-cursor}', '{CUSTOMER_ID}');
  const found = [...whole.matchAll(/\{([A-Z_]+)\}|as:([A-Z_]+)/g)];
  return found.map(([, id, key]) => `PARTNER_NETWORK_${id ?? `${key}_API_KEY`}` as Variable);
}

export function table(section: string, profile: Profile, text: string): Case[] {
  const whole = text.replaceAll('{customer}', 'customer_id={CUSTOMER_ID}&type=CHECKING');
  const entries = whole.trim().split(/\n(?! )/);
  const rows = entries.map((entry) => {
    const [, id = '', title = '', request = '', expected = ''] =
      /^(\S+): ([^\n]*)\n +([^\n]*) -> (.*)$/s.exec(entry) ?? [];
    return [id, [title, gets(request, expected.replace(/\s+/g, ' ')), needsIn(entry)]] as const;
  });
  return cases(section, profile, Object.fromEntries(rows));
}
