import { setTimeout as wait } from 'node:timers/promises';
import { lengths } from '@partner-network/contract/limits';
import { receiptsBounds } from '../bounds/receipts.ts';
import { counted } from '../command-line/amounts.ts';
import { growingJson } from '../command-line/json.ts';
import {
  defaulted,
  durationMs,
  flag,
  optional,
  plainText,
  required,
  timeOrAge,
  wholeNumber,
} from '../command-line/options.ts';
import {
  boundless,
  type Column,
  growingTable,
  issuedIdCells,
  neverShortened,
} from '../command-line/table.ts';
import { toTime } from '../lib/times.ts';
import type { Receipt, ReceiptsQuery, Store } from '../store/port.ts';
import { customerId, onDatabase, partnerId, requireKey, requirePartner } from './database.ts';

export const listReceipts = onDatabase({
  options: {
    partner: optional('ID', partnerId, 'only requests of this partner'),
    key: optional('ID', plainText(lengths.keyId), 'only requests with this key'),
    customer: optional('ID', customerId, 'only requests for the balances of this customer'),
    since: optional(
      'TIME',
      timeOrAge,
      'only requests since this time, such as 2027-01-31T00:00:00Z, or 24h for the last day',
    ),
    limit: defaulted(
      'N',
      wholeNumber(1, receiptsBounds.receiptsShownAtMost),
      receiptsBounds.receiptsShown,
      'highest number of receipts to show, the newest first',
    ),
  },
  run: async (store, values, _words, output) => {
    const { partner, key, customer, since, limit, json } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    // Receipts are indexed by partner, not by key.
    const partnerOfKey = key === undefined ? undefined : (await requireKey(store, key)).partner_id;
    const filters = { partnerId: partner ?? partnerOfKey, keyId: key, customerId: customer, since };
    const document = growingJson(output.write, '[');
    const rows = growingTable(columns, process.stdout.isTTY ? process.stdout : boundless);
    const remarkMore = () =>
      output.remark(`These are the newest ${limit} receipts. There are more: raise --limit to see them.`);
    let isEmpty = true;
    for await (const page of pagesOf(store, filters, limit, remarkMore)) {
      await (json ? document.add(page) : output.write(rows(page)));
      isEmpty = false;
    }
    if (json) await document.end(']');
    else if (isEmpty) output.answer('No receipts found.');
  },
});

/** The newest receipts, page by page, so that only one page is in memory. */
async function* pagesOf(
  store: Store,
  filters: Omit<ReceiptsQuery, 'after' | 'limit'>,
  limit: number,
  onMore: () => void,
): AsyncGenerator<readonly Receipt[]> {
  let after: Receipt | undefined;
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(left, receiptsBounds.receiptsPage);
    const page = await store.listReceipts({ ...filters, after, limit: wanted });
    if (page.length > 0) yield page;
    if (page.length < wanted) return;
    left -= wanted;
    after = page.at(-1);
  }
  if ((await store.listReceipts({ ...filters, after, limit: 1 })).length > 0) onMore();
}

/** On a terminal the last columns are left out first; --json has all. */
const columns: readonly Column<Receipt>[] = [
  { heading: 'TIME', minCells: neverShortened, cell: ({ at }) => at },
  { heading: 'PARTNER', cell: ({ partner_id }) => partner_id },
  { heading: 'CUSTOMER', cell: ({ customer_id = '-' }) => customer_id },
  { heading: 'OUTCOME', minCells: neverShortened, cell: ({ outcome }) => outcome },
  { heading: 'REQUEST ID', minCells: issuedIdCells, cell: ({ request_id }) => request_id },
  { heading: 'KEY', minCells: issuedIdCells, cell: ({ key_id }) => key_id },
  { heading: 'GRANT', minCells: issuedIdCells, cell: ({ grant_id = '-' }) => grant_id },
];

export const pruneReceipts = onDatabase({
  options: {
    'older-than': required('DURATION', durationMs, 'age from which receipts are removed, such as 400d'),
    'dry-run': flag('count the receipts and remove nothing'),
  },
  run: async (store, { 'older-than': ageMs, 'dry-run': isDryRun }) => {
    const before = toTime(Date.now() - ageMs);
    const receipts = await (isDryRun ? store.countReceipts(before) : removeAll(store, before));
    const text = isDryRun
      ? `Would remove ${counted(receipts, 'receipt')} from before ${before}. Nothing was removed.`
      : `Removed ${counted(receipts, 'receipt')} from before ${before}.`;
    return { value: { before, receipts, removed: !isDryRun }, text };
  },
});

/** Removes receipts in small transactions with pauses, so that `serve` can write its own meanwhile. */
async function removeAll(store: Store, before: string): Promise<number> {
  let total = 0;
  while (true) {
    const removed = await store.pruneReceipts(before);
    if (removed === 0) return total;
    total += removed;
    await wait(receiptsBounds.receiptsPruneRestMs);
  }
}
