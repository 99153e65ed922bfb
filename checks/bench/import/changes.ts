/** Imports of records that exist: changes, an undo file and its use, and deletions with old statistics. */
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { onConnection, startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { say, wholeRun } from '../../lib/program.ts';
import { outputOf } from '../lib/processes.ts';
import type { Engine } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';

/** An import with an undo file, and the import of that file, take at most this share of the import alone. */
export const mostUndoShare = 1.5;
/** The same for deletions with old statistics, compared with current ones. */
export const mostOldShare = 1.5;

const owners = ['a', 'b'] as const;
type Owner = (typeof owners)[number];
type Content = 'first' | 'changed' | 'deleted';

function* balances(owner: Owner, content: Content, rows: number): Generator<string> {
  const at = { first: '2026-01-01T00:00:00.000Z', changed: '2026-01-02T00:00:00.000Z' };
  for (let index = 0; index < rows; index += 1) {
    const key = { customer_id: owner, id: `BAL_${String(index).padStart(12, '0')}` };
    const line =
      content === 'deleted'
        ? { ...key, deleted_at: '2026-01-03T00:00:00.000Z' }
        : {
            ...key,
            type: 'CHECKING',
            currency: 'USD',
            amount: content === 'first' ? index : index + 1,
            created_at: at.first,
            updated_at: at[content],
          };
    yield `${JSON.stringify(line)}\n`;
  }
}

/** The median seconds of each step. */
type Steps = Readonly<Record<string, number>>;

export async function measureChanges(engine: Engine, rows: number, rounds: number): Promise<Steps> {
  const folder = temporaryFolder(wholeRun);
  const server =
    engine === 'postgres' ? await startPostgres(wholeRun, { autovacuum: 'off', fsync: 'on' }) : undefined;
  const url = server?.url() ?? `sqlite:${join(folder, 'bench.db')}`;
  const file = (owner: Owner, content: Content) => join(folder, `${owner}-${content}.jsonl`);
  for (const owner of owners) {
    for (const content of ['first', 'changed', 'deleted'] as const)
      await pipeline(balances(owner, content, rows), createWriteStream(file(owner, content)));
  }
  const undo = join(folder, 'undo.jsonl');
  const seconds: Record<string, number[]> = {};

  async function step(name: string, path: string, ...flags: string[]): Promise<void> {
    const startedMs = performance.now();
    await outputOf(executable, ['import', 'balances', path, '--database', url, ...flags]);
    const took = (performance.now() - startedMs) / 1_000;
    seconds[name] = [...(seconds[name] ?? []), took];
    say(`${engine}, ${name}: ${took.toFixed(1)} s`);
  }

  async function startAgain(): Promise<void> {
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `bench.db${suffix}`), { force: true });
    await outputOf(executable, ['migrate', '--database', url]);
    const tables = 'truncate balances; truncate deleted_balances';
    if (server !== undefined) await onConnection(url, (client) => client.query(tables));
  }

  const analyze = () => onConnection(url, (client) => client.query('analyze'));

  for (let round = 0; round < rounds; round += 1) {
    await startAgain();
    await step('new', file('a', 'first'));
    await step('changed', file('a', 'changed'));
    await startAgain();
    await step('new', file('a', 'first'));
    rmSync(undo, { force: true });
    await step('changed, with an undo file', file('a', 'changed'), '--undo-file', undo);
    await step('taken back', undo, '--overwrite');
    if (server === undefined) continue;
    // Postgres has statistics of one customer, and estimates one row for any other.
    await analyze();
    await step('new', file('b', 'first'));
    await step('deleted, with old statistics', file('b', 'deleted'));
    await startAgain();
    await step('new', file('b', 'first'));
    await analyze();
    await step('deleted, with current statistics', file('b', 'deleted'));
  }
  return Object.fromEntries(Object.entries(seconds).map(([name, times]) => [name, median(times)]));
}
