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
import { pager, utcOf } from './parts.ts';
import type { Reads, Texts, Visit } from './visit.ts';

/** A value that fits nothing: a sentence, and values that may be meant, by their labels. */
interface Problem {
  readonly says: string;
  readonly choices?: readonly (readonly [label: string, value: string])[];
}

/** Finds what the API takes for what was typed. `chosen` has the filters before this one. */
type Find = (visit: Visit, typed: string, chosen: Texts, field: string) => Promise<string | Problem>;

interface Filter {
  readonly label: string;
  readonly find: Find;
  /** All values of a list. */
  readonly options?: readonly Named[];
  /** What a browser suggests. */
  readonly suggestions?: (visit: Visit) => Promise<readonly string[]>;
}

type Filters = Readonly<Record<string, Filter>>;

export interface Named {
  readonly id: string;
  readonly name?: string;
}

/** The id of the record with this name, in any case. */
function named(typed: string, records: readonly Named[], what: string): string | Problem {
  const text = typed.trim().toLowerCase();
  const shown = echo(typed.trim(), 128);
  const all = records.map(({ id, name = id }) => ({ id, label: name, name: name.toLowerCase() }));
  const called = all.filter(({ name }) => name === text);
  if (called.length === 1) return called[0]!.id;
  if (called.length > 1) {
    const choices = called.slice(0, 20).map(({ id }) => [id, id] as const);
    return { says: `${called.length} have the name ${shown}:`, choices };
  }
  let similar = all.filter(({ id, name }) => name.includes(text) || id.toLowerCase().includes(text));
  if (similar.length === 0) {
    // One word may be a word of a name.
    const wordsOf = ({ id, name }: Named) => [
      id.toLowerCase(),
      ...name!.split(text.includes(' ') ? '\n' : ' '),
    ];
    const near = suggest(text, [...new Set(all.flatMap(wordsOf))]);
    similar = near === undefined ? [] : all.filter((record) => wordsOf(record).includes(near));
  }
  const choices = similar.slice(0, 5).map(({ id, label }) => [label, id] as const);
  return { says: `No ${what} is called ${shown}.`, choices };
}

/** An id may begin or end with blanks, or be nothing else. But people paste ids with blanks. */
const readingsOf = (typed: string) => [typed, typed.trim()].filter((text) => text !== '');

async function findPartner({ reads }: Visit, typed: string) {
  for (const id of readingsOf(typed)) if (await reads.findPartner(id)) return id;
  return named(typed, await reads.listPartners(), 'partner');
}

async function findKey({ reads }: Visit, typed: string, { partner_id }: Texts) {
  for (const id of readingsOf(typed)) {
    const key = await reads.findKeyById(id);
    if (key !== undefined && key.partner_id === (partner_id ?? key.partner_id)) return id;
    if (key !== undefined) return { says: 'This key belongs to another partner.' };
  }
  return named(typed, await reads.listKeys(partner_id), partner_id ? 'key of this partner' : 'key');
}

/** Whether a grant, a receipt or an erasure is of this customer. */
export async function isCustomer({ listGrants, listReceipts, isErased }: Reads, customerId: string) {
  const of = { customerId, limit: 1 };
  const found = [listGrants({ ...of, at: toTime(Date.now()) }), listReceipts(of)] as const;
  return (await Promise.all(found)).flat().length > 0 || isErased(customerId);
}

async function findCustomer({ reads }: Visit, typed: string) {
  for (const id of readingsOf(typed)) if (await isCustomer(reads, id)) return id;
  return { says: 'No grant and no receipt is of this customer. Is the id complete?' };
}

/** Whether the audit log has an entry of this actor, or about this target. */
export async function isInAudit({ call }: Visit, field: string, text: string): Promise<boolean> {
  if (text.trim() === '' || isLongerThan(text, 256) || !isCleanText(text)) return false;
  return (await call('listAudit', { query: { [field]: text, limit: 1 } })).entries.length > 0;
}

/** Finds an actor or a target of the audit log, or a record by its id or name. */
function findInAudit(what: string, records: (visit: Visit) => Promise<readonly Named[]>): Find {
  return async (visit, typed, _, field) => {
    for (const text of readingsOf(typed)) if (await isInAudit(visit, field, text)) return text;
    const all = await records(visit);
    return all.find(({ id }) => readingsOf(typed).includes(id))?.id ?? named(typed, all, what);
  };
}

/** The names of keys, and of the people and programs that made the newest changes. */
async function people({ call, reads }: Visit): Promise<string[]> {
  const { entries } = await call('listAudit', { query: { limit: 100 } });
  const keys = await keyNames(reads);
  return [...new Set([...keys.values(), ...entries.map(({ actor }) => keys.get(actor) ?? nameOf(actor))])];
}

const asNamed = (ids: readonly string[]): Named[] => ids.map((id) => ({ id }));

/** Names that a page suggests. With more partners, it would be slow to load. */
const mostSuggestions = 200;

async function partnerNames({ reads }: Visit): Promise<string[]> {
  const first = await reads.listPartners({ limit: mostSuggestions + 1 });
  return first.length > mostSuggestions ? [] : first.map(({ name }) => name).toSorted();
}

function oneOf(label: string, options: readonly Named[]): Filter {
  const find: Find = async (_, typed) =>
    options.find(({ id }) => id === typed)?.id ?? named(typed, options, label.toLowerCase());
  return { label, options, find };
}

const findTime: Find = async (_, typed, { since = '' }, field) => {
  const time = normalizeTime(utcOf(typed));
  if (time === undefined) return { says: 'Write a time in UTC such as 2026-01-31T08:00.' };
  if (field === 'until')
    return time > since ? time : { says: 'Before is not after From: choose a later time.' };
  return time > toTime(Date.now()) ? { says: 'From is in the future: choose an earlier time.' } : time;
};

const span: Filters = {
  since: { label: 'From (UTC)', find: findTime },
  until: { label: 'Before (UTC)', find: findTime },
};

export const receiptFilters: Filters = {
  partner_id: { label: 'Partner', find: findPartner, suggestions: partnerNames },
  key_id: { label: 'Key', find: findKey },
  customer_id: { label: 'Customer', find: findCustomer },
  operation: oneOf('Operation', listings),
  outcome: oneOf('Outcome', asNamed(outcomes)),
  ...span,
};

export const auditFilters: Filters = {
  target: {
    label: 'Target',
    find: findInAudit('partner or key', async ({ reads }) =>
      [await reads.listPartners(), await reads.listKeys(undefined)].flat(),
    ),
    suggestions: partnerNames,
  },
  actor: {
    label: 'Who',
    find: findInAudit('person or key', async (visit) => asNamed(await people(visit))),
    suggestions: people,
  },
  action: oneOf('Action', asNamed(Object.keys(auditActions))),
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
    const found = typed === '' ? '' : await filter.find(visit, typed, chosen, name);
    const problem = typeof found === 'string' ? undefined : found;
    if (typeof found === 'string' && found !== '') chosen[name] = found;
    isWrong ||= problem !== undefined;
    const choices = problem?.choices?.map(
      ([label, value]) => html` <a href="${addressOf(path, { ...query, [name]: value })}">${label}</a>?`,
    );
    fields.push(html`<div>${await fieldOf(visit, name, filter, typed, problem !== undefined)}
${problem && html`<p class="wrong" id="wrong-${name}">${problem.says}${choices}</p>`}</div>\n`);
  }
  const { since: __, until: ___, ...others } = query;
  const spans = Object.entries(presets).map(([name, [label]]) => {
    const current = visit.query.span === name && html` aria-current="true"`;
    return html`<a href="${addressOf(path, { ...others, span: name })}"${current}>${label}</a>\n`;
  });
  const form = html`<p class="actions">${spans}</p>
<form class="filters" method="get" action="${path}">${fields}<button>Filter</button>
<a href="${path}">Remove filters</a></form>`;
  if (isWrong) {
    visit.exchange.status = 400;
    return html`${form}<p class="errors" role="alert">Nothing is listed: correct what is marked.</p>`;
  }
  const found = await show({ ...chosen, cursor, limit: 50 }, chosen);
  const shown = (chosen.since ?? chosen.until) && html`<p class="hint">${spanText(chosen)}</p>`;
  return html`${form}${shown}${found.list}
${pager(path, { ...query, ...(cursor && { cursor }) }, 'cursor', found.cursor)}`;
}

const addressOf = (path: string, query: Texts) => `${path}?${new URLSearchParams(query)}`;

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
