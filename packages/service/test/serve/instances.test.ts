import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { serveBounds } from '../../../common/src/bounds/service.ts';
import { migratedDatabase, openServing } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { warnOfInstances } from '../../src/serve/run.ts';

test('Postgres counts other instances, whatever their connections, and not the own workers', async (t) => {
  const url = await migratedDatabase(t);
  const [one] = await Promise.all(['a', 'a'].map((instance) => openServing(t, url, { instance })));
  assert.equal(await one!.otherInstances!(), 0);
  await openServing(t, url, { instance: 'b' });
  assert.equal(await one!.otherInstances!(), 1);
});

test('warns at once and every hour while another instance limits rates alone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { log, lines } = watchedLog();
  const found = [1, 0, 'unreachable', 2, 3];
  const stop = warnOfInstances(
    {
      otherInstances: async () => {
        const count = found.shift();
        if (typeof count !== 'number') throw new Error(count);
        return count;
      },
    },
    log,
  );
  const counts = () => lines().map(({ level, other_instances }) => [level, other_instances]);
  await nextTurn();
  assert.deepEqual(counts(), [[40, 1]]);
  for (let hour = 0; hour < 3; hour += 1) {
    t.mock.timers.tick(serveBounds.instancesWarningMs);
    await nextTurn();
  }
  assert.deepEqual(counts(), [
    [40, 1],
    [40, 2],
  ]);
  stop();
  t.mock.timers.tick(serveBounds.instancesWarningMs);
  await nextTurn();
  assert.deepEqual(found, [3]);
});
