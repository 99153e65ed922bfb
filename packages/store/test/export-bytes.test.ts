/** An export of one engine, imported into the other and back, has the same bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isDots } from '../../common/src/text.ts';
import { importInto } from '../../operator/test/ingest/import-into.ts';
import { isLongRun } from '../../testkit/fixtures/lifetime.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import type { Grant, ImportKind, Store } from '../src/port.ts';
import { exported } from './suite/exports.ts';
import { balances, brands, createPartners, inOrder, pastTime, texts, time } from './suite/records.ts';

const ofRun = { minLength: 60, maxLength: 60 };

const grants: fc.Arbitrary<Grant> = fc
  .record({
    id: texts(1),
    partner_id: fc.constant('acme'),
    customer_id: texts(1),
    action: fc.constant('CHECKING_BALANCE' as const),
    status: fc.constantFrom('ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'),
    expires_at: fc.option(time, { nil: undefined }),
    created_at: pastTime,
    updated_at: pastTime,
  })
  .map((grant) => inOrder(JSON.parse(JSON.stringify(grant))));

async function importLines(store: Store, lines: readonly string[], kind: ImportKind) {
  const { written, unchanged, stale, deleted, rejected } = await importInto(store, lines, { kind });
  return { written, unchanged, stale, deleted, rejected };
}

const none = { written: 0, unchanged: 0, stale: 0, deleted: 0, rejected: [] };

interface Identified {
  readonly id: string;
  readonly customer_id?: string;
}

/** Drops ids that are repeated or refused, and sorts as an export does: by the bytes of customer and id. */
function distinct<R extends Identified>(records: readonly R[]): R[] {
  const keyOf = ({ customer_id = '', id }: R) => Buffer.from(`${customer_id}\0${id}`);
  const allowed = records.filter(({ id, customer_id }) => !isDots(id) && !isDots(customer_id));
  const found = new Map(allowed.map((record) => [keyOf(record).toString('hex'), record]));
  return [...found.values()].toSorted((one, other) => Buffer.compare(keyOf(one), keyOf(other)));
}

function roundTrip<R extends Identified>(kind: ImportKind, records: fc.Arbitrary<R[]>): void {
  test(`${kind} move from the embedded database to Postgres and back without a changed byte`, async (t) => {
    const open = (engine: string) =>
      openTestDatabase(t, 'acme', (store) => createPartners(store, 'acme'), engine);
    const databases = [await open('sqlite'), await open('postgres'), await open('sqlite')];
    await fc.assert(
      fc.asyncProperty(records, async (found) => {
        for (const { execute } of databases) await execute(`delete from ${kind}`);
        const lines = distinct(found).map((record) => JSON.stringify(record));
        let given = lines.toReversed();
        for (const { store } of databases) {
          const count = lines.length;
          assert.deepEqual(await importLines(store, given, kind), { ...none, written: count });
          given = await exported(store, kind, 'acme');
          assert.deepEqual(given, lines);
          assert.deepEqual(await importLines(store, given, kind), { ...none, unchanged: count });
          assert.deepEqual(await exported(store, kind, 'acme'), lines);
        }
      }),
      { numRuns: isLongRun ? 8 : 2, endOnFailure: true },
    );
  });
}

roundTrip('brands', fc.array(brands, ofRun));
roundTrip('balances', fc.array(balances, ofRun));
roundTrip('grants', fc.array(grants, ofRun));
