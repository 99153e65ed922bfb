/** Receipts: requests for balances with their outcomes, without the balances. */
import { filterForm, filtersOf } from '../filters.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, facts, idLink, mark, pager, time } from '../parts.ts';
import { receiptTable } from '../tables.ts';
import { meaningOf } from '../usage.ts';
import type { Visit } from '../visit.ts';

const filters = {
  partner_id: 'Partner',
  key_id: 'Key',
  customer_id: 'Customer',
  outcome: 'Outcome',
  since: 'From (UTC)',
  until: 'Before (UTC)',
};

export async function receiptsPage({ call, query }: Visit): Promise<Page> {
  const { receipts, cursor } = await call('listReceipts', {
    query: { ...filtersOf(filters, query), cursor: query.cursor, limit: 50 },
  });
  const empty = html`No receipt with these filters. Only requests for balances leave one, until it is pruned:
for others, search the log of <code>partner-network serve</code>.`;
  return {
    title: 'Receipts',
    place: 'receipts',
    body: html`<h1>Receipts</h1>
<p class="hint">Who asked for the balances of which customer, newest first. The outcome GRANTED means that the
partner got them.</p>
${filterForm('/console/receipts', filters, query)}
${receiptTable(receipts, empty)}
${pager('/console/receipts', query, 'cursor', cursor)}`,
  };
}

/** What is stored of one request. */
export async function requestPage({ call, ids }: Visit): Promise<Page> {
  const { receipt } = await call('getRequest', { path: ids });
  const { at, request_id, partner_id, key_id, customer_id, grant_id, outcome } = receipt;
  return {
    title: `Request ${request_id}`,
    place: 'receipts',
    body: html`<h1>Request ${code(request_id)}</h1>
${facts([
  ['Outcome', mark(outcome)],
  ['What it means', meaningOf(outcome)],
  ['Time (UTC)', time(at)],
  ['Partner', idLink('partners', partner_id)],
  ['Key', idLink('keys', key_id)],
  ['Customer', customer_id === undefined ? 'none that is valid' : idLink('customers', customer_id)],
  ['Grant', grant_id === undefined ? 'none' : code(grant_id)],
])}`,
  };
}
