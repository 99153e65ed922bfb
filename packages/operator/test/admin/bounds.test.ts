/** Limits on the memory, the work and the waits of batches. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Unavailable } from '@partner-network/common/errors';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { createCapacities } from '../../src/admin/capacity.ts';
import { adminScene, assertErrors, headOf } from './scene.ts';

const sendBatch = headOf('POST /admin/v1/balances/batches', 'application/x-ndjson', adminKeys.INGEST);

/** A request that waits for as long as a test runs, unless it leaves. */
function waiterOf() {
  const req = new EventEmitter();
  const response = Object.assign(new EventEmitter(), { req }) as ServerResponse;
  /** It closes its connection, or only its own side, in the middle of its body. */
  const leave = (isHalf = false) => (isHalf ? req.emit('aborted') : response.emit('close'));
  return { leftMs: 60_000, response, leave };
}

test('at most 64 requests wait, and a client that leaves frees its place at once', async () => {
  const createCapacity = createCapacities();
  const takeMemory = createCapacity(10);
  const takeWork = createCapacity(1);
  const giveMemory = await takeMemory(10, waiterOf());
  const giveWork = await takeWork(1, waiterOf());
  const waiters = Array.from({ length: 64 }, waiterOf);
  const waiting = waiters.map((waiter, index) => (index % 2 ? takeMemory(6, waiter) : takeWork(1, waiter)));
  await assert.rejects(takeWork(1, waiterOf()), Unavailable);
  waiters[1]!.leave();
  await assert.rejects(waiting[1]!, Unavailable);
  const last = takeMemory(4, waiterOf());
  await assert.rejects(takeMemory(1, waiterOf()), Unavailable);
  // The others leave. The request that waited last gets the part that they would have taken.
  for (const [index, waiter] of waiters.entries()) if (index > 2) waiter.leave(index % 4 === 0);
  await Promise.allSettled([...waiting.slice(3)]);
  giveMemory();
  giveWork();
  (await last)();
  (await waiting[0]!)();
  (await waiting[2]!)();
});

test('a request waits for memory and work together no longer than it may', async () => {
  const createCapacity = createCapacities();
  const takeMemory = createCapacity(1);
  const takeWork = createCapacity(1);
  const give = await takeMemory(1, waiterOf());
  await takeWork(1, waiterOf());
  const waiter = waiterOf();
  const memory = takeMemory(1, waiter);
  setTimeout(give, 100);
  const giveBack = await memory;
  assert.ok(waiter.leftMs <= 59_901, `${waiter.leftMs} ms are left`);
  waiter.leftMs = 5;
  await assert.rejects(takeWork(1, waiter), Unavailable);
  assert.ok(waiter.leftMs <= 1, `${waiter.leftMs} ms are left`);

  // The process is blocked, so the part is free before the timer can fire.
  const blocked = assert.rejects(takeMemory(1, { ...waiterOf(), leftMs: 5 }), Unavailable);
  const startedMs = performance.now();
  while (performance.now() - startedMs < 10);
  giveBack();
  await blocked;
  await takeMemory(1, waiterOf());
});

test('a part that is free when its request leaves is given back', async () => {
  const takeMemory = createCapacities()(1);
  const give = await takeMemory(1, waiterOf());
  const waiter = waiterOf();
  const waiting = assert.rejects(takeMemory(1, waiter), Unavailable);
  waiter.leave();
  give();
  await waiting;
  (await takeMemory(1, { ...waiterOf(), leftMs: 20_000 }))();
});

test('a client that leaves while its batch waits for memory never takes it', async (t) => {
  const { dial, send, batch, unanswered } = await adminScene(t, 'sqlite');
  const open = async (requests: number) => {
    const socket = dial();
    socket.write(`${sendBatch}Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n`);
    socket.write(gzipSync('{}').subarray(0, 20));
    await until(20_000, () => unanswered() === requests);
    return socket;
  };
  const first = await open(1);
  const second = await open(2);
  second.destroy();
  // When these are answered, the service knows that the second client has left.
  for (let count = 0; count < 3; count += 1) await send('/partners');
  first.destroy();
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
  assert.equal((await batch('balances', [], '', { body: gzipSync(''), headers })).status, 200);
});

test('a body without room is refused with a 503 that its sender can read', async (t) => {
  const { dial, send, unanswered } = await adminScene(t, 'sqlite');
  const bytes = 16 * 1024 * 1024;
  const socket = dial();
  socket.write(`${sendBatch}Content-Length: ${bytes}\r\n\r\n{`);
  await until(20_000, () => unanswered() === 1);
  const headers = { 'content-type': 'application/x-ndjson' };
  const batch = { role: 'INGEST', method: 'POST', headers } as const;
  const refused = await send('/balances/batches', { ...batch, body: '\n'.repeat(bytes) });
  assertErrors(refused, 503, 'SERVICE_UNAVAILABLE');
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await send('/balances/batches', { ...batch, body: '\n' })).status, 200);
  socket.destroy();
});

test('the size of a list and of its items is limited', async (t) => {
  const { send } = await adminScene(t, 'sqlite');
  const headers = { 'content-type': 'application/json' };
  const post = (body: string) => send('/balances/batches', { role: 'INGEST', method: 'POST', headers, body });
  assertErrors(await post(`[${'1,'.repeat(10_000)}1]`), 413, 'BATCH_TOO_LARGE');
  assertErrors(await post(`[{"id":"${'x'.repeat(1024 * 1024)}"}]`), 422, 'INVALID_JSON');
});
