import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../../../common/src/errors.ts';
import type { Store } from '../../src/port.ts';
import { accountTests } from './accounts.ts';
import { auditTests } from './audit.ts';
import { auditFollowTests } from './audit-follow.ts';
import { cursorKeyTests } from './cursor-keys.ts';
import { exportTests } from './exports.ts';
import { importTests } from './imports.ts';
import { keyTests } from './keys.ts';
import { newestTests } from './newest.ts';
import { orderTests } from './order.ts';
import { pageTests } from './pages.ts';
import { receiptTests } from './receipts.ts';
import type { StoreTests } from './records.ts';
import { usageTests } from './usage.ts';

/** Opens the test's database. Called again in the same test, it opens the same database once more. */
export type OpenStore = (t: TestContext, environment: Environment) => Promise<Store>;

/** The promises about opening. The database does not exist yet, or is empty. */
export function openingSuite(name: string, open: OpenStore): void {
  suiteOf(name, open, openingTests);
}

/** The promises of every engine, except those of opening and of imports. */
export function storeSuite(name: string, open: OpenStore): void {
  suiteOf(name, open, {
    ...pageTests,
    ...accountTests,
    ...keyTests,
    ...cursorKeyTests,
    ...exportTests,
    ...receiptTests,
    ...usageTests,
    ...auditTests,
    ...auditFollowTests,
  });
}

/** The promises of imports. `npm run check -- mutate` runs them alone, for every change. */
export function importSuite(name: string, open: OpenStore): void {
  suiteOf(name, open, { ...importTests, ...newestTests, ...orderTests });
}

function suiteOf(name: string, open: OpenStore, tests: StoreTests): void {
  describe(name, () => {
    for (const [promise, keep] of Object.entries(tests)) {
      test(promise, (t) => keep((environment = 'sandbox') => open(t, environment)));
    }
  });
}

const openingTests: StoreTests = {
  'brings a new database to the current schema, and leaves it unchanged the next time': async (open) => {
    const first = await open();
    await first.ping();
    assert.equal(first.migration.from, 0);
    assert.ok(first.migration.to > 0);
    const { from, to } = (await open()).migration;
    assert.deepEqual({ from, to }, { from: first.migration.to, to: first.migration.to });
  },

  'cannot be opened as the other environment, and says which one it is': async (open) => {
    for (const store of [await open(), await open('sandbox')]) assert.equal(store.environment, 'sandbox');
    await assert.rejects(
      open('production'),
      (error) => error instanceof OperatorError && /--environment sandbox/.test(error.message),
    );
  },

  'returns the same cursor keys from every open store': async (open) => {
    const keys = await (await open()).cursorKeys();
    assert.ok(keys.length > 0);
    for (const { id, secret } of keys) {
      assert.ok(Number.isInteger(id) && id >= 0 && id <= 255);
      assert.equal(secret.length, 32);
    }
    assert.deepEqual(await (await open()).cursorKeys(), keys);
  },
};
