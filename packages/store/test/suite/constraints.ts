/** The tables of every engine reject bad values themselves, in case a check in front of them fails. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createdAt } from '../../../testkit/fixtures/fixture.ts';
import { badValues, good, type Row, type Table, type Value } from './rows.ts';

/** A direct connection to a database with the current schema. */
interface RawDatabase {
  /** Runs a statement with parameters $1, $2, … */
  execute(statement: string, ...values: Value[]): Promise<readonly Row[]>;
}

interface Engine {
  open(t: TestContext): Promise<RawDatabase>;
  /** Whether the error is about the row and not about the statement. */
  isRefusal(error: unknown): boolean;
  /** Invalid times that this engine might accept. */
  readonly badTimes: readonly string[];
  /** Values of length 32 that are not bytes. */
  readonly badBytes: readonly Value[];
  /** Statements that would change the audit log in this engine's own ways. */
  readonly tamperings: readonly string[];
}

/** Random text of 4 bytes per character, which no compression can shorten. */
function longest(characters: number): string {
  const codes = Array.from({ length: characters }, () => randomInt(0x10000, 0x110000));
  return codes.map((code) => String.fromCodePoint(code)).join('');
}

export function constraintTests(engine: Engine): void {
  const { isRefusal } = engine;

  async function open(t: TestContext): Promise<RawDatabase> {
    const db = await engine.open(t);
    await insert(db, 'partners');
    return db;
  }

  /** Inserts a valid row with these changes. */
  async function insert(db: RawDatabase, table: Table, given: Row = {}): Promise<void> {
    const row: Row = { ...good[table], ...given };
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    const statement = `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`;
    await db.execute(statement, ...Object.values(row));
  }

  /** Whether the table accepts a bad row. Rolls it back. */
  async function isAccepted(db: RawDatabase, table: Table, row: Row): Promise<boolean> {
    await db.execute('begin');
    try {
      await insert(db, table, row);
      return true;
    } catch (error) {
      assert.ok(isRefusal(error), String(error));
      return false;
    } finally {
      await db.execute('rollback');
    }
  }

  for (const [name, columns] of Object.entries(badValues(engine))) {
    const table = name as Table;
    test(`rejects ${table} with a bad value in any column, and accepts a good row`, async (t) => {
      const db = await open(t);
      const fresh: Row = table === 'partners' ? { id: 'zenith' } : {};
      const accepted: [string, Value][] = [];
      for (const [column, values] of Object.entries(columns)) {
        for (const value of values) {
          if (await isAccepted(db, table, { ...fresh, [column]: value })) accepted.push([column, value]);
        }
      }
      assert.deepEqual(accepted, []);
      await insert(db, table, fresh);
    });
  }

  test('rejects an id that the partner or customer already has, and accepts it under another', async (t) => {
    const db = await open(t);
    await insert(db, 'partners', { id: 'zenith' });
    const others = [
      ['brands', { partner_id: 'zenith' }],
      ['balances', { customer_id: 'zoe' }],
      ['grants', { customer_id: 'zoe' }],
    ] as const;
    for (const [table, other] of others) {
      await insert(db, table);
      await assert.rejects(insert(db, table), isRefusal);
      await insert(db, table, other);
    }
  });

  test('rejects two keys with one digest, and deleting a partner that still has records', async (t) => {
    const db = await open(t);
    for (const table of ['grants', 'brands', 'api_keys'] as const) {
      await insert(db, table);
      await assert.rejects(db.execute(`delete from partners where id = 'acme'`), isRefusal, table);
      // A key cannot be deleted.
      if (table !== 'api_keys') await db.execute(`delete from ${table}`);
    }
    await insert(db, 'admin_keys');
    for (const table of ['api_keys', 'admin_keys'] as const)
      await assert.rejects(insert(db, table, { id: 'k2' }), isRefusal);
  });

  test('rejects bad values in an update as in an insert', async (t) => {
    const db = await open(t);
    await insert(db, 'brands');
    await insert(db, 'balances');
    const updates = [
      ...[`brands set metadata = '{"a":1}'`, `brands set metadata = '[]'`, `brands set color = 'red'`],
      ...[`brands set name = ''`, `brands set name = '\u0001'`, 'balances set amount = 9007199254740992'],
    ];
    for (const update of updates) await assert.rejects(db.execute(`update ${update}`), isRefusal, update);
    await db.execute(`update brands set metadata = '{"a":"1"}', color = '#000000', name = 'New'`);
    const [brand] = await db.execute('select record from brands');
    assert.match(String(brand?.record), /"name":"New".*"a":"1"/);
  });

  test('never changes, deletes or replaces an audit entry', async (t) => {
    const db = await open(t);
    const columns = '(at, actor, action, target, details)';
    const values = `'${createdAt}', 'eve', 'keys revoke', 'KEY_1', '{}'`;
    await db.execute(`insert into audit_log ${columns} values (${values})`);
    const before = await db.execute('select * from audit_log');
    for (const statement of [
      ...[`update audit_log set actor = 'bob'`, 'delete from audit_log'],
      ...engine.tamperings,
    ]) {
      await assert.rejects(db.execute(statement), /entries cannot be/, statement);
      assert.deepEqual(await db.execute('select * from audit_log'), before);
    }
    for (const bad of [values.replace('eve', ''), values.replace('{}', '[]'), values.replace('{}', '{')])
      await assert.rejects(db.execute(`insert into audit_log ${columns} values (${bad})`), isRefusal, bad);
  });

  test('rejects statements that extend a consent or move it, and accepts its end', async (t) => {
    const db = await open(t);
    await insert(db, 'partners', { id: 'zenith' });
    await insert(db, 'grants', { expires_at: createdAt });
    for (const status of ['CONSUMED', 'REVOKED', 'EXPIRED']) {
      await insert(db, 'grants', { id: status, status });
      await assert.rejects(
        db.execute(`update grants set status = 'ACTIVE' where id = '${status}'`),
        /keeps its partner/,
      );
    }
    const changes = [
      ...[`partner_id = 'zenith'`, `id = 'other'`, `customer_id = 'zoe'`],
      ...['expires_at = null', `expires_at = '2026-01-01T00:00:00.001Z'`],
    ];
    for (const change of changes) {
      await assert.rejects(
        db.execute(`update grants set ${change} where id = 'g'`),
        // Citus refuses to move a row to another shard before the trigger can.
        /keeps its partner|modifying the partition value/,
        change,
      );
    }
    await db.execute(
      `update grants set expires_at = '2025-01-01T00:00:00.000Z', status = 'REVOKED' where id = 'g'`,
    );
  });

  /** Columns that a key keeps, of each table of keys. */
  const kept = {
    api_keys: [`partner_id = 'zenith'`, `scopes = 'BALANCES_READ BRANDS_READ'`],
    admin_keys: [`role = 'SUPPORT'`, `created_by = 'bob'`],
  };

  test('rejects statements that give a key more access, or delete it', async (t) => {
    const db = await open(t);
    await insert(db, 'partners', { id: 'zenith' });
    for (const table of ['api_keys', 'admin_keys'] as const) {
      await insert(db, table, { id: 'k', revoked_at: createdAt, expires_at: createdAt });
      const changes = [
        ...['revoked_at = null', `revoked_at = '2026-01-01T00:00:00.001Z'`, `last_four = 'wxyz'`],
        ...['expires_at = null', `expires_at = '2026-01-01T00:00:00.001Z'`, `id = 'other'`],
        ...[`created_at = '2026-01-01T00:00:00.001Z'`, ...kept[table]],
      ];
      const refused = new RegExp(`${table}: a key`);
      for (const change of [...changes.map((each) => `update ${table} set ${each}`), `delete from ${table}`])
        await assert.rejects(db.execute(change), refused, change);
      const otherDigest = new Uint8Array(32).fill(9);
      await assert.rejects(db.execute(`update ${table} set digest = $1`, otherDigest), refused);
      await db.execute(`update ${table} set expires_at = '2025-01-01T00:00:00.000Z', name = 'New'`);
    }
  });

  test('accepts rows at their limits', async (t) => {
    const db = await open(t);
    const first = '0001-01-01T00:00:00.000Z';
    const last = '9999-12-31T23:59:59.999Z';
    const partner_id = longest(128);
    const customer_id = longest(128);
    await insert(db, 'partners', {
      id: partner_id,
      name: longest(1024),
      created_at: first,
      disabled_at: last,
    });
    await insert(db, 'api_keys', { id: longest(128), partner_id, name: longest(1024), expires_at: last });
    await insert(db, 'brands', {
      ...{ partner_id, id: longest(128), name: longest(1024), reference_id: longest(1024) },
      ...{ created_at: first, updated_at: last, color: '#aF09bC', metadata: '{"":""}' },
      profile_image_url: `HTTP://${longest(7_993)}`,
    });
    const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`k${key}`, longest(1024)]));
    await insert(db, 'brands', { metadata: JSON.stringify(fifty) });
    await insert(db, 'brands', { id: 'empty', metadata: '{}', profile_image_url: 'http://x' });
    await insert(db, 'balances', { customer_id, id: longest(256), amount: 9007199254740991n });
    await insert(db, 'balances', { amount: -9007199254740991n, created_at: first });
    await insert(db, 'grants', { partner_id, customer_id, id: longest(256), expires_at: last });
    for (const id of [0, 255]) {
      await db.execute(`delete from cursor_keys where id = ${id}`);
      await insert(db, 'cursor_keys', { id });
    }
  });
}
