/** The real service on a database that fails, with clients that keep calling it. Every answer is checked. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import type { Client } from 'pg';
import { within } from '../../../../common/src/timeout.ts';
import { importValues } from '../../../../operator/src/ingest/import.ts';
import type { Store } from '../../../../store/src/port.ts';
import { createdAt, fillFixture, keys } from '../../../../testkit/fixtures/fixture.ts';
import { type Answer, assertUnavailable, type Caller } from '../../../../testkit/fixtures/http.ts';
import { isLongRun, longRunOnly } from '../../../../testkit/fixtures/lifetime.ts';
import { type ServedSandbox, serveSandbox } from '../../../../testkit/fixtures/served.ts';
import {
  connectTo,
  type PostgresServer,
  type Settings,
  startPostgres,
  withoutOwnServers,
} from '../../../../testkit/servers/postgres.ts';
import { fillDatabase } from '../../../../testkit/service/database.ts';

type Work = (t: TestContext) => Promise<void>;

/** A test with Postgres servers of its own. */
export function faultTest(name: string, work: Work, skip: string | false = false): void {
  test(name, { skip: withoutOwnServers() || skip, timeout: isLongRun ? 120_000 : 60_000 }, work);
}

/** `npm test` tries a few faults, because all of them take more than five minutes. */
export function rareFaultTest(name: string, work: Work): void {
  faultTest(name, work, longRunOnly);
}

/**
 * Every answer comes within 2 s, plus some time for other tests on the same machine. `npm test` also runs on
 * machines that stand still for seconds, so it allows more.
 */
const answerMs = isLongRun ? 2_200 : 8_000;
/**
 * Time to recover, which only long runs check. Measured: 5 to 640 ms on a quiet machine, up to 1,170 with all
 * tests running twice.
 */
export const resumeMs = 1_500;
/** How long all answers must be right after that. */
const watchedMs = 500;
const lostMs = 10_000;
/** Of which the check of all faults, on a quiet machine, has more. */
const clients = isLongRun ? 20 : 8;
const pauseMs = 60;

const paths = {
  brands: '/network/v1/brands?limit=50',
  balances: '/network/v1/balances?customer_id=alice&type=CHECKING',
};

/** A page of several packets, of which a part could get lost. */
const moreBrands = Array.from({ length: 150 }, (_, index) => ({
  id: `more-${String(index).padStart(3, '0')}`,
  name: `Brand ${index}`,
  created_at: createdAt,
  updated_at: createdAt,
  reference_id: 'of a full page',
  metadata: { index: String(index), note: 'x'.repeat(200) },
}));

/** Fills a database with the fixture and a full page of brands. */
export function fill(url: string, environment?: Environment): Promise<void> {
  const fillBoth = async (store: Store) => {
    await fillFixture(store);
    await importValues(store, 'brands', moreBrands, 'acme');
  };
  return fillDatabase(url, fillBoth, environment);
}

/** A server of the test's own with a filled database. */
export async function startFilled(
  t: TestContext,
  settings?: Settings,
  folder?: string,
): Promise<PostgresServer> {
  const server = await startPostgres(t, settings, folder);
  await fill(server.url());
  return server;
}

/** Serves this database without a rate limit. */
export function serveOn(t: TestContext, url: string, ...flags: string[]): Promise<ServedSandbox> {
  return serveSandbox(t, url, ['--brands-rate', '0', ...flags]);
}

/** The number of statements of the service that wait for a lock. */
export async function statementsOf(observer: Client): Promise<number> {
  const { rows } = await observer.query(`
    select count(*)::integer as running from pg_stat_activity
    where application_name like 'partner-network%' and wait_event_type = 'Lock'`);
  return rows[0].running;
}

/** Locks a table, waits until this number of statements need it, and returns the unlock function. */
export async function holdUp(
  t: TestContext,
  url: string,
  table: string,
  statements = 1,
): Promise<() => Promise<void>> {
  const locker = await connectTo(t, url);
  // Not the locker: within a transaction pg_stat_activity does not change.
  const observer = await connectTo(t, url);
  await locker.query(`begin; lock table ${table} in access exclusive mode`);
  while ((await statementsOf(observer)) < statements) await wait(5);
  return async () => void (await locker.query('rollback'));
}

/** One answer: right if it is the expected page, otherwise a 503. Anything else fails the test. */
interface Judged {
  readonly sentMs: number;
  readonly endedMs: number;
  readonly isRight: boolean;
}

/** Starts `serve` on the database, and clients that keep calling it. */
export async function loadOn(t: TestContext, url: string, ...words: string[]) {
  return startLoad(t, await serveOn(t, url, ...words));
}

/** Starts clients that call both listings again and again. Resolves at their first right answer. */
export async function startLoad(t: TestContext, served: ServedSandbox) {
  const expected = {
    brands: await rightPage(served, paths.brands),
    balances: await rightPage(served, paths.balances),
  };
  const judged: Judged[] = [];
  const watchers = new Set<(answer: Judged) => void>();
  const faults = new Set<(fault: Error) => void>();
  const recoveries: number[] = [];
  let fault: Error | undefined;
  let isOver = false;

  async function ask(listing: keyof typeof paths): Promise<void> {
    const sentMs = performance.now();
    const answer = await within(
      lostMs,
      served.call(paths[listing], { key: keys.acme }),
      () => new Error(`no answer in ${lostMs} ms`),
    );
    const one = { sentMs, endedMs: performance.now(), isRight: judge(answer, expected[listing]) };
    assert.ok(one.endedMs - sentMs < answerMs, `an answer took ${Math.round(one.endedMs - sentMs)} ms`);
    judged.push(one);
    for (const watcher of watchers) watcher(one);
  }

  async function askOn(index: number): Promise<void> {
    for (let turn = index; !isOver; turn += 1) {
      await ask(turn % 2 === 0 ? 'brands' : 'balances');
      await wait(pauseMs);
    }
  }

  const all = Array.from({ length: clients }, (_, index) =>
    askOn(index).catch((thrown: Error) => {
      fault ??= thrown;
      isOver = true;
      for (const fail of faults) fail(fault);
    }),
  );
  t.after(() => {
    isOver = true;
  });

  /** Resolves to the next answer that fulfills the condition. */
  function next(condition: (answer: Judged) => boolean): Promise<Judged> {
    return new Promise((resolve, reject) => {
      if (fault !== undefined) return reject(fault);
      const watcher = (answer: Judged) => {
        if (!condition(answer)) return;
        watchers.delete(watcher);
        resolve(answer);
      };
      watchers.add(watcher);
      faults.add(reject);
    });
  }

  /** Resolves when all clients get pages again. Only a long run, on a quiet machine, checks how soon. */
  async function resumes(backMs = performance.now()): Promise<void> {
    const first = await next(({ isRight, endedMs }) => isRight && endedMs >= backMs);
    recoveries.push(first.endedMs - backMs);
    let inRow = 0;
    await next(({ isRight }) => {
      inRow = isRight ? inRow + 1 : 0;
      return inRow === 3 * clients;
    });
    if (!isLongRun) return;
    const dueMs = backMs + resumeMs;
    assert.ok(first.endedMs < dueMs, `resumed after ${Math.round(first.endedMs - backMs)} ms`);
    await next(({ sentMs }) => sentMs >= dueMs + watchedMs);
    const late = judged.filter(({ sentMs, isRight }) => sentMs >= dueMs && !isRight);
    assert.equal(late.length, 0, 'refused after it had resumed');
  }

  /** Stops the clients, reports their answers, and fails if one of them was wrong. */
  async function stop(): Promise<readonly Judged[]> {
    isOver = true;
    await Promise.all(all);
    t.diagnostic(summaryOf(judged, recoveries));
    assert.ifError(fault);
    return judged;
  }

  await next(({ isRight }) => isRight);
  return {
    next,
    /** Resolves at the next 503. */
    fails: async () => void (await next(({ isRight }) => !isRight)),
    resumes,
    stop,
    /** The clients get pages again from now on; then they stop. */
    recovers: async () => {
      await resumes();
      await stop();
    },
  };
}

async function rightPage(caller: Caller, path: string): Promise<string> {
  const { status, text } = await caller.call(path, { key: keys.acme });
  assert.equal(status, 200);
  return withoutCursor(text);
}

function judge(answer: Answer, expected: string): boolean {
  if (answer.status === 200) {
    assert.equal(withoutCursor(answer.text), expected);
    return true;
  }
  assertUnavailable(answer);
  return false;
}

/** Every cursor is different, because each is sealed with a new nonce. */
function withoutCursor(text: string): string {
  return text.replace(/,"cursor":"[^"]+"\}$/, '}');
}

function summaryOf(judged: readonly Judged[], recoveries: readonly number[]): string {
  const longest = Math.max(...judged.map(({ sentMs, endedMs }) => endedMs - sentMs));
  const right = judged.filter(({ isRight }) => isRight).length;
  const resumed = recoveries.map((ms) => `, resumed after ${Math.round(ms)} ms`).join('');
  return `${right} right, ${judged.length - right} refused, longest ${Math.round(longest)} ms${resumed}`;
}
