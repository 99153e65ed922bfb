/** How a process reads the cursor keys, and which cursors open in the days after a rotation. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cursorsBounds } from '../../../common/src/bounds/service.ts';
import { toTime } from '../../../common/src/times.ts';
import { type CursorKey, StoreUnavailable } from '../../../store/src/port.ts';
import { livingKeys, type StoredCursorKey } from '../../../store/src/sql/cursor-keys.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createCursors, openCursors } from '../../src/cursors.ts';

const hour = 3_600_000;
const day = 24 * hour;
const scope = { endpoint: 'listBrands', partnerId: 'acme', filters: [undefined] };
const position = { after: 'b1', walPosition: 0n };
const refused = { status: 400 };

const { log: silent } = watchedLog();

function storeOf(read: () => Promise<readonly CursorKey[]>) {
  return { environment: 'sandbox', cursorKeys: read } as const;
}

test('cursors from before a rotation work until they expire, and then their key opens nothing', async (t) => {
  let now = Date.parse('2026-06-01T00:00:00Z');
  const key = (id: number, ms: number): StoredCursorKey => {
    return { id, secret: new Uint8Array(32).fill(id), created_at: toTime(ms) };
  };
  const stored = [key(0, now - 48 * hour)];
  const store = storeOf(async () => livingKeys(stored, now));
  const cursors = await openCursors(store, () => now, silent);
  t.after(cursors.close);
  const before = cursors.seal(scope, position);
  stored.unshift(key(1, now));

  // The time counts, not when the instance read the keys.
  const rotated = livingKeys(stored, now);
  now += day - 1;
  const running = createCursors(
    () => rotated,
    'sandbox',
    () => now,
  );
  assert.deepEqual(running.open(scope, before), position);
  now += 1;
  assert.throws(() => running.open(scope, before), refused);

  // With a stolen old key, an attacker can make a cursor.
  const forged = createCursors(
    () => [stored[1]!],
    'sandbox',
    () => now,
  ).seal(scope, position);
  assert.deepEqual(running.open(scope, forged), position);
  now += cursorsBounds.keySettleMs + 60_000 - 1;
  assert.deepEqual(running.open(scope, forged), position);
  now += 1;
  assert.throws(() => running.open(scope, forged), refused);
});

/** Cursors that read their keys from `stage`, with a clock that only `pass` moves. */
async function onStage(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, lines } = watchedLog();
  const stage = { keys: [keyOf(3)], elapsed: 1_000_000, takesMs: 0, isAway: false, reads: 0 };
  const read = async () => {
    stage.reads += 1;
    stage.elapsed += stage.takesMs;
    if (stage.isAway) throw new Error('away');
    return stage.keys;
  };
  const cursors = await openCursors(storeOf(read), Date.now, log, () => stage.elapsed);
  t.after(cursors.close);
  const pass = async (ms: number) => {
    stage.elapsed += ms;
    t.mock.timers.tick(ms);
    await new Promise(setImmediate);
  };
  return { stage, cursors, pass, lines };
}

function keyOf(id: number): CursorKey {
  return { id, secret: new Uint8Array(32).fill(id), created_at: toTime(0), status: 'sealing' };
}

test('an instance that cannot read the keys works for 5 s, then answers 503 until it can', async (t) => {
  const { stage, cursors, pass, lines } = await onStage(t);
  const logged = () => lines().map(({ level, msg, err }) => [level, msg, err?.message]);
  await pass(cursorsBounds.keysReadMs);
  assert.equal(stage.reads, 2);
  stage.isAway = true;
  await pass(cursorsBounds.keysReadMs);
  stage.elapsed += cursorsBounds.keysStaleMs - cursorsBounds.keysReadMs - 1;
  const cursor = cursors.seal(scope, position);
  assert.deepEqual(cursors.open(scope, cursor), position);
  assert.deepEqual(logged(), []);

  stage.elapsed += 1;
  assert.throws(() => cursors.seal(scope, position), StoreUnavailable);
  assert.throws(() => cursors.open(scope, cursor), StoreUnavailable);
  assert.throws(() => cursors.open(scope, cursor), /cursor keys could not be read in time/);
  for (let tries = 0; tries < 3; tries += 1) await pass(cursorsBounds.keysRetryMs);
  assert.equal(stage.reads, 6);
  const away = [50, 'the cursor keys cannot be read; requests that need a cursor get 503', 'away'];
  assert.deepEqual(logged(), [away]);

  stage.isAway = false;
  await pass(cursorsBounds.keysRetryMs);
  assert.deepEqual(cursors.open(scope, cursor), position);
  const again = [40, 'the cursor keys can be read again', undefined];
  assert.deepEqual(logged(), [away, again]);
  await pass(cursorsBounds.keysReadMs);
  assert.deepEqual(logged(), [away, again], 'once');

  stage.isAway = true;
  stage.elapsed += cursorsBounds.keysStaleMs;
  await pass(cursorsBounds.keysReadMs);
  assert.deepEqual(logged(), [away, again, away], 'and in the next outage, too');
});

test('the latest keys seal and open, and the log says when another key seals', async (t) => {
  const { stage, cursors, pass, lines } = await onStage(t);
  const before = cursors.seal(scope, position);
  stage.keys = [keyOf(4), keyOf(3)];
  await pass(cursorsBounds.keysReadMs);
  const after = cursors.seal(scope, position);
  assert.equal(Buffer.from(after, 'base64url')[0], 4);
  for (const cursor of [before, after]) assert.deepEqual(cursors.open(scope, cursor), position);

  stage.keys = [keyOf(4)];
  await pass(cursorsBounds.keysReadMs);
  assert.throws(() => cursors.open(scope, before), refused);
  assert.deepEqual(cursors.open(scope, after), position);
  assert.deepEqual(
    lines().map(({ level, msg, cursor_key }) => [level, msg, cursor_key]),
    [[30, 'cursors are now sealed with another key', 4]],
  );
});

test('a reading is as old as its query, not as its result', async (t) => {
  const { stage, cursors, pass } = await onStage(t);
  stage.takesMs = cursorsBounds.keysStaleMs - 1;
  await pass(cursorsBounds.keysReadMs);
  cursors.seal(scope, position);
  stage.elapsed += 1;
  assert.throws(() => cursors.seal(scope, position), StoreUnavailable);
});

test('after close nothing is read, even if a reading was running', async (t) => {
  const { stage, cursors, pass } = await onStage(t);
  cursors.close();
  await pass(10 * cursorsBounds.keysReadMs);
  assert.equal(stage.reads, 1);

  const answer = Promise.withResolvers<CursorKey[]>();
  let reads = 0;
  const read = async () => {
    reads += 1;
    return reads === 1 ? [keyOf(3)] : answer.promise;
  };
  const reading = await openCursors(storeOf(read), Date.now, silent);
  await pass(cursorsBounds.keysReadMs);
  reading.close();
  answer.resolve([keyOf(3)]);
  for (let tries = 0; tries < 3; tries += 1) await pass(cursorsBounds.keysReadMs);
  assert.equal(reads, 2);
});

test('does not start without a key, and names the command that creates a key', async () => {
  const noKeys = async () => [];
  const opening = openCursors(storeOf(noKeys), Date.now, silent);
  await assert.rejects(opening, /Create one with "partner-network cursor-key rotate"\.$/);
});
