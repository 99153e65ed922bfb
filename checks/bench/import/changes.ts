/** Imports of records that exist: changes, an undo file and its use, and deletions with old statistics. */
import { createWriteStream, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { onConnection } from '../../../packages/testkit/servers/postgres-start.ts';
import { say, wholeRun } from '../../lib/program.ts';
import type { Measurement } from '../lib/report.ts';
import { type Engine, newDatabase, outputOf } from '../lib/service.ts';

/** These steps may take at most 1.5 times as long as another one. */
const atMost = 1.5;
const comparedWith: Readonly<Record<string, string>> = {
  'changed, with an undo file': 'changed',
  'taken back': 'changed',
  'deleted, with old statistics': 'deleted, with current statistics',
};

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

export async function measureChanges(engine: Engine, rows: number, rounds: number): Promise<Measurement[]> {
  const { url } = await newDatabase(engine, { autovacuum: 'off', fsync: 'on' });
  const folder = temporaryFolder(wholeRun);
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
    for (const path of globSync(`${url.slice('sqlite:'.length)}*`)) rmSync(path);
    await outputOf(executable, ['migrate', '--database', url]);
    const tables = 'truncate balances; truncate deleted_balances';
    if (engine === 'postgres') await onConnection(url, (client) => client.query(tables));
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
    if (engine === 'sqlite') continue;
    // Postgres has statistics of one customer, and estimates one row for any other.
    await analyze();
    await step('new', file('b', 'first'));
    await step('deleted, with old statistics', file('b', 'deleted'));
    await startAgain();
    await step('new', file('b', 'first'));
    await analyze();
    await step('deleted, with current statistics', file('b', 'deleted'));
  }
  const named = (name: string) => `${engine}: ${name}`;
  return Object.entries(seconds).map(([name, figures]) => {
    const other = comparedWith[name];
    return { name: named(name), figures, unit: 's', ...(other && { over: named(other), atMost }) };
  });
}
