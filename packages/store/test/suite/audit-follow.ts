/** A reader of the audit log gets each entry once. */
import assert from 'node:assert/strict';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import type { AuditPosition, Store } from '../../src/port.ts';
import { openWith, type StoreTests } from './records.ts';

/** Reads until nothing more comes. Returns the targets and the position. */
export async function readOn(store: Store, from: AuditPosition, limit = 2) {
  const targets: string[] = [];
  for (let position = from; ; ) {
    const read = await store.followAudit(position, limit);
    targets.push(...pluck(read.entries, 'target'));
    position = read.position;
    if (read.entries.length === 0) return { targets, position };
  }
}

export const auditFollowTests: StoreTests = {
  'a reader gets every entry after its position once, in order': async (open) => {
    const store = await openWith(open, 'before');
    const start = await store.auditPosition(undefined);
    assert.deepEqual((await readOn(store, start)).targets, []);
    for (const target of ['a', 'b', 'c']) await store.addAudit(byTest, target, {});
    const { targets, position } = await readOn(store, start);
    assert.deepEqual(targets, ['a', 'b', 'c']);
    await store.addAudit(byTest, 'd', {});
    assert.deepEqual((await readOn(store, JSON.parse(JSON.stringify(position)))).targets, ['d']);
  },

  'a reader can begin at a time': async (open) => {
    const store = await openWith(open, 'first', 'second');
    const [newest] = await store.listAudit({ limit: 1 });
    const since = new Date(Date.parse(newest!.at) - 3_600_000).toISOString();
    assert.deepEqual((await readOn(store, await store.auditPosition(since))).targets, ['first', 'second']);
    const later = new Date(Date.parse(newest!.at) + 3_600_000).toISOString();
    assert.deepEqual((await readOn(store, await store.auditPosition(later))).targets, []);
  },
};
