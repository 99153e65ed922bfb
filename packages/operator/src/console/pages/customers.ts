/** Customers and receipts: who may read the balances, and who did. No amount is read. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import {
  code,
  downloads,
  facts,
  filterForm,
  filtersOf,
  idLink,
  linkTo,
  mark,
  offers,
  pager,
  pathTo,
  time,
} from '../parts.ts';
import { grantTable, receiptTable } from '../tables.ts';
import { meaningOf } from '../usage.ts';
import type { Visit } from '../visit.ts';

export async function customerPage(visit: Visit): Promise<Page> {
  const { call, query, ids, reads } = visit;
  const customer_id = ids.customer_id!;
  const { grants, cursor: moreGrants } = await call('listGrants', {
    query: { customer_id, limit: 25, cursor: query.grants },
  });
  const { receipts, cursor: moreReceipts } = await call('listReceipts', {
    query: { customer_id, limit: 25, cursor: query.receipts },
  });
  const isErased = await reads.isErased(customer_id);
  const path = pathTo('customers', customer_id);
  const ofGranted = new URLSearchParams({ customer_id, outcome: 'GRANTED' });
  const granted = linkTo(`${pathTo('receipts')}?${ofGranted}`, 'Only partners that got the balances');
  return {
    title: `Customer ${customer_id}`,
    body: html`<h1>Customer ${code(customer_id)}</h1>
${isErased && facts([['State', 'Erased. What is listed here is newer, or a receipt.']])}
${offers(visit, [
  ['revokeGrants', `${path}/revoke-grants`, 'Revoke all grants', 'danger'],
  ['eraseCustomer', `${path}/erase`, 'Erase', 'danger'],
])}
<h2>Grants</h2>
${grantTable(visit, grants, 'customer', 'No grant: no partner can read the balances. Is the id complete?')}
${pager(path, query, 'grants', moreGrants)}
<h2>Who read the balances?</h2>
${receipts.length > 0 && html`<p>All partners that asked. ${granted}</p>`}
${receiptTable(receipts, 'No receipt: no partner asked for the balances since receipts were last pruned.')}
${pager(path, query, 'receipts', moreReceipts)}`,
  };
}

const receiptFilters = {
  partner_id: 'Partner',
  key_id: 'Key',
  customer_id: 'Customer',
  outcome: 'Outcome',
  since: 'From (UTC)',
  until: 'Before (UTC)',
};

export async function receiptsPage({ call, query }: Visit): Promise<Page> {
  const chosen = filtersOf(receiptFilters, query);
  const { receipts, cursor } = await call('listReceipts', {
    query: { ...chosen, cursor: query.cursor, limit: 50 },
  });
  const empty = html`No receipt with these filters. Only requests for balances leave one, until it is pruned:
for others, search the log of <code>partner-network serve</code>.`;
  return {
    title: 'Receipts',
    place: 'receipts',
    body: html`<h1>Receipts</h1>
<p class="hint">Who asked for the balances of which customer, newest first. The outcome GRANTED means that the
partner got them.</p>
${filterForm('/console/receipts', receiptFilters, query)}
${receipts.length > 0 && downloads('receipts', chosen, 'receipts with these filters')}
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
