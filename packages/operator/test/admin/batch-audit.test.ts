/** Audit entries about batches: the first ones of an hour, and the counts at its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Author } from '../../../store/src/port.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { BatchAudit } from '../../src/admin/batch-audit.ts';

const hourMs = 3_600_000;
const by = (name?: string): Author => ({
  ...{ actor: 'admin-key:K', action: 'batch brands', reason: undefined },
  details: name === undefined ? {} : { on_behalf_of: name },
});

test('the counts of an hour are written at its end, and every name once an hour', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'] });
  const added: [Author, unknown][] = [];
  const addAudit = async (author: Author, _target: string, details: object) => {
    added.push([author, details]);
  };
  const audit = new BatchAudit({ addAudit } as never, watchedLog().log);
  t.after(() => audit.close());
  /** Whether a batch gets an entry of its own. */
  const send = (name?: string, written = 1) => {
    const begun = audit.begin(by(name), 'brands');
    const counts = { written, unchanged: 0, stale: 0, deleted: 0, rejected: 0 };
    audit.count(by(name), 'brands', counts, begun);
    return begun?.details;
  };
  assert.deepEqual([send(undefined, 0), send(), send()], [{}, {}, undefined]);
  assert.deepEqual(
    [send('ann'), send('bob'), send('ann')],
    [{ on_behalf_of: 'ann' }, { on_behalf_of: 'bob' }, undefined],
  );
  t.mock.timers.tick(hourMs - 1);
  assert.equal(added.length, 0);
  t.mock.timers.tick(hourMs / 60);
  const [[author, details] = []] = added;
  assert.deepEqual([added.length, author], [1, by()]);
  const { batches, written, duration_ms } = details as Record<string, number>;
  assert.deepEqual([batches, written], [6, 5]);
  assert.ok(duration_ms! >= hourMs);
  assert.deepEqual(send('ann'), { on_behalf_of: 'ann' }, 'the next hour begins');
});
