import { commandLineBounds } from '@partner-network/common/bounds/command-line';
import { newest, printNewest, spanConflicts, timeSpan } from '@partner-network/common/command-line/newest';
import { optional, plainText } from '@partner-network/common/command-line/options';
import { type Column, neverShortened } from '@partner-network/common/command-line/table';
import { lengths } from '@partner-network/contract/limits';
import type { NumberedEntry } from '@partner-network/store/port';
import { onDatabase } from './database.ts';

export const listAudit = onDatabase({
  options: {
    // Not the setting of the other commands: here it filters, and the variable does not.
    actor: optional('NAME', plainText(commandLineBounds.actorCharacters), 'only changes by this actor'),
    action: optional('COMMAND', plainText(64), 'only changes by this command, such as "keys revoke"'),
    target: optional(
      'ID',
      plainText(lengths.grantId),
      'only changes of this partner, key, grant or customer',
    ),
    ...timeSpan('changes'),
    limit: newest('changes'),
  },
  conflicts: spanConflicts,
  run: async (store, values, _words, output) => {
    const { actor, action, target, since, until } = values;
    const list = (after: NumberedEntry | undefined, limit: number) =>
      store.listAudit({ actor, action, target, since, until, after, limit });
    // The number of an entry is only for paging.
    const recordOf = ({ seq: _seq, ...entry }: NumberedEntry) => entry;
    await printNewest('changes', list, values, columns, output, recordOf);
  },
});

/** On a terminal the last columns are left out first; --json has all. */
const columns: readonly Column<NumberedEntry>[] = [
  { heading: 'TIME', minCells: neverShortened, cell: ({ at }) => at },
  { heading: 'ACTOR', cell: ({ actor }) => actor },
  { heading: 'ACTION', minCells: neverShortened, cell: ({ action }) => action },
  { heading: 'TARGET', cell: ({ target }) => target },
  { heading: 'DETAILS', cell: ({ details }) => JSON.stringify(details) },
];
