import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainBalance, writeBatches } from '../suite/records.ts';
import { importSuite } from '../suite/suite.ts';
import { openCopy } from './copies.ts';

importSuite('imports into the embedded database', openCopy);

test('the table checks the audit entry of an import of one batch and of many', async (t) => {
  const store = await openCopy(t, 'sandbox');
  const audit = {
    actor: '',
    action: 'import balances',
    target: 'balances',
    source: 'file',
    startedMs: 0,
  } as const;
  const batches = ['a', 'b'].map((id) => [plainBalance('alice', id)]);
  for (const some of [batches.slice(0, 1), batches]) {
    const writing = writeBatches(store, 'balances', some, {}, { mode: 'keep', audit });
    await assert.rejects(writing, /CHECK constraint failed: length\(actor\)/);
  }
});
