/** What the tests of migrations share. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { OperatorError } from '../../../common/src/errors.ts';
import type { Migration } from '../../src/port.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { type Migrations, migrationsIn } from '../../src/sql/schema.ts';

export const ours = migrationsIn(new URL('../../src/postgres/migrations/', import.meta.url));
export const next = ours.current + 1;

/** Our migrations, and one more. */
export function followedBy(script: string): Migrations {
  return { scripts: [...ours.scripts, () => script], current: next };
}

export async function migrateOn(url: string, migrations?: Migrations): Promise<Migration> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await migrate(client, 'sandbox', migrations);
  } finally {
    await client.end();
  }
}

export function isOperatorError(pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof OperatorError, String(error));
    assert.match(error.message, pattern);
    return true;
  };
}
