/** Cursors on real instances while their key is rotated. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { toTime } from '../../../common/src/times.ts';
import { parseDatabaseUrl } from '../../../store/src/address.ts';
import { openTestDatabase, serveOptions, type TestDatabase } from '../../../testkit/fixtures/database.ts';
import { byTest, fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { type Answer, createCaller } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { keepCursorKeys, watchedLog } from '../../../testkit/watch/logs.ts';
import { createCursors } from '../../src/cursors/cursors.ts';
import { openService } from '../../src/serve/service.ts';

const hour = 3_600_000;
const scope = { endpoint: 'listBrands', partnerId: 'acme', filters: [undefined] };
const position = { after: 'b1', walPosition: 0n };

interface Instance {
  page(cursor?: string): Promise<Answer>;
  stop(): Promise<void>;
}

/** An instance as `serve` starts it, with its own database connections. */
async function startInstance(t: TestContext, { url, store }: TestDatabase): Promise<Instance> {
  keepCursorKeys(await store.cursorKeys());
  const { log } = watchedLog();
  const opened = new AsyncDisposableStack();
  const { address } = await openService(
    {
      environment: 'sandbox',
      database: parseDatabaseUrl(url)!,
      storeOptions: serveOptions,
      listener: { host: '127.0.0.1', port: 0 },
      publicUrl: undefined,
      rates: {},
      redis: undefined,
      instances: 1,
      tracing: undefined,
      logLevel: 'silent',
    },
    log,
    opened,
  );
  const caller = createCaller(Number(new URL(address).port));
  let stopped: Promise<void> | undefined;
  const stop = () => {
    caller.disconnect();
    stopped ??= opened.disposeAsync();
    return stopped;
  };
  t.after(stop);
  const query = (cursor?: string) => `?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`;
  return { page: (cursor) => caller.brands(query(cursor), { key: keys.acme }), stop };
}

async function cursorOf(instance: Instance, before?: string): Promise<string> {
  const { status, text } = await instance.page(before);
  assert.equal(status, 200, text);
  return JSON.parse(text).cursor;
}

const keyOf = (cursor: string) => Buffer.from(cursor, 'base64url')[0];

/** Makes the keys older by this number of hours. */
async function age({ execute, store }: TestDatabase, hours: number): Promise<void> {
  for (const { id, created_at } of await store.cursorKeys()) {
    const earlier = toTime(Date.parse(created_at) - hours * hour);
    await execute('update cursor_keys set created_at = $1 where id = $2', earlier, id);
  }
}

for (const [engine, ids] of [
  ['sqlite', [1]],
  ['postgres', [1, 2]],
] as const) {
  test(`a cursor of one instance works on the other at each moment of a rotation (${engine})`, async (t) => {
    const database = await openTestDatabase(t, 'fixture', fillFixture, engine);
    await age(database, 48);
    const instances = await Promise.all([startInstance(t, database), startInstance(t, database)]);
    const ofBefore = await cursorOf(instances[0]!);
    let isOver = false;
    let walks = 0;
    /** The ids of the keys that each instance has sealed with, in order. */
    const sealedWith = instances.map(() => [0]);

    async function walk(): Promise<void> {
      while (!isOver) {
        let cursor: string | undefined;
        for (const turn of [walks % 2, (walks + 1) % 2, walks % 2]) {
          const { status, text } = await instances[turn]!.page(cursor);
          // On a machine that stalls for seconds, an instance may answer 503: its keys are stale.
          if (status === 503) break;
          assert.equal(status, 200, text);
          cursor = JSON.parse(text).cursor;
          if (cursor !== undefined) sealedWith[turn]!.push(keyOf(cursor)!);
        }
        walks += 1;
        // Some fifty walks a second meet every moment, and leave CPU to the other tests.
        await wait(15);
      }
    }

    const walker = walk().finally(() => (isOver = true));
    const sealsEverywhere = (id: number) =>
      until(20_000, () => isOver || sealedWith.every((ids) => ids.at(-1) === id));

    for (const id of ids) {
      const { key } = await database.store.rotateCursorKey('keep', byTest);
      keepCursorKeys([key]);
      const sealed = createCursors([key], 'sandbox', Date.now).seal(scope, position);
      for (const { page } of instances) await until(20_000, async () => (await page(sealed)).status === 200);
      assert.ok(!sealedWith.flat().includes(id), 'it seals before the other instance has it');
      // Now it is old enough to seal. Each instance notices at its next reading.
      await age(database, 2);
      await sealsEverywhere(id);
    }
    isOver = true;
    await walker;

    await instances[0]!.stop();
    instances[0] = await startInstance(t, database);
    for (const instance of instances) assert.equal(keyOf(await cursorOf(instance, ofBefore)), ids.at(-1));
  });

  test(`a discarded key soon opens nothing on any instance (${engine})`, async (t) => {
    const database = await openTestDatabase(t, 'fixture', fillFixture, engine);
    const instances = await Promise.all([startInstance(t, database), startInstance(t, database)]);
    const cursor = await cursorOf(instances[0]!);
    keepCursorKeys([(await database.store.rotateCursorKey('discard', byTest)).key]);
    for (const instance of instances) {
      await until(5_000, async () => (await instance.page(cursor)).text.includes('INVALID_CURSOR'));
    }
    const next = await cursorOf(instances[0]!);
    assert.equal(keyOf(next), 1);
    assert.equal((await instances[1]!.page(next)).status, 200);
  });
}
