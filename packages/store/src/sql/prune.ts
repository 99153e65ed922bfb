/** Deletes old rows, the oldest first, in SQL that both engines understand. */
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import type { Author } from '../port.ts';
import { changeStatement } from './audit.ts';
import type { Sql } from './statement.ts';

/** `audit` runs a statement on the database of the audit log, which may be another file. */
export function createPruning(rows: Sql['rows'], audit: Sql['rows'], table: 'receipts' | 'usage') {
  async function count(olderThan: string): Promise<number> {
    const [counted] = await rows(`select count(*) as found from ${table} where at < $1`, olderThan);
    return Number(counted?.found ?? 0);
  }

  /**
   * Deletes a few thousand rows, by time and not by row: a distributed database can do so at once. `isLast`
   * if no older row is left. A batch that deletes nothing may not be the last: another command may prune.
   */
  async function pruneBatch(olderThan: string) {
    const [last] = await rows(
      `select at from ${table} where at < $1 order by at limit 1 offset $2`,
      olderThan,
      receiptsBounds.pruned - 1,
    );
    const removed =
      last === undefined
        ? await rows(`delete from ${table} where at < $1 returning 1 as gone`, olderThan)
        : await rows(`delete from ${table} where at <= $1 returning 1 as gone`, last.at as string);
    return { removed: removed.length, isLast: last === undefined };
  }

  /**
   * The audit entry comes first, because rows are deleted in many transactions, on the embedded database in
   * another file: if the command is killed, no deletion is without an entry.
   */
  async function prune(olderThan: string, by: Author): Promise<number> {
    const found = await count(olderThan);
    if (found === 0) return 0;
    // Fails without the privilege to delete, before an entry says that rows were deleted.
    await rows(`delete from ${table} where false returning 1 as gone`);
    await audit(...changeStatement(by, table, { before: olderThan, [table]: found }));
    let total = 0;
    for (;;) {
      const { removed, isLast } = await pruneBatch(olderThan);
      total += removed;
      if (isLast) return total;
      // `serve` can write its own rows between two batches.
      await wait(receiptsBounds.pruneRestMs);
    }
  }

  return { count, prune };
}
