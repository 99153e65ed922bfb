/** A database on an engine, and the command line for it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createPartners } from '../../../../store/test/suite/records.ts';
import { temporaryFolder } from '../../../../testkit/fixtures/lifetime.ts';
import { run, type Surroundings, start } from '../../../../testkit/fixtures/run.ts';
import { openTestDatabase } from '../../../../testkit/service/database.ts';
import type { ImportReport } from '../../../src/ingest/import.ts';

export const engines = ['sqlite', 'postgres'] as const;

export async function openLine(t: TestContext, engine: (typeof engines)[number]) {
  const fill = (store: Parameters<typeof createPartners>[0]) => createPartners(store, 'acme', 'zenith');
  const { store, url, execute } = await openTestDatabase(t, 'import commands', fill, engine);
  const folder = temporaryFolder(t);
  const flags = ['--database', url, '--environment', 'sandbox'];
  const here = (name: string) => join(folder, name);
  const runHere = (words: readonly string[], surroundings?: Surroundings) =>
    run([...words, ...flags], { folder, ...surroundings });
  return {
    store,
    url,
    execute,
    folder,
    here,
    run: runHere,
    start: (words: readonly string[]) => start(t, [...words, ...flags], { folder }),
    /** Writes records to a file, one per line. */
    write: (name: string, records: readonly unknown[]): string => {
      const lines = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record)));
      writeFileSync(here(name), lines.map((line) => `${line}\n`).join(''));
      return name;
    },
    lines: (name: string): string[] => readFileSync(here(name), 'utf8').split('\n').slice(0, -1),
    /** An import that must succeed. */
    imported: async (kind: string, file: string, ...more: string[]): Promise<ImportReport> => {
      const { status, stdout, stderr } = await runHere(['import', kind, file, '--json', ...more]);
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout);
    },
    /** All records without the times that an import sets. */
    exported: async (kind: string): Promise<string[]> => {
      const { stdout } = await runHere(['export', kind]);
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.stringify({ ...JSON.parse(line), updated_at: undefined }));
    },
  };
}

export const balance = (id: string, amount: number, more: object = {}) => ({
  customer_id: 'alice',
  id,
  type: 'CHECKING',
  currency: 'USD',
  amount,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
  ...more,
});

export const brand = (partner_id: string, id: string, name: string, more: object = {}) => ({
  partner_id,
  id,
  name,
  reference_id: 'ref',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
  ...more,
});
