import { setTimeout as wait } from 'node:timers/promises';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { type Output, shownJson } from '@partner-network/common/command-line/command';
import { limitFlag, printNewest, spanConflicts, timeSpan } from '@partner-network/common/command-line/lists';
import { addedIn, flag, optional, plainText } from '@partner-network/common/command-line/options';
import { type Column, neverShortened } from '@partner-network/common/command-line/table';
import { onStop } from '@partner-network/common/process';
import { lengths } from '@partner-network/contract/limits';
import { toFollow } from '@partner-network/store/address';
import type { NumberedEntry, Store } from '@partner-network/store/port';
import { createRetry } from '../ingest/retry.ts';
import { actorsOf, keyNames, listNamedAudit, type NamedEntry } from '../operations/audit.ts';
import { onDatabase } from './database.ts';

type Entry = NamedEntry & NumberedEntry;

export const listAudit = onDatabase({
  options: {
    // Not the setting of the other commands: here it filters, and the variable does not.
    actor: optional(
      'NAME',
      plainText(commandLineBounds.actorCharacters),
      'only changes by this actor, person or key with this name',
    ),
    action: optional('COMMAND', plainText(64), 'only changes by this command, such as "keys revoke"'),
    target: optional(
      'ID',
      plainText(lengths.grantId),
      'only changes of this key or grant, or of this partner or customer with its keys and grants',
    ),
    ...timeSpan('changes'),
    limit: limitFlag('changes'),
    ...addedIn('0.2.0', {
      follow: flag(
        'print changes from now on as they come, one JSON document a line; with --since, from there',
      ),
    }),
  },
  conflicts: (values) => [
    ...spanConflicts(values),
    ...(values.follow && values.until !== undefined ? ['--follow has no end: leave out --until.'] : []),
  ],
  opening: ({ follow }) => (follow ? toFollow : {}),
  run: async ({ store, values, output }) => {
    const { actor, action, target, since, until } = values;
    if (values.follow) return follow(store, values, output);
    const list = (after: Entry | undefined, limit: number) =>
      listNamedAudit(store, { actor, actions: [action], target, since, until, after, limit });
    await printNewest('changes', list, values, columns, output, recordOf);
  },
});

/** The number of an entry is only for paging. */
const recordOf = ({ seq: _seq, ...entry }: Entry) => entry;

type Filters = Readonly<Partial<Record<'actor' | 'action' | 'target' | 'since', string | undefined>>>;

/** Prints entries until a signal arrives. A lost database is waited for. */
async function follow(store: Store, filters: Filters, output: Output): Promise<void> {
  const { since, actor, action, target } = filters;
  const stop = new AbortController();
  const removeListener = onStop(() => stop.abort());
  const retry = createRetry({ stop, report: output.remark, what: 'The command' });
  try {
    const actors = actor === undefined ? undefined : actorsOf(actor, await retry(() => keyNames(store)));
    const isWanted = (entry: Entry) =>
      actors?.includes(entry.actor) !== false &&
      (action ?? entry.action) === entry.action &&
      (target === undefined ||
        [entry.target, entry.details.partner_id, entry.details.customer_id].includes(target));
    let position = await retry(() => store.auditPosition(since));
    while (!stop.signal.aborted) {
      const read = await retry(() => store.followAudit(position, commandLineBounds.listPage));
      position = read.position;
      const lines = read.entries.filter(isWanted).map((entry) => `${JSON.stringify(recordOf(entry))}\n`);
      if (lines.length > 0) await output.write(shownJson(lines.join('')));
      if (read.entries.length > 0) continue;
      await wait(commandLineBounds.followPollMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  } catch (error) {
    // Nothing was left out: an entry that was not printed is there for the next start.
    if (!stop.signal.aborted) throw error;
  } finally {
    removeListener();
  }
}

/** On a terminal the last columns are left out first; --json has all. */
const columns: readonly Column<Entry>[] = [
  { heading: 'TIME', minCells: neverShortened, cell: ({ at }) => at },
  {
    heading: 'ACTOR',
    cell: ({ actor, actor_name: name }) => (name === undefined ? actor : `${name} (${actor})`),
  },
  { heading: 'ACTION', minCells: neverShortened, cell: ({ action }) => action },
  { heading: 'TARGET', cell: ({ target }) => target },
  { heading: 'DB USER', cell: ({ db_user = '-' }) => db_user },
  { heading: 'DETAILS', cell: ({ details }) => JSON.stringify(details) },
];
