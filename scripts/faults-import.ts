/**
 * Kills an import with SIGKILL at a hundred moments, from its start to its end, on each engine; fails when
 * one leaves a table that is neither as it was nor as the import makes it. `--kills N` and `--rows N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore, parseDatabaseUrl } from '../packages/server/src/store/open.ts';
import { killImports } from '../packages/server/test/ingest/kill-imports.ts';
import { openLifetime } from '../packages/server/test/support/lifetime.ts';
import { startPostgres } from '../packages/server/test/support/postgres-start.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, rows: { type: 'string', default: '20000' } },
});
const counts = { kills: Number(values.kills), rows: Number(values.rows) };
if (!(counts.kills > 0 && counts.rows > 0)) throw new Error('--kills and --rows must be numbers above 0.');

const folder = mkdtempSync(join(tmpdir(), 'partner-network-faults-'));
await using lifetime = openLifetime();
lifetime.after(() => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => lifetime[Symbol.asyncDispose]().finally(() => process.exit(1)));

const server = await startPostgres(lifetime);
for (const url of [`sqlite:${join(folder, 'faults.db')}`, server.url()]) {
  const purpose = url.startsWith('sqlite:') ? 'create' : 'migrate';
  await (await openStore(parseDatabaseUrl(url)!, 'sandbox', purpose)).close();
  const { before, after, noticedMs } = await killImports({
    url,
    environment: 'sandbox',
    folder,
    ...counts,
  });
  process.stdout.write(
    `${url.split(':')[0]}: ${before + after} imports of ${counts.rows} lines killed; ` +
      `${before} tables as before, ${after} as after, none between; ` +
      `noticed after ${noticedMs.toFixed(0)} ms at the most.\n`,
  );
}
