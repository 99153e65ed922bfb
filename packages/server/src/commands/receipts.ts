import { setTimeout as wait } from 'node:timers/promises';
import { lengths } from '@partner-network/contract/limits';
import { receiptsBounds } from '../bounds/receipts.ts';
import { tell } from '../command-line/command.ts';
import { growingJson } from '../command-line/json.ts';
import {
  durationMs,
  flag,
  optional,
  plainText,
  required,
  timeOrAge,
  wholeNumber,
} from '../command-line/options.ts';
import type { Output } from '../command-line/output.ts';
import {
  boundless,
  type Column,
  growingTable,
  issuedIdCells,
  neverShortened,
} from '../command-line/table.ts';
import { toTime } from '../lib/times.ts';
import type { Receipt, ReceiptsQuery, Store } from '../store/port.ts';
import { onDatabase, requireKey, requirePartner } from './database.ts';

export const listReceipts = onDatabase({
  options: {
    partner: optional('ID', plainText(lengths.partnerId), 'only what this partner asked for'),
    key: optional('ID', plainText(lengths.keyId), 'only what was asked for by this key'),
    customer: optional('ID', plainText(lengths.customerId), "only what was asked for of this customer's"),
    since: optional('TIME', timeOrAge, 'only from then on: 2027-01-31T00:00:00Z, or 24h for the last day'),
    limit: optional(
      'N',
      wholeNumber(1, receiptsBounds.receiptsShownAtMost),
      `how many, the newest first (${receiptsBounds.receiptsShown})`,
    ),
  },
  run: async (store, values, _words, output) => {
    const { partner, key, customer, since, limit = receiptsBounds.receiptsShown, json } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    // There is an index of a partner's receipts, and none of a key's.
    const partnerOfKey = key === undefined ? undefined : (await requireKey(store, key)).partner_id;
    const partnerId = partner ?? partnerOfKey;
    const filters = { partnerId, keyId: key, customerId: customer, since };
    const pages = pagesOf(store, filters, limit, () =>
      output.remark(`There are more: these are the newest ${limit}, and --limit tells how many you want.`),
    );
    await (json ? printJson(pages, output) : printTable(pages, output));
  },
});

/** However many they are, only a page of them is in memory. */
async function* pagesOf(
  store: Store,
  filters: Omit<ReceiptsQuery, 'after' | 'limit'>,
  limit: number,
  tellOfMore: () => void,
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
  if ((await store.listReceipts({ ...filters, after, limit: 1 })).length > 0) tellOfMore();
}

async function printJson(pages: AsyncIterable<readonly Receipt[]>, output: Output): Promise<void> {
  const document = growingJson(output.write, '[');
  for await (const page of pages) await document.add(page);
  await document.end(']');
}

/** On a terminal the last of them give way; --json has all. */
const columns: readonly Column<Receipt>[] = [
  { heading: 'TIME', shortestCells: neverShortened, cell: ({ at }) => at },
  { heading: 'PARTNER', cell: ({ partner_id }) => partner_id },
  { heading: 'CUSTOMER', cell: ({ customer_id = '-' }) => customer_id },
  { heading: 'OUTCOME', shortestCells: neverShortened, cell: ({ outcome }) => outcome },
  { heading: 'REQUEST ID', shortestCells: issuedIdCells, cell: ({ request_id }) => request_id },
  { heading: 'KEY', shortestCells: issuedIdCells, cell: ({ key_id }) => key_id },
  { heading: 'GRANT', shortestCells: issuedIdCells, cell: ({ grant_id = '-' }) => grant_id },
];

async function printTable(pages: AsyncIterable<readonly Receipt[]>, output: Output): Promise<void> {
  const rows = growingTable(columns, process.stdout.isTTY ? process.stdout : boundless);
  let isEmpty = true;
  for await (const page of pages) {
    await output.write(rows(page));
    isEmpty = false;
  }
  if (isEmpty) output.answer('No receipts.');
}

export const pruneReceipts = onDatabase({
  options: {
    'older-than': required('DURATION', durationMs, 'how old those are that go, such as 400d'),
    'dry-run': flag('count them, and remove none'),
  },
  run: async (store, values, _words, output) => {
    const before = toTime(Date.now() - values['older-than']);
    const isDryRun = values['dry-run'];
    const receipts = await (isDryRun ? store.countReceipts(before) : removeAll(store, before));
    tell(output, values.json, { before, receipts, removed: !isDryRun }, () =>
      isDryRun
        ? `${receipts} receipts from before ${before} would be removed.`
        : `Removed ${receipts} receipts from before ${before}.`,
    );
  },
});

/** Piece by piece, with a rest between, so that those who serve can write. */
async function removeAll(store: Store, before: string): Promise<number> {
  let all = 0;
  while (true) {
    const removed = await store.pruneReceipts(before);
    if (removed === 0) return all;
    all += removed;
    await wait(receiptsBounds.receiptsPruneRestMs);
  }
}
