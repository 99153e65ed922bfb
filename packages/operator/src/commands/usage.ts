import { newest, printNewest, spanConflicts, timeSpan } from '@partner-network/common/command-line/lists';
import { addedIn, defaulted, oneOf, optional, plainText } from '@partner-network/common/command-line/options';
import { type Column, issuedIdCells, neverShortened } from '@partner-network/common/command-line/table';
import { lengths } from '@partner-network/contract/limits';
import type { UsageCount } from '@partner-network/store/port';
import { requireKey } from '../operations/keys.ts';
import { requirePartner } from '../operations/partners.ts';
import { onDatabase, partnerId } from './database.ts';
import { pruning } from './pruning.ts';

export const listUsage = onDatabase({
  options: addedIn('0.2.0', {
    partner: optional('ID', partnerId, 'only answers to this partner'),
    key: optional('ID', plainText(lengths.keyId), 'only answers to this key'),
    by: defaulted('UNIT', oneOf(['hour', 'day']), 'hour', 'count whole hours or whole days of UTC'),
    ...timeSpan('hours or days', 'that end after', 'that begin before'),
    limit: newest('counts'),
  }),
  conflicts: spanConflicts,
  run: async (store, values, _words, output) => {
    const { partner, key, by, since, until } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    // Counts are indexed by partner, not by key.
    const partnerOfKey = key === undefined ? undefined : (await requireKey(store, key)).partner_id;
    const filters = { partnerId: partner ?? partnerOfKey, keyId: key, by, since, until };
    const list = (after: UsageCount | undefined, limit: number) =>
      store.listUsage({ ...filters, after, limit });
    await printNewest('counts', list, values, columns, output);
  },
});

const columns: readonly Column<UsageCount>[] = [
  { heading: 'FROM', minCells: neverShortened, cell: ({ from }) => from },
  { heading: 'PARTNER', cell: ({ partner_id }) => partner_id },
  { heading: 'KEY', minCells: issuedIdCells, cell: ({ key_id }) => key_id },
  { heading: 'OPERATION', minCells: neverShortened, cell: ({ operation }) => operation },
  { heading: 'CODE', minCells: neverShortened, cell: ({ code }) => code },
  { heading: 'COUNT', minCells: neverShortened, cell: ({ count }) => String(count) },
];

export const pruneUsage = pruning('usage prune', '0.2.0', 'count', (store) => ({
  count: store.countUsage,
  prune: store.pruneUsage,
}));
