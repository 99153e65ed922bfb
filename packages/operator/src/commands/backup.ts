import { command, printReport } from '@partner-network/common/command-line/command';
import { flag } from '@partner-network/common/command-line/options';
import { createProgress } from '@partner-network/common/command-line/progress';
import { onInterrupt } from '@partner-network/common/process';
import { toTime } from '@partner-network/common/times';
import { databaseConfig, databaseSettings } from '@partner-network/service/settings';
import { backUpSqlite } from '@partner-network/store/sqlite/backup';

const elsewhere =
  'backup copies only the embedded database. For Postgres, use pg_dump (docs/how-to/operators/back-up.md).';

export const backup = command({
  arguments: [{ name: 'FILE', help: 'file to write; the receipts are written to FILE-receipts' }],
  options: { ...databaseSettings, json: flag('print one JSON document') },
  conflicts: (values, [file]) => [
    ...(databaseConfig(values).database.engine === 'sqlite' ? [] : [elsewhere]),
    ...(file === '-' ? ['FILE must be a path: a backup is two files and cannot go to standard output.'] : []),
  ],
  run: async (values, [file = ''], output) => {
    const { database, environment } = databaseConfig(values);
    if (database.engine !== 'sqlite') return;
    const taken_at = toTime(Date.now());
    // The check of the copy blocks the process.
    using progress = createProgress(process.stderr, 0);
    progress.step('copying the database and checking the copy');
    const copies = await backUpSqlite(database.path, environment, file, onInterrupt);
    const files = Object.values(copies).map((copy) => `${copy.file}, ${copy.bytes} bytes`);
    const summary = `Copied the ${environment} database as of ${taken_at}, and checked the copy:`;
    const value = { environment, taken_at, ...copies };
    progress.clear();
    printReport({ value, text: [summary, ...files].join('\n') }, values.json, output);
  },
});
