/** What requests read in one turn of the event loop is one snapshot. */

import assert from 'node:assert/strict';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { createReads } from '../../src/sqlite/reads.ts';
import { createPartners, plainBalance, writeRows } from '../suite/records.ts';
import { connect, copyOf, openCopy } from './copies.ts';

const at = '2026-06-01T12:00:00.000Z';
const times = { created_at: at, updated_at: at };
const grant = { customer_id: 'alice', id: 'g', partner_id: 'acme', action: 'CHECKING_BALANCE', ...times };
const query = { partnerId: 'acme', customerId: 'alice', type: 'CHECKING', at, after: '', limit: 9 };

/** A connection that calls back before it reads a page of balances. */
class PausingDatabase extends DatabaseSync {
  beforePage = () => {};

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (!/from balances\b/.test(sql)) return statement;
    const read: (...values: SQLInputValue[]) => unknown = statement.get.bind(statement);
    const get = (...values: SQLInputValue[]) => {
      this.beforePage();
      return read(...values);
    };
    return Object.assign(statement, { get });
  }
}

for (const grantId of ['g', undefined]) {
  test(`no balance is shown from after a revocation, grant_id ${grantId}`, async (t) => {
    const store = await openCopy(t, 'sandbox');
    await createPartners(store, 'acme');
    await writeRows(store, 'grants', [{ ...grant, status: 'ACTIVE' }]);
    await writeRows(store, 'balances', [plainBalance('alice', 'before')]);
    const writer = connect(t, copyOf(t));
    const db = new PausingDatabase(copyOf(t));
    t.after(() => db.close());
    const reads = createReads(db);

    db.beforePage = () =>
      writer.exec(`
        begin;
        update grants set status = 'REVOKED', updated_at = '${at}';
        update balances set id = 'after';
        commit`);
    const answer = await reads.listBalances({ ...query, grantId });
    assert.ok('page' in answer);
    assert.match(answer.page.records, /"id":"before"/);
    assert.doesNotMatch(answer.page.records, /"id":"after"/);
    await nextTurn();
    const standing = grantId === undefined ? 'NOT_FOUND' : 'REVOKED';
    assert.deepEqual(await reads.listBalances({ ...query, grantId }), { grant: standing });
  });
}

test('a change in the turn of a read is committed, and the next read sees it', async (t) => {
  const store = await openCopy(t, 'sandbox');
  await createPartners(store, 'acme');
  await writeRows(store, 'balances', [plainBalance('alice', 'b')]);
  assert.deepEqual(await store.listBalances({ ...query, grantId: 'g' }), { grant: 'NOT_FOUND' });
  await writeRows(store, 'grants', [{ ...grant, status: 'ACTIVE' }]);
  assert.equal((await store.listBalances({ ...query, grantId: 'g' })).grant, 'ACTIVE');
  await store.revokeGrant('alice', 'g', at, byTest);
  assert.deepEqual(await store.listBalances({ ...query, grantId: 'g' }), { grant: 'REVOKED' });
  const other = connect(t, copyOf(t)).prepare('select status from grants');
  assert.equal(other.get()?.status, 'REVOKED');
});
