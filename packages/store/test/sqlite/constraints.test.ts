import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdAt } from '../../../testkit/fixtures/fixture.ts';
import { numbered } from '../../src/sqlite/engine.ts';
import { constraintTests } from '../suite/constraints.ts';
import { good, type Row } from '../suite/rows.ts';
import { connect, copyOf } from './copies.ts';

const columns = '(seq, at, actor, action, target, details)';
const constraint = 19;

constraintTests({
  open: async (t) => {
    const db = connect(t, copyOf(t));
    return { execute: async (statement, ...values) => db.prepare(statement).all(numbered(values)) };
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

const [sooner, later] = ['2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'];

/** For each table: how access of a row ended, and refused changes. For grants also an allowed change. */
const replacements: Readonly<
  Record<'api_keys' | 'admin_keys' | 'grants', { ended: Row; forbidden: readonly Row[]; allowed?: Row }>
> = {
  api_keys: {
    ended: { revoked_at: createdAt, expires_at: createdAt },
    forbidden: [
      ...[{ revoked_at: null }, { revoked_at: later }, { expires_at: null }, { expires_at: later }],
      ...[{ scopes: 'BALANCES_READ BRANDS_READ' }, { partner_id: 'zenith' }, { id: 'other' }],
      ...[{ digest: new Uint8Array(32).fill(9) }, { expires_at: sooner, name: 'New' }, {}],
    ],
  },
  admin_keys: {
    ended: { revoked_at: createdAt, expires_at: createdAt, role: 'VIEWER' },
    forbidden: [
      ...[{ revoked_at: null }, { revoked_at: later }, { expires_at: null }, { expires_at: later }],
      ...[{ role: 'ADMIN' }, { id: 'other' }, { digest: new Uint8Array(32).fill(9) }, { created_by: 'bob' }],
      ...[{ expires_at: sooner, name: 'New' }, {}],
    ],
  },
  grants: {
    ended: { status: 'REVOKED', expires_at: createdAt },
    forbidden: [
      ...[{ status: 'ACTIVE' }, { partner_id: 'zenith' }, { expires_at: null }, { expires_at: later }],
    ],
    allowed: { expires_at: sooner, status: 'CONSUMED' },
  },
};

for (const [table, { ended, forbidden, allowed }] of Object.entries(replacements)) {
  test(`"replace into ${table}" gives no access back`, async (t) => {
    const db = connect(t, copyOf(t));
    for (const id of ['acme', 'zenith']) {
      db.prepare('insert into partners (id, name, created_at) values (?, ?, ?)').run(id, id, createdAt);
    }
    const own: Row = { ...good[table as 'grants'], ...ended };
    const write = (start: string, given: Row) => {
      const row: Row = { ...own, ...given };
      const marks = Object.keys(row).map(() => '?');
      db.prepare(`${start} into ${table} (${Object.keys(row)}) values (${marks})`).run(...Object.values(row));
    };
    const stored = () =>
      db
        .prepare(`select * from ${table}`)
        .all()
        .map((row) => ({ ...row }));
    write('insert', {});
    const before = stored();
    for (const start of ['replace', 'insert or replace']) {
      for (const given of forbidden) {
        assert.throws(() => write(start, given), /never replaced/, JSON.stringify(given));
        assert.deepEqual(stored(), before);
      }
    }
    if (allowed === undefined) return;
    write('replace', {});
    assert.deepEqual(stored(), before);
    write('replace', allowed);
    assert.deepEqual(stored(), [{ ...before[0], ...allowed }]);
  });
}
