import { receiptsBounds } from '@partner-network/common/bounds/service';
import { confirm, yes } from '@partner-network/common/command-line/changes';
import type { Command } from '@partner-network/common/command-line/command';
import { printNewest, shownFlags, spanConflicts, timeSpan } from '@partner-network/common/command-line/lists';
import {
  addedIn,
  defaulted,
  durationMs,
  flag,
  oneOf,
  optional,
  Problem,
  plainText,
  required,
} from '@partner-network/common/command-line/options';
import type { Columns } from '@partner-network/common/command-line/table';
import { isRequestId } from '@partner-network/common/ids';
import { counted } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { listings } from '@partner-network/contract/operations';
import { isOutcome, someOutcome } from '@partner-network/service/receipts';
import type { AuditAction, Prunable, Receipt, Store, UsageCount } from '@partner-network/store/port';
import { requireKey } from '../operations/keys.ts';
import { requirePartner } from '../operations/partners.ts';
import { changing, customerId, onDatabase, partnerId } from './database.ts';

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
    ...addedIn('0.3.0', {
      operation: optional('NAME', oneOf(listings.map(({ id }) => id)), 'only requests for this operation'),
    }),
    outcome: optional('CODE', outcome, 'only requests with this outcome: GRANTED or an error code'),
    ...timeSpan('requests'),
    ...shownFlags('receipts', '0.1.0'),
  },
  conflicts: spanConflicts,
  run: async ({ store, values, output }) => {
    const { key, customer, operation, outcome, since, until } = values;
    const filters = {
      partnerId: await partnerOf(store, values),
      keyId: key,
      customerId: customer,
      requestId: values['request-id'],
      operation,
      outcome,
      since,
      until,
    };
    const list = (after: Receipt | undefined, count: number) =>
      store.listReceipts({ ...filters, after, limit: count });
    await printNewest('receipts', list, values, receiptColumns, output);
  },
});

const receiptColumns: Columns<Receipt> = [
  ['TIME', ({ at }) => at, 'time'],
  ['OUTCOME', ({ outcome }) => outcome, 'state'],
  ['PARTNER', ({ partner_id }) => partner_id, 'id'],
  ['CUSTOMER', ({ customer_id = '-' }) => customer_id, 'id'],
  ['OPERATION', ({ operation }) => operation, 'whole'],
  ['REQUEST ID', ({ request_id }) => request_id, 'id'],
  ['KEY', ({ key_id }) => key_id, 'id'],
  ['GRANT', ({ grant_id = '-' }) => grant_id, 'id'],
];

export const pruneReceipts = pruning('receipts prune', '0.1.0', 'receipts', 'receipt');

export const listUsage = onDatabase({
  options: {
    ...addedIn('0.2.0', {
      partner: optional('ID', partnerId, 'only answers to this partner'),
      key: optional('ID', plainText(lengths.keyId), 'only answers to this key'),
      by: defaulted('UNIT', oneOf(['hour', 'day']), 'hour', 'count whole hours or whole days of UTC'),
      ...timeSpan('hours or days', 'that end after', 'that begin before'),
    }),
    ...shownFlags('counts', '0.2.0'),
  },
  conflicts: spanConflicts,
  run: async ({ store, values, output }) => {
    const { key, by, since, until } = values;
    const filters = { partnerId: await partnerOf(store, values), keyId: key, by, since, until };
    const list = (after: UsageCount | undefined, limit: number) =>
      store.listUsage({ ...filters, after, limit });
    await printNewest('counts', list, values, usageColumns, output);
  },
});

const usageColumns: Columns<UsageCount> = [
  ['FROM', ({ from }) => from, 'time'],
  ['CODE', ({ code }) => code, 'state'],
  ['COUNT', ({ count }) => String(count), 'number'],
  ['PARTNER', ({ partner_id }) => partner_id, 'id'],
  ['OPERATION', ({ operation }) => operation, 'whole'],
  ['KEY', ({ key_id }) => key_id, 'id'],
  ['PEAK', ({ peak = '-' }) => String(peak), 'number'],
  ['SLOWEST MS', ({ slowest_ms = '-' }) => String(slowest_ms), 'number'],
];

export const pruneUsage = pruning('usage prune', '0.2.0', 'usage', 'count');

/** The partner to filter by, also for a key: records are indexed by partner, not by key. */
async function partnerOf(store: Store, { partner, key }: { partner?: string; key?: string }) {
  if (partner !== undefined) await requirePartner(store, partner);
  const partnerOfKey = key === undefined ? undefined : (await requireKey(store, key)).partner_id;
  return partner ?? partnerOfKey;
}

/** A command that deletes old records, which `since` added. `what` is one of them, in the singular. */
function pruning(action: AuditAction, since: string, table: Prunable, what: string): Command {
  return changing(action, {
    role: 'network_retention',
    options: addedIn(since, {
      'older-than': required(
        'DURATION',
        durationMs,
        `age from which ${what}s are removed, such as 400d; under 30d the command asks`,
      ),
      'dry-run': flag(`count the ${what}s and remove nothing`),
      yes,
    }),
    run: async ({ store, values: { 'older-than': ageMs, 'dry-run': isDryRun, yes }, by }) => {
      const before = toTime(Date.now() - ageMs);
      const found = await store.countOld(table, before);
      const inWords = (number: number) => `${counted(number, what)} from before ${before}`;
      if (isDryRun) {
        return {
          value: { removed: 0, would_remove: found },
          text: `Would remove ${inWords(found)}. Nothing was removed.`,
        };
      }
      const days = receiptsBounds.pruneFreelyMs / 86_400_000;
      const isOld = ageMs >= receiptsBounds.pruneFreelyMs;
      await confirm(
        `This removes ${inWords(found)} for good. Some may be less than ${days} days old.`,
        yes || isOld,
      );
      const removed = await store.prune(table, before, by);
      return { value: { removed }, text: `Removed ${inWords(removed)}.` };
    },
  });
}
