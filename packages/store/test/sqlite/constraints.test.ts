import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { constraintTests } from '../suite/constraints.ts';

const columns = '(seq, at, actor, action, target, details)';
const constraint = 19;

constraintTests({
  open: async (t) => {
    const path = join(temporaryFolder(t), 'test.db');
    await openSqlite(path, 'sandbox', 'create').close();
    const db = new DatabaseSync(path);
    t.after(() => db.close());
    return {
      execute: async (statement, ...values) => {
        const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
        return db.prepare(statement).all(named);
      },
    };
  },
  // Invalid JSON and the time "now" fail before the constraint is checked.
  isRefusal: (error) =>
    ((error as { errcode?: number }).errcode ?? 0) % 256 === constraint ||
    /malformed JSON|non-deterministic/.test(String(error)),
  // Times are stored as text, so every other notation must be rejected, too.
  badTimes: [
    ...['', 'now', 'garbage', 'infinity', '2461041.5', 'x2026-01-01T00:00:00.000Z'],
    ...['2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 00:00:00.000Z', '2026-01-01T00:00:00.0000Z'],
    ...['2026-01-01T00:00:00.000+00:00', '2026-04-31T00:00:00.000Z', '2026-13-01T00:00:00.000Z'],
    ...['2026-01-01T24:00:00.000Z', '10000-01-01T00:00:00.000Z', '-001-01-01T00:00:00.000Z'],
  ],
  badBytes: ['x'.repeat(32)],
  tamperings: [
    ...['insert or replace into', 'replace into'].map(
      (start) =>
        `${start} audit_log ${columns}
          select seq, at, 'bob', action, target, details from audit_log`,
    ),
    `update or replace audit_log set actor = 'bob'`,
    'update audit_log set seq = 7',
    `insert into audit_log ${columns}
      select seq, at, 'bob', action, target, details from audit_log where true
      on conflict (seq) do update set actor = 'bob'`,
  ],
});
