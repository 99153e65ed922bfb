/** Kills imports on their way, on each engine, and looks at what they leave behind. */
import { join } from 'node:path';
import { print, runProgram, wholeRun } from '../bench/lib/program.ts';
import { parseDatabaseUrl } from '../packages/server/src/store/address.ts';
import { openStore } from '../packages/server/src/store/engines.ts';
import { killImports } from '../packages/server/test/ingest/kill-imports.ts';
import { temporaryFolder } from '../packages/testkit/fixtures/folder.ts';
import { startPostgres, withoutOwnServers } from '../packages/testkit/servers/postgres-start.ts';

const help = `Usage: npm run faults:import -- [FLAGS]

Kills an import with SIGKILL at many moments, from its start to its end, on SQLite and on a Postgres of its
own. Ends with status 1 when one leaves a table that is neither as it was nor as the import makes it.

  --kills N   on each engine, 100 unless given
  --rows N    lines of the import, 20,000 unless given
  --help      this text`;

interface Flags {
  readonly kills: number;
  readonly rows: number;
}

/** Rejects where a table is neither. */
async function killOnEach({ kills, rows }: Flags): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  const server = await startPostgres(wholeRun);
  for (const url of [`sqlite:${join(folder, 'faults.db')}`, server.url()]) {
    const purpose = url.startsWith('sqlite:') ? 'create' : 'migrate';
    await (await openStore(parseDatabaseUrl(url)!, 'sandbox', purpose)).close();
    const scene = { url, environment: 'sandbox', folder, kills, rows };
    const { before, after, noticedMs } = await killImports(wholeRun, scene);
    print(
      `${url.split(':')[0]}: ${before + after} imports of ${rows} lines killed; ` +
        `${before} tables as before, ${after} as after, none between; ` +
        `noticed after ${noticedMs.toFixed(0)} ms at the most.`,
    );
  }
  return true;
}

await runProgram({
  help,
  options: { kills: 'value', rows: 'value' },
  readFlags: (given): Flags => ({
    kills: given.wholeNumber('kills', 1, 100_000, 100),
    rows: given.wholeNumber('rows', 1, 10_000_000, 20_000),
  }),
  lackFor: withoutOwnServers,
  run: killOnEach,
});
