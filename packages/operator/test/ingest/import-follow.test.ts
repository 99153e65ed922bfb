import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../../common/src/bounds/operator.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { createFeedStatus, followRecords } from '../../src/ingest/follow.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import type { Reading } from '../../src/ingest/lines.ts';
import { gated, openScene } from './follow-scene.ts';
import { brand, reportOf } from './import-into.ts';

test('commits a line without waiting for the next one, and the last one without a line end', async (t) => {
  const { feed, names, follow } = await openScene(t);
  const report = follow();
  for (const count of [1, 2]) {
    await feed.send(brand(count));
    await until(20_000, async () => (await names()).length === count);
  }
  await feed.send(brand(1), '');
  await feed.sendText(JSON.stringify(brand(3)));
  await feed.end();
  assert.deepEqual(await report, reportOf({ read: 4, written: 3, unchanged: 1 }));
  assert.equal((await names()).length, 3);
});

test('reports a bad line at once, skips it, and continues', async (t) => {
  const { feed, rejected, names, follow } = await openScene(t);
  const report = follow();
  await feed.send(brand(1), 'nonsense', '', { ...brand(2), color: 'alice@example.com' });
  await until(20_000, () => rejected.length === 2);
  await feed.send(brand(3));
  await feed.end();
  const { read, written, rejected_count, rejected: reported } = await report;
  assert.deepEqual([read, written, rejected_count], [4, 2, 2]);
  assert.deepEqual(
    rejected.map(([line, errors]) => [line, errors[0]?.field, errors[0]?.code]),
    [
      [2, undefined, 'INVALID_JSON'],
      [4, 'color', 'INVALID_COLOR'],
    ],
  );
  assert.deepEqual(
    reported,
    rejected.map(([line, errors]) => ({ line, errors })),
  );
  assert.doesNotMatch(JSON.stringify(rejected), /alice/);
  assert.equal((await names()).length, 2);
});

test('stops reading while the database is slower than the feed', async (t) => {
  const { database, options } = await openScene(t);
  const { slow, asked, open } = gated(database.store);
  let sent = 0;
  async function* flood(): AsyncGenerator<readonly Reading[]> {
    while (sent < ingestBounds.importBatchRecords * 5) {
      sent += 1;
      yield [{ line: sent, value: brand(sent) }];
    }
  }
  const report = followRecords(slow, flood(), options);
  await asked;
  await new Promise((resolve) => setTimeout(resolve, ingestBounds.followCommitMs * 2));
  assert.equal(sent, ingestBounds.importBatchRecords);
  open();
  assert.equal((await report).written, sent);
});

test('the lag of lines that wait for their commit grows', async (t) => {
  const { database, feed, options } = await openScene(t);
  const { slow, asked, open } = gated(database.store);
  const status = createFeedStatus();
  const report = followRecords(slow, readJsonLines(feed.chunks), { ...options, status });
  await feed.send({ ...brand(1), updated_at: new Date(Date.now() - 60_000).toISOString() });
  await asked;
  const before = status.lagMs();
  assert.ok(before >= 60_000);
  await until(20_000, () => status.lagMs() > before);
  open();
  await feed.end();
  await report;
  assert.ok(status.lagMs() > before);
});

test('commits lines that came during a commit, also if the feed ends before it is done', async (t) => {
  const { database, feed, options, names } = await openScene(t);
  const { slow, asked, open } = gated(database.store);
  const report = followRecords(slow, readJsonLines(feed.chunks), options);
  await feed.send(brand(1));
  await asked;
  await feed.send(brand(2));
  await feed.end();
  open();
  assert.equal((await report).written, 2);
  assert.equal((await names()).length, 2);
});

test('commits the lines before a feed breaks, and says which lines are written', async (t) => {
  const { feed, names, follow } = await openScene(t);
  const failed = assert.rejects(follow(), /the queue is gone Lines up to 2 were written\./);
  await feed.send(brand(1), brand(2));
  await feed.fail(new Error('the queue is gone'));
  await failed;
  assert.equal((await names()).length, 2);
});
