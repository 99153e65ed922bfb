/** Compares the speed of an import with the engine's bulk path, which checks nothing, and its memory. */
import { flag, oneOf, optional, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { runProgram, withDefault } from '../../lib/program.ts';
import { type Measurement, report } from '../lib/report.ts';
import { engines } from '../lib/service.ts';
import { measureChanges } from './changes.ts';
import { orders } from './data.ts';
import { goals, measureImports, ways } from './measure.ts';

const about = `
Makes a file of balances, loads it into each engine in two ways in turn, and prints the median rates:
  bare      the engine's own bulk path (Postgres: COPY from psql; SQLite: prepared inserts in one
            transaction) into a table with the same columns and key, and no checks
  imported  "partner-network import" with all checks, including the start of its process
Rows come in the order of the table's key (sorted), which is best for bulk paths, and in another order
(scattered). Ends with status 1 if an import is slower than half of the bare bulk path, or its process
takes more than ${goals.megabytes} MB.

With --changes it measures other imports of the same number of balances instead: changes, the same with an
undo file, the import of that file, and on Postgres deletions with old and with current statistics. Ends with
status 1 if an undo file or old statistics take more than 1.5 times as long.`;

await runProgram({
  usage: 'npm run bench -- import',
  about,
  options: {
    rows: withDefault('N', wholeNumber(1, 999_999_999), 1_000_000, 'balances in the file'),
    rounds: withDefault('N', wholeNumber(1, 1_000), 3, 'rounds of each way'),
    engine: optional('NAME', oneOf(engines), 'only sqlite or postgres'),
    order: optional('NAME', oneOf(orders), `only ${orders.join(' or ')}`),
    memory: flag('only the import, once each, to measure its memory'),
    changes: flag('only imports of records that exist'),
  },
  missing: ({ engine }) => engine !== 'sqlite' && withoutOwnServers(),
  run: async ({ rows, rounds, engine, order, memory, changes }) => {
    const chosen = engine === undefined ? engines : [engine];
    const measured: Measurement[] = [];
    if (changes) {
      for (const one of chosen) measured.push(...(await measureChanges(one, rows, rounds)));
      return report(measured);
    }
    return report(
      await measureImports({
        rows,
        rounds: memory ? 1 : rounds,
        engines: chosen,
        orders: order === undefined ? orders : [order],
        ways: memory ? ['imported'] : ways,
      }),
    );
  },
});
