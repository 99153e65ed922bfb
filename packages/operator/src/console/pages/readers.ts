/** Receipts by customer: who was read, how often, and by which partner and key. No amount is read. */
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { filteredList, receiptFilters } from '../filters.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import { idLink, linkTo, pageNumber, plural, table, time } from '../parts.ts';
import type { Texts, Visit } from '../visit.ts';

const { operation: _, ...filters } = receiptFilters;
const path = '/console/receipts/customers';
const pageSize = 50;

export async function customersReadPage(visit: Visit): Promise<Page> {
  const list = await filteredList(visit, path, filters, ({ cursor }, chosen) =>
    listOf(visit, chosen, pageNumber(cursor as string | undefined)),
  );
  return {
    title: 'Receipts by customer',
    place: 'receipts',
    body: html`<h1>Receipts by customer</h1>
<p class="hint">Whose balances were asked for, by which partner and key, the most often read first. Read: the
partner got them. A customer leads to the receipts that are counted here.</p>
${list}`,
  };
}

/** A page of the receipts with these filters, whose cursor is its number. */
async function listOf(
  { reads }: Visit,
  chosen: Texts,
  page: number,
): Promise<{ list: Html; cursor?: string }> {
  const { partner_id: partnerId, key_id: keyId, customer_id: customerId, outcome, since, until } = chosen;
  const { counts, cutAt } = await reads.countReceipts({
    ...{ partnerId, keyId, customerId, outcome, since, until },
    limit: pageSize + 1,
    offset: (page - 1) * pageSize,
  });
  const rows = counts
    .slice(0, pageSize)
    .map(({ customer_id, partner_id, key_id, ...counted }) => [
      customer_id === undefined
        ? 'none that is valid'
        : linkTo('/console/receipts', customer_id, { ...chosen, customer_id, partner_id, key_id }),
      counted.granted,
      counted.refused,
      time(counted.first),
      time(counted.last),
      idLink('partners', partner_id),
      idLink('keys', key_id),
    ]);
  const searched = plural(receiptsBounds.counted, 'receipt');
  const cut = html`<p class="errors" role="status">Only the newest ${searched} were searched, back to
${time(cutAt)} UTC. Older ones are not counted: choose a shorter time.</p>`;
  return {
    list: html`${cutAt !== undefined && cut}
${table(
  'Receipts by customer',
  ['Customer', 'Read', 'Refused', 'First read (UTC)', 'Last read (UTC)', 'Partner', 'Key'],
  rows,
  page === 1 ? 'No receipt of balances with these filters.' : 'No customer on this page.',
)}`,
    ...(counts.length > pageSize && { cursor: String(page + 1) }),
  };
}
