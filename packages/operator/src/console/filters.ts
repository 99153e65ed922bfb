/** The filters of a list. People write what they have, such as a name. It becomes what the API takes. */
import { echo, isCleanText, isLongerThan, suggest } from '@partner-network/common/text';
import { normalizeTime, toTime } from '@partner-network/common/times';
import { listings } from '@partner-network/contract/operations';
import { refusal } from '@partner-network/http/refusal';
import { outcomes } from '@partner-network/service/receipts';
import { auditActions } from '@partner-network/store/port';
import type { OperationInput } from '../admin/request.ts';
import { nameOf } from '../identity/account.ts';
import { keyNames } from '../operations/audit.ts';
import { type Html, html } from './html.ts';
import { addressOf, pager, text, utcOf } from './parts.ts';
import type { Reads, Texts, Visit } from './visit.ts';

/** A value that fits nothing: a sentence, and values that may be meant, by their labels. */
interface Problem {
  readonly says: string;
  readonly choices?: readonly (readonly [label: string, value: string])[];
}

export interface Named {
  readonly id: string;
  readonly name?: string;
}

interface Filter {
  readonly label: string;
  /** What has the value, if it is not the label. */
  readonly what?: string;
  /** Whether this is a value. `chosen` has the filters before this one. */
  readonly has?: (visit: Visit, text: string, chosen: Texts) => Promise<unknown>;
  /** What may be meant by its id or name. */
  readonly records?: (visit: Visit, chosen: Texts) => Promise<readonly Named[]>;
  /** All values of a list. */
  readonly options?: readonly Named[];
  /** What a browser suggests. */
  readonly suggestions?: (visit: Visit) => Promise<readonly string[]>;
}

type Filters = Readonly<Record<string, Filter>>;

/** An id may begin or end with blanks, or be nothing else. But people paste ids with blanks. */
const readingsOf = (typed: string) => [typed, typed.trim()].filter((text) => text !== '');

/** What the API takes for what was typed: an id, or the id of the record with this name, in any case. */
async function find(visit: Visit, filter: Filter, typed: string, chosen: Texts): Promise<string | Problem> {
  const { label, what = label.toLowerCase(), has, records, options = [] } = filter;
  for (const text of readingsOf(typed)) if (await has?.(visit, text, chosen)) return text;
  const all = (await records?.(visit, chosen)) ?? options;
  const asked = typed.trim();
  const exact = all.find(({ id }) => id === asked);
  if (exact !== undefined) return exact.id;
  const { called, similar, isNear } = meantBy(asked, all);
  const meant = called.length > 0 ? called : similar;
  if (meant.length === 1 && !isNear) return meant[0]!.id;
  const shown = echo(asked, 128);
  const choices = meant.slice(0, called.length > 0 ? 20 : 5).map((each) => [labelOf(each), each.id] as const);
  if (called.length > 0) return { says: `${called.length} have the name ${shown}:`, choices };
  return { says: `No ${what} is called ${shown}.`, choices };
}

/** A name with its id, because several may have the name. */
export const labelOf = ({ id, name = id }: Named): string => (name === id ? id : `${name} (${id})`);

/** The records with this name, and those whose name or id contains the text, or else is near to it. */
export function meantBy(asked: string, all: readonly Named[]) {
  const text = asked.toLowerCase();
  const found = all.map((record) => {
    const { id, name = id } = record;
    return { record, words: [name, id, ...name.split(' ')].map((word) => word.toLowerCase()) };
  });
  const those = (isMeant: (words: readonly string[]) => boolean) =>
    found.filter(({ words }) => isMeant(words)).map(({ record }) => record);
  const called = those(([name]) => name === text);
  const similar = those((words) => words.slice(0, 2).some((word) => word.includes(text)));
  if (similar.length > 0) return { called, similar };
  const near = suggest(text, [...new Set(found.flatMap(({ words }) => words))]);
  return { called, similar: near === undefined ? [] : those((words) => words.includes(near)), isNear: true };
}

/** Whether a grant, a receipt or an erasure is of this customer. */
export async function isCustomer({ listGrants, listReceipts, isErased }: Reads, customerId: string) {
  const of = { customerId, limit: 1 };
  const found = [listGrants({ ...of, at: toTime(Date.now()) }), listReceipts(of)] as const;
  return (await Promise.all(found)).flat().length > 0 || isErased(customerId);
}

/** Whether the audit log has an entry of this actor, or about this target. */
export async function isInAudit({ call }: Visit, field: string, text: string): Promise<boolean> {
  if (text.trim() === '' || isLongerThan(text, 256) || !isCleanText(text)) return false;
  return (await call('listAudit', { query: { [field]: text, limit: 1 } })).entries.length > 0;
}

/** The names of keys, and of the people and programs that made the newest changes. */
async function people({ call, reads }: Visit): Promise<string[]> {
  const { entries } = await call('listAudit', { query: { limit: 100 } });
  const keys = (await keyNames(reads)).values();
  return [...new Set([...keys, ...entries.map(({ actor, actor_name }) => actor_name ?? nameOf(actor))])];
}

const asNamed = (ids: readonly string[]): Named[] => ids.map((id) => ({ id }));

/** Names that a page suggests. With more partners, it would be slow to load. */
const mostSuggestions = 200;

async function partnerNames({ reads }: Visit): Promise<string[]> {
  const first = await reads.listPartners({ limit: mostSuggestions + 1 });
  return first.length > mostSuggestions ? [] : first.map(({ name }) => name).toSorted();
}

const span: Filters = {
  since: { label: 'From (UTC)' },
  until: { label: 'Before (UTC)' },
};

/** The time in a field of `span`. */
function findTime(field: string, typed: string, { since = '' }: Texts): string | Problem {
  const time = normalizeTime(utcOf(typed));
  if (time === undefined) return { says: 'Write a time in UTC such as 2026-01-31T08:00.' };
  if (field === 'until')
    return time > since ? time : { says: 'Before is not after From: choose a later time.' };
  return time > toTime(Date.now()) ? { says: 'From is in the future: choose an earlier time.' } : time;
}

export const receiptFilters: Filters = {
  partner_id: {
    label: 'Partner',
    has: ({ reads }, id) => reads.findPartner(id),
    records: ({ reads }) => reads.listPartners(),
    suggestions: partnerNames,
  },
  key_id: {
    label: 'Key',
    what: 'key with these filters',
    has: async ({ reads }, id, { partner_id }) => {
      const key = await reads.findKeyById(id);
      return key !== undefined && key.partner_id === (partner_id ?? key.partner_id);
    },
    records: ({ reads }, { partner_id }) => reads.listKeys(partner_id),
  },
  customer_id: {
    label: 'Customer',
    what: 'customer with a grant or a receipt',
    has: ({ reads }, id) => isCustomer(reads, id),
  },
  operation: { label: 'Operation', options: listings },
  outcome: { label: 'Outcome', options: asNamed(outcomes) },
  ...span,
};

export const auditFilters: Filters = {
  target: {
    label: 'Target',
    what: 'partner, key or customer',
    has: async (visit, text) => (await isInAudit(visit, 'target', text)) || isCustomer(visit.reads, text),
    records: async ({ reads }) => [await reads.listPartners(), await reads.listKeys(undefined)].flat(),
    suggestions: partnerNames,
  },
  actor: {
    label: 'Who',
    what: 'person or key',
    has: (visit, text) => isInAudit(visit, 'actor', text),
    records: async (visit) => asNamed(await people(visit)),
    suggestions: people,
  },
  action: { label: 'Action', options: asNamed(Object.keys(auditActions)) },
  ...span,
};

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/** Spans of time: a label, a unit, and the beginning and the end, counted from the beginning of this unit. */
const presets: Readonly<Record<string, readonly [label: string, ms: number, from: number, to: number]>> = {
  hour: ['Last hour', minuteMs, -60, 1],
  today: ['Today', dayMs, 0, 1],
  yesterday: ['Yesterday', dayMs, -1, 0],
  week: ['Last 7 days', dayMs, -6, 1],
};

/** The query with the times of its preset: further pages are of the same span. */
function withSpan({ span: name = '', ...query }: Texts): Texts {
  if (!Object.hasOwn(presets, name)) return query;
  const [, ms, from, to] = presets[name]!;
  const unit = Math.floor(Date.now() / ms);
  return { ...query, since: toTime((unit + from) * ms), until: toTime((unit + to) * ms) };
}

/**
 * The form of the filters, and a page of the list. With a value that fits nothing, no list is shown: it would
 * look as if nothing were there.
 */
export async function filteredList(
  visit: Visit,
  path: string,
  filters: Filters,
  show: (query: OperationInput['query'], chosen: Texts) => Promise<{ list: Html; cursor?: string }>,
): Promise<Html> {
  const { cursor, done: _, ...query } = withSpan(visit.query);
  const chosen: Record<string, string> = {};
  const fields: Html[] = [];
  let isWrong = false;
  for (const [name, filter] of Object.entries(filters)) {
    const typed = query[name] ?? '';
    if (!isCleanText(typed)) throw refusal('INVALID_CHARACTER', {}, name);
    const search = () => (name in span ? findTime(name, typed, chosen) : find(visit, filter, typed, chosen));
    const found = typed === '' ? undefined : await search();
    const problem = typeof found === 'object' ? found : undefined;
    if (typeof found === 'string') chosen[name] = found;
    isWrong ||= problem !== undefined;
    const choices = problem?.choices?.map(
      ([label, value]) => html` <a href="${addressOf(path, { ...query, [name]: value })}">${label}</a>?`,
    );
    const isOther = typeof found === 'string' && !(name in span) && found !== typed;
    fields.push(html`<div>${await fieldOf(visit, name, filter, typed, problem !== undefined)}
${isOther && html`<p class="hint">${text(found)}</p>`}
${problem && html`<p class="wrong" id="wrong-${name}">${problem.says}${choices}</p>`}</div>\n`);
  }
  const spans = Object.entries(presets).map(([name, [label]]) => {
    const isCurrent = name === visit.query.span && html` aria-current="true"`;
    return html`<button name="span" value="${name}"${isCurrent}>${label}</button>\n`;
  });
  // The Enter key presses the first button.
  const form = html`<details class="filtering"${isWrong && html` open`}><summary>Filters</summary>
<form class="filters" method="get" action="${path}">${fields}<button>Filter</button>
<a href="${path}">Remove filters</a><p class="actions">${spans}</p></form></details>`;
  if (isWrong) {
    visit.exchange.status = 400;
    return html`${form}<p class="errors" role="alert">Nothing is listed: correct what is marked.</p>`;
  }
  const found = await show({ ...chosen, cursor, limit: 50 }, chosen);
  const shown = (chosen.since ?? chosen.until) && html`<p class="hint">${spanText(chosen)}</p>`;
  return html`${form}${shown}${found.list}
${pager(path, { ...query, ...(cursor && { cursor }) }, 'cursor', found.cursor)}`;
}

function spanText({ since, until }: Texts): string {
  const at = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 19).replace(/:00$/, '')}`;
  return `${since ? at(since) : 'The first'} to ${until ? `${at(until)} UTC` : 'now (UTC)'}`;
}

/** A field with what was typed. */
async function fieldOf(visit: Visit, name: string, filter: Filter, typed: string, isWrong: boolean) {
  const { label, options, suggestions } = filter;
  const about = isWrong && html` aria-invalid="true" aria-describedby="wrong-${name}"`;
  if (options) {
    // A value that is in no list stays, so that the reader sees it.
    const own = options.some(({ id }) => id === typed) || typed === '' ? [] : [{ id: typed }];
    const items = [{ id: '', name: 'any' }, ...own, ...options].map(
      ({ id, name = id }: Named) =>
        html`<option value="${id}"${id === typed && html` selected`}>${name}</option>`,
    );
    return html`<label>${label}<select name="${name}"${about}>${items}</select></label>`;
  }
  // A browser would drop a time that it cannot read.
  const isTime = name in span && !isWrong;
  const value = isTime ? typed.replace(/(?:\.\d+)?Z$/, '') : typed;
  const suggested = await suggestions?.(visit);
  return html`<label>${label}<input name="${name}" type="${isTime ? 'datetime-local' : 'text'}"
value="${value}" list="of-${name}"${about} autocomplete="off"></label>
<datalist id="of-${name}">${suggested?.map((text) => html`<option value="${text}"></option>`)}</datalist>`;
}
