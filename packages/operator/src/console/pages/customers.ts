/** Customers and receipts: who may read the balances, and who did. No amount is read. */
import { msOfRequestId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { type ErrorCode, errorCatalogue } from '@partner-network/contract/errors';
import { exampleOf } from '@partner-network/contract/openapi/responses';
import { listingByName, listings } from '@partner-network/contract/operations';
import { Refusal } from '@partner-network/http/refusal';
import type { Limits, Receipt } from '@partner-network/store/port';
import { filteredList, receiptFilters } from '../filters.ts';
import { html } from '../html.ts';
import { errorList, type Page } from '../layout.ts';
import { code, downloads, facts, idLink, linkTo, offers, pager, pathTo, text, time } from '../parts.ts';
import { grantTable, receiptTable } from '../tables.ts';
import { leaveReceipts, listed, outcomeOf } from '../usage.ts';
import { noteRefusal, type Visit } from '../visit.ts';
import { auditTable } from './sentences.ts';

export async function customerPage(visit: Visit): Promise<Page> {
  const { call, query, ids, reads } = visit;
  const customer_id = ids.customer_id!;
  const { grants, cursor: moreGrants } = await call('listGrants', {
    query: { customer_id, limit: 25, cursor: query.grants },
  });
  const { receipts, cursor: moreReceipts } = await call('listReceipts', {
    query: { customer_id, limit: 25, cursor: query.receipts },
  });
  const { entries } = await call('listAudit', { query: { target: customer_id, limit: 10 } });
  const isErased = await reads.isErased(customer_id);
  const path = pathTo('customers', customer_id);
  const canRevoke = moreGrants !== undefined || grants.some(({ status }) => status === 'ACTIVE');
  const ofGranted = { customer_id, outcome: 'GRANTED' };
  const granted = linkTo('/console/receipts', 'Only partners that got the balances', ofGranted);
  return {
    title: `Customer ${customer_id}`,
    body: html`<h1>Customer ${code(customer_id)}</h1>
${isErased && facts([['State', 'Erased. What is listed here is newer, or a receipt.']])}
${offers(visit, [
  canRevoke && ['revokeGrants', `${path}/revoke-grants`, 'Revoke all grants', 'danger'],
  ['eraseCustomer', `${path}/erase`, 'Erase', 'danger'],
])}
<h2>Grants</h2>
${await grantTable(visit, grants, 'customer', 'No grant: no partner can read. Is the id complete?')}
${pager(path, query, 'grants', moreGrants)}
<h2>Who read the balances?</h2>
${receipts.length > 0 && html`<p>All partners that asked. ${granted}</p>`}
${receiptTable(receipts, 'No receipt: no partner asked for the balances since receipts were last pruned.')}
${pager(path, query, 'receipts', moreReceipts)}
<h2>Changes</h2>
${await auditTable(visit, entries, 'No change of this customer or a grant is in the audit log.')}
<p>${linkTo('/console/audit', 'All changes of this customer', { target: customer_id })}</p>`,
  };
}

export async function receiptsPage(visit: Visit): Promise<Page> {
  const empty = `No receipt with these filters. Answered requests for brands and requests without a
known key never leave one, and receipts may have been pruned.`;
  const list = await filteredList(visit, '/console/receipts', receiptFilters, async (query, chosen) => {
    const { receipts, cursor } = await visit.call('listReceipts', { query });
    const links = receipts.length > 0 && downloads('receipts', chosen, 'receipts with these filters');
    const byCustomer = linkTo('/console/receipts/customers', 'By customer', chosen);
    return { list: html`<p>${byCustomer}</p>${links}${receiptTable(receipts, empty)}`, cursor };
  });
  return {
    title: 'Receipts',
    place: 'receipts',
    body: html`<h1>Receipts</h1>
<p class="hint">Who asked for what, newest first. The outcome GRANTED means that the partner got the balances.
${leaveReceipts}</p>
${list}`,
  };
}

/** What is stored of one request. */
export async function requestPage(visit: Visit): Promise<Page> {
  const { call, ids, reads } = visit;
  const answer = await call('getRequest', { path: ids }).catch((thrown) => {
    if (thrown instanceof Refusal && thrown.status === 404) return thrown;
    throw thrown;
  });
  if (answer instanceof Refusal) return unstoredPage(visit, answer);
  const { at, request_id, operation, partner_id, key_id, customer_id, grant_id, outcome } = answer.receipt;
  const partner = await reads.findPartner(partner_id);
  const key = await reads.findKeyById(key_id);
  const advice = adviceOf(answer.receipt, partner?.limits);
  const isOfCustomer = operation === 'listBalances';
  return {
    title: `Request ${request_id}`,
    place: 'receipts',
    body: html`<h1>Request ${code(request_id)}</h1>
${facts([
  ['Outcome', outcomeOf(outcome)],
  ['Time (UTC)', time(at)],
])}
${advice && html`<p>What the answer advised, for example: ${advice}</p>`}
<h2>What was asked</h2>
${facts([
  ['Operation', listed[operation]],
  ['Partner', html`${partner && text(partner.name)} ${idLink('partners', partner_id)}`],
  ['Key', html`${key?.name && text(key.name)} ${idLink('keys', key_id)}`],
  ['Customer', isOfCustomer && (customer_id ? idLink('customers', customer_id) : 'none that is valid')],
  ['Grant', isOfCustomer && (grant_id ? code(grant_id) : 'none')],
])}`,
  };
}

/** What an answer with this code advises. The parameter and the number are those of an example. */
function adviceOf({ operation, outcome }: Receipt, limits: Limits = {}): string | undefined {
  const listing = listings.find(({ id }) => id === operation);
  if (listing === undefined || !(outcome in errorCatalogue)) return undefined;
  const rate = limits[listing.name] ?? listingByName.brands.defaultRate;
  return exampleOf(listing, outcome as ErrorCode, { environment: 'production', rate }).detail;
}

/** Refusals that are listed. */
const most = 50;
const minuteMs = 60_000;

/** What else is known of a request without a receipt: its time, and what was refused in that minute. */
async function unstoredPage({ ids, reads, exchange }: Visit, refused: Refusal): Promise<Page> {
  const id = ids.request_id!;
  noteRefusal(exchange, refused);
  const ms = msOfRequestId(id);
  const page = { title: `Request ${id}`, place: 'receipts' } as const;
  const heading = html`<h1>Request ${code(id)}</h1>`;
  if (ms === undefined || ms > Date.now() + minuteMs) {
    const never = 'No service made this id: it holds no time of the past. Is it complete?';
    return { ...page, body: html`${heading}<p class="errors">${never}</p>` };
  }
  const startMs = ms - (ms % minuteMs);
  const span = { since: toTime(startMs), until: toTime(startMs + minuteMs) };
  const found = await reads.listReceipts({ ...span, isRefused: true, limit: most });
  return {
    ...page,
    body: html`${heading}
<p>Most likely, this was a request for brands that was answered: it leaves no receipt.</p>
${errorList(refused)}
<p>The first digits of the id hold its time (UTC): ${time(toTime(ms))}.</p>
<h2>What all partners were refused in that minute</h2>
<p>Other requests. The one above is not among them.</p>
${receiptTable(found, 'No refusal of that minute has a receipt.')}
<p>At most ${most} are shown.
${linkTo('/console/receipts', 'All receipts of that minute', span)}</p>`,
  };
}
