import { receiptsBounds } from '@partner-network/common/bounds/service';
import { confirm, yes } from '@partner-network/common/command-line/changes';
import type { Command } from '@partner-network/common/command-line/command';
import { addedIn, durationMs, flag, required } from '@partner-network/common/command-line/options';
import { counted } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import type { AuditAction, Author, Store } from '@partner-network/store/port';
import { changing } from './database.ts';

interface Pruned {
  count(olderThan: string): Promise<number>;
  prune(olderThan: string, by: Author): Promise<number>;
}

/** A command that deletes old records, which `since` added. `what` is one of them, in the singular. */
export function pruning(
  action: AuditAction,
  since: string,
  what: string,
  prunedOf: (store: Store) => Pruned,
): Command {
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
    run: async (store, { 'older-than': ageMs, 'dry-run': isDryRun, yes }, _words, _output, by) => {
      const { count, prune } = prunedOf(store);
      const before = toTime(Date.now() - ageMs);
      const found = await count(before);
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
      const removed = await prune(before, by);
      return { value: { removed }, text: `Removed ${inWords(removed)}.` };
    },
  });
}
