/** Kills imports at many moments, on each engine, and checks what they leave behind. */
import { join } from 'node:path';
import { wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { killImports } from '../../packages/operator/test/ingest/kill-imports.ts';
import { parseDatabaseUrl } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, wholeRun, withDefault } from '../lib/program.ts';

const about = `
Kills an import with SIGKILL at many moments, from its start to its end, on SQLite and on a Postgres of its
own. The import writes and deletes; a second round runs it with --delete-missing. Ends with status 1 if
records and remembered deletions equal neither those before the import nor those after it.`;

/** Rejects if a table is neither as before nor as after. */
async function killOnEach(kills: number, rows: number): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  const server = await startPostgres(wholeRun);
  for (const url of [`sqlite:${join(folder, 'faults.db')}`, server.url()]) {
    await (await openStore(parseDatabaseUrl(url)!, 'sandbox', 'migrate')).close();
    for (const deletesMissing of [false, true]) {
      const scene = { url, environment: 'sandbox', folder, kills, rows, deletesMissing };
      const { before, after, noticedMs } = await killImports(wholeRun, scene);
      print(
        `${url.split(':')[0]}: ${before + after} imports of ${rows} lines ` +
          `${deletesMissing ? 'with --delete-missing ' : ''}killed; ` +
          `${before} tables unchanged, ${after} completely written, none partly written; ` +
          `noticed after at most ${noticedMs.toFixed(0)} ms.`,
      );
    }
  }
  return true;
}

await runProgram({
  usage: 'npm run check -- faults-import',
  about,
  options: {
    kills: withDefault('N', wholeNumber(1, 100_000), 100, 'kills in each round'),
    rows: withDefault('N', wholeNumber(1, 10_000_000), 20_000, 'lines of the import'),
  },
  missing: withoutOwnServers,
  run: ({ kills, rows }) => killOnEach(kills, rows),
});
