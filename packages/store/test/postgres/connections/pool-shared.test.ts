/** Callers of a pool that share its connections: each gets its own answer, or a StoreUnavailable. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { postgresBounds } from '../../../../common/src/bounds/store.ts';
import { byTest, createdAt, future } from '../../../../testkit/fixtures/fixture.ts';
import { isLongRun, until } from '../../../../testkit/fixtures/lifetime.ts';
import { startNetwork } from '../../../../testkit/servers/network.ts';
import { connectTo } from '../../../../testkit/servers/postgres.ts';
import { fixtureDatabase, migratedDatabase, openServing } from '../../../../testkit/service/database.ts';
import { StoreUnavailable } from '../../../src/port.ts';
import { Pool, type PoolSettings } from '../../../src/postgres/connections/pool.ts';
import { createReads } from '../../../src/postgres/reads.ts';

/** A pool with shared connections, and a proxy before its server. */
async function sharedPool(t: TestContext, settings: Partial<PoolSettings>) {
  const url = await migratedDatabase(t);
  const network = await startNetwork(t, { port: Number(new URL(url).port) });
  const behind = new URL(url);
  behind.port = String(network.port);
  const pool = new Pool({
    source: { url: behind.href, whenAvailable: async () => {}, examine: async () => {} },
    connections: 1,
    keepsSession: true,
    answersRequests: true,
    shares: true,
    waitMs: 60_000,
    ...settings,
  });
  t.after(pool.close);
  const sleep = { name: 'sleep', text: 'select $1::text as asked, pg_sleep($2)' };
  return {
    url,
    network,
    pool,
    /** Answers after some seconds. */
    sleep: async (seconds: number, asked = '') => (await pool.query(sleep, [asked, seconds]))[0]!.asked,
  };
}

test('up to four callers share a connection, the next waits, and each gets its answer in turn', async (t) => {
  const { pool, sleep } = await sharedPool(t, {});
  await sleep(0);
  const order: unknown[] = [];
  const answers = ['a', 'b', 'c', 'd', 'e'].map((asked) =>
    sleep(0.05, asked).then((answer) => order.push(answer)),
  );
  await until(20_000, () => pool.use().waiting === 1);
  await Promise.all(answers);
  assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e']);
  assert.deepEqual(pool.use(), { open: 1, busy: 0, waiting: 0 });
});

/** A pool with two idle connections. `callersOfEach` counts the statements that ran on each. */
async function twoConnections(t: TestContext) {
  const shared = await sharedPool(t, { connections: 2 });
  await Promise.all([shared.sleep(0), shared.sleep(0)]);
  const where = { name: 'where', text: 'select pg_backend_pid() as pid, pg_sleep(0.05)' };
  const run = () => shared.pool.query(where, []);
  const callersOfEach = async (running: readonly ReturnType<typeof run>[]) => {
    const rows = await Promise.all(running);
    return [...Map.groupBy(rows, ([row]) => row!.pid).values()].map((callers) => callers.length);
  };
  return { ...shared, run, callersOfEach };
}

test('up to four callers of one turn share a connection, and their statements are one write', async (t) => {
  const { network, run, callersOfEach } = await twoConnections(t);
  const prototype = Socket.prototype as Required<Socket>;
  const writes = (['_write', '_writev'] as const).map((name) => t.mock.method(prototype, name).mock);
  const written = () => writes.flatMap(({ calls }) => calls.map((call) => call.this as Socket));
  // Each runs in a callback of its own, as if five sockets had data in one turn.
  const running = Array.from({ length: 5 }, () => nextTurn().then(run));
  assert.deepEqual(await callersOfEach(running), [4, 1]);
  assert.equal(written().filter(({ remotePort }) => remotePort === network.port).length, 2);
});

test('after a slow answer, callers of one turn have connections of their own for a while', async (t) => {
  const { run, sleep, callersOfEach } = await twoConnections(t);
  const two = () => callersOfEach([nextTurn().then(run), nextTurn().then(run)]);
  const now = t.mock.method(performance, 'now', () => 0).mock;
  await sleep(0);
  assert.deepEqual(await two(), [2]);
  // The clock moves only here.
  const slow = sleep(0.05);
  await nextTurn();
  now.mockImplementation(() => postgresBounds.sharedSilenceMs + 1);
  await slow;
  assert.deepEqual(await two(), [1, 1]);
  now.mockImplementation(() => 2 * postgresBounds.sharedApartMs);
  assert.deepEqual(await two(), [2]);
});

test('callers of different turns share the connection that has the fewest callers', async (t) => {
  const { run, callersOfEach } = await twoConnections(t);
  const running: ReturnType<typeof run>[] = [];
  while (running.length < 6) {
    running.push(run());
    // Two turns: the first callback runs before that of the pool.
    await nextTurn();
    await nextTurn();
  }
  assert.deepEqual(await callersOfEach(running), [3, 3]);
});

test('a caller does not get behind a statement that is slow', async (t) => {
  const { pool, sleep } = await sharedPool(t, {});
  await sleep(0);
  const slow = sleep(0.3);
  await until(20_000, () => pool.use().busy === 1);
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + postgresBounds.sharedSilenceMs);
  const quick = sleep(0);
  await until(20_000, () => pool.use().waiting === 1);
  await Promise.all([slow, quick]);
});

test('a statement that times out ends its connection, and the callers behind it fail', async (t) => {
  const { network, pool, sleep } = await sharedPool(t, { statementMs: 300 });
  const now = t.mock.method(performance, 'now');
  for (const isSilent of [false, true]) {
    assert.equal(await sleep(0, 'before'), 'before');
    // Callers may join at any time, and those that join later have time left.
    now.mock.mockImplementation(() => 0);
    if (isSilent) network.fallSilent();
    const first = sleep(30);
    await wait(100);
    const answers = await Promise.allSettled([first, sleep(0), sleep(0), sleep(0)]);
    for (const answer of answers) {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof StoreUnavailable);
    }
    network.goOn();
    now.mock.restore();
    await until(20_000, () => pool.use().open === 0);
  }
  assert.equal(await sleep(0, 'after'), 'after');
});

test('a change is not sent behind a read', async (t) => {
  const url = await fixtureDatabase(t);
  const store = await openServing(t, url, { connections: 1 });
  const [locker, watcher] = [await connectTo(t, url), await connectTo(t, url)];
  await locker.query('begin; lock table brands in access exclusive mode');
  const brands = { partnerId: 'acme', referenceId: undefined, after: '', limit: 1 };
  const held = store.listBrands(brands).catch(() => {});
  const waiting = `
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(20_000, async () => (await watcher.query(waiting)).rowCount === 1);
  await store.createPartner({ id: 'other', name: 'Other', created_at: createdAt }, byTest);
  await locker.query('rollback');
  await held;
});

const partners = 100;

/** Partners p0 to p99. Each has a key, a brand, and a grant for a customer with one balance. */
const fill = `
  insert into partners (id, name, created_at) select 'p' || n, 'any', now() from generate_series(0, 99) n;
  insert into api_keys (id, partner_id, digest, last_four, scopes, created_at)
  select 'p' || n, 'p' || n, sha256(n::text::bytea), 'last', 'BRANDS_READ', now()
  from generate_series(0, 99) n;
  insert into brands (partner_id, id, name, created_at, updated_at, reference_id)
  select 'p' || n, 'of-p' || n, repeat('x', n * 10 + 1), now(), now(), 'r' from generate_series(0, 99) n;
  insert into balances (customer_id, id, type, currency, amount, created_at, updated_at)
  select 'p' || n, 'of-p' || n, 'CHECKING', 'USD', n, now(), now() from generate_series(0, 99) n;
  insert into grants (customer_id, id, partner_id, action, status, created_at, updated_at)
  select 'p' || n, 'g', 'p' || n, 'CHECKING_BALANCE', 'ACTIVE', now(), now() from generate_series(0, 99) n`;

/** `npm run check -- long` sends a million requests. */
const requests = isLongRun ? 1_000_000 : 20_000;
const atOnce = 64;
const mostMs = isLongRun ? 1_800_000 : 240_000;
const everyAnswer = `each of ${requests} requests gets its own answer while statements and connections end`;

test(everyAnswer, { timeout: mostMs }, async (t) => {
  const { url, network, pool, sleep } = await sharedPool(t, { connections: 4, statementMs: 500 });
  const operator = await connectTo(t, url);
  await operator.query(fill);
  const reads = createReads(pool, undefined);
  const page = { referenceId: undefined, after: '', limit: 2 };
  const quotient = { name: 'quotient', text: 'select $1::text as asked, 1 / $2::integer as one' };
  const long = { name: 'long', text: 'select repeat($1, $2) as answer, $1::text as asked' };

  /** Requests of each kind, for partner number `n`. Each resolves to what only its own answer has. */
  const kinds: readonly ((n: number) => Promise<unknown>)[] = [
    async (n) =>
      /"id":"of-(p\d+)"/.exec((await reads.listBrands({ ...page, partnerId: `p${n}` })).records)?.[1],
    async (n) => {
      const wanted = { partnerId: `p${n}`, customerId: `p${n}`, type: 'CHECKING', at: future };
      const answer = await reads.listBalances({ ...page, ...wanted, grantId: n % 2 === 0 ? 'g' : undefined });
      return answer.grant === 'ACTIVE' && /"id":"of-(p\d+)"/.exec(answer.page.records)?.[1];
    },
    async (n) => (await reads.findKey(createHash('sha256').update(String(n)).digest()))?.partnerId,
    async (n) => (await pool.query(quotient, [`p${n}`, n % 2]))[0]!.asked,
    async (n) => {
      const [{ asked, answer }] = (await pool.query(long, [`p${n}`, n * 50])) as [Record<string, string>];
      return answer === asked!.repeat(n * 50) && asked;
    },
  ];
  const backend = `
    (select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1)`;
  const faults: readonly (() => unknown)[] = [
    () => operator.query(`select pg_cancel_backend(${backend})`),
    () => operator.query(`select pg_terminate_backend(${backend})`),
    () => network.hangUpOne(),
  ];
  let [sent, answered, refused, lost] = [0, 0, 0, 0];

  async function ask(number: number): Promise<void> {
    const n = Math.floor(Math.random() * partners);
    if (number % 400 === 0) await faults[(number / 400) % faults.length]!();
    const isSlow = number % 500 === 1;
    // Some take longer than a statement may.
    const slowly = () => sleep(number % 5_000 === 1 ? 5 : 0.03, `p${n}`);
    try {
      assert.equal(await (isSlow ? slowly() : kinds[number % kinds.length]!(n)), `p${n}`);
      answered += 1;
    } catch (error) {
      if (error instanceof StoreUnavailable) lost += 1;
      else if (/division by zero/.test((error as Error).message)) refused += 1;
      else throw error;
    }
  }
  const client = async () => {
    while (sent < requests) {
      sent += 1;
      await ask(sent);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));

  await until(20_000, () => pool.use().busy === 0);
  assert.equal(answered + refused + lost, sent);
  // Each fault ends at most one connection, and so does each statement that takes too long.
  const ended = requests / 400 + requests / 5_000;
  assert.ok(lost > 0 && lost <= ended * postgresBounds.sharedCallers, `${lost} lost`);
  assert.ok(network.requests() < 0.9 * sent, 'statements are sent before the answers of others');
  t.diagnostic(`${answered} answered, ${refused} refused, ${lost} lost; ${network.requests()} packets`);
});
