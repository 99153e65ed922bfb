import { newest, printNewest, spanConflicts, timeSpan } from '@partner-network/common/command-line/lists';
import { optional, Problem, plainText } from '@partner-network/common/command-line/options';
import { type Column, issuedIdCells, neverShortened } from '@partner-network/common/command-line/table';
import { isRequestId } from '@partner-network/common/ids';
import { lengths } from '@partner-network/contract/limits';
import { isOutcome, someOutcome } from '@partner-network/service/receipts/receipt';
import type { Receipt } from '@partner-network/store/port';
import { requireKey } from '../operations/keys.ts';
import { requirePartner } from '../operations/partners.ts';
import { customerId, onDatabase, partnerId } from './database.ts';
import { pruning } from './pruning.ts';

function requestId(text: string): string | Problem {
  return isRequestId(text)
    ? text.toLowerCase()
    : new Problem(
        'must be the value of an X-Request-Id header, such as 6f1c0f7e-6f0e-4f5e-9f57-0a1b2c3d4e5f.',
      );
}

function outcome(text: string): string | Problem {
  return isOutcome(text) ? text : new Problem(`must be ${someOutcome}.`);
}

export const listReceipts = onDatabase({
  options: {
    partner: optional('ID', partnerId, 'only requests of this partner'),
    key: optional('ID', plainText(lengths.keyId), 'only requests with this key'),
    customer: optional('ID', customerId, 'only requests for the balances of this customer'),
    'request-id': optional('ID', requestId, 'only the request with this X-Request-Id'),
    outcome: optional('CODE', outcome, 'only requests with this outcome: GRANTED or an error code'),
    ...timeSpan('requests'),
    limit: newest('receipts'),
  },
  conflicts: spanConflicts,
  run: async (store, values, _words, output) => {
    const { partner, key, customer, since, until } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    // Receipts are indexed by partner, not by key.
    const partnerOfKey = key === undefined ? undefined : (await requireKey(store, key)).partner_id;
    const filters = {
      ...{ partnerId: partner ?? partnerOfKey, keyId: key, customerId: customer },
      ...{ requestId: values['request-id'], outcome: values.outcome, since, until },
    };
    const list = (after: Receipt | undefined, count: number) =>
      store.listReceipts({ ...filters, after, limit: count });
    await printNewest('receipts', list, values, columns, output);
  },
});

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

export const pruneReceipts = pruning('receipts prune', '0.1.0', 'receipt', (store) => ({
  count: store.countReceipts,
  prune: store.pruneReceipts,
}));
