/** The real service in front of a database that fails, callers who go on asking, and every answer judged. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { createdAt, fillFixture, keys } from '../../../../testkit/fixtures/fixture.ts';
import {
  type Answer,
  assertUnavailable,
  type Caller,
  createCaller,
} from '../../../../testkit/fixtures/http.ts';
import { requestsShed } from '../../../../testkit/fixtures/requests-shed.ts';
import { type Running, start } from '../../../../testkit/fixtures/run.ts';
import { importValues } from '../../../src/ingest/import.ts';
import { parseDatabaseUrl } from '../../../src/store/address.ts';
import { openStore } from '../../../src/store/engines.ts';

/** Within 2 s, and a little for a machine on which tests run beside each other. */
const answerMs = 2_200;
/** Within a second: 5 to 640 ms on a quiet machine, up to 1,170 on one that ran all tests twice at once. */
export const resumeMs = 1_500;
/** How long it is watched after that. */
const watchedMs = 500;
const lostMs = 10_000;
const callers = 20;
const pauseMs = 60;

const paths = {
  brands: '/network/v1/brands?limit=50',
  balances: '/network/v1/balances?customer_id=alice&type=CHECKING',
};

/** Enough for a page of several packets, of which a part could get lost. */
const moreBrands = Array.from({ length: 150 }, (_, index) => ({
  id: `more-${String(index).padStart(3, '0')}`,
  name: `Brand ${index}`,
  created_at: createdAt,
  updated_at: createdAt,
  reference_id: 'of a full page',
  metadata: { index: String(index), note: 'x'.repeat(200) },
}));

/** A database of ours, with data. */
export async function fill(url: string, environment: Environment = 'sandbox'): Promise<void> {
  const store = await openStore(parseDatabaseUrl(url)!, environment, 'migrate');
  try {
    await fillFixture(store);
    await importValues(store, 'brands', moreBrands, 'acme');
  } finally {
    await store.close();
  }
}

export interface Served extends Running {
  readonly caller: Caller;
  readonly operationsUrl: string;
}

/** The executable on this database, with no limit of rate in the way. */
export async function serveOn(t: TestContext, url: string, ...words: string[]): Promise<Served> {
  const ports = ['--port', '0', '--ops-port', '0', '--drain-delay', '0', '--brands-rate', '0'];
  const running = start(t, ['serve', '--database', url, '--environment', 'sandbox', ...ports, ...words]);
  const [, port, operationsUrl = ''] = await running.says(
    'stderr',
    /listening on http:\/\/127\.0\.0\.1:(\d+), operations on (\S+)\.$/m,
  );
  const caller = createCaller(Number(port));
  t.after(() => caller.disconnect());
  return { ...running, caller, operationsUrl };
}

/** One answer: the expected page, or that the service is unavailable. Anything else is a fault. */
interface Judged {
  readonly sentMs: number;
  readonly endedMs: number;
  readonly isRight: boolean;
}

interface Load {
  /** Resolves to the first answer from now on that is so. */
  next(isSo: (answer: Judged) => boolean): Promise<Judged>;
  /**
   * Resolves when callers are served again, in time after this moment, and all of them who came
   * later than that.
   */
  resumes(backMs: number): Promise<void>;
  /** Ends the callers, tells what they saw, and fails if one of them saw what must not be. */
  stop(): Promise<readonly Judged[]>;
}

/** Callers of both listings who ask again and again; resolves once they are served. */
export async function startLoad(t: TestContext, { caller, operationsUrl }: Served): Promise<Load> {
  const expected = {
    brands: await rightPage(caller, paths.brands),
    balances: await rightPage(caller, paths.balances),
  };
  const judged: Judged[] = [];
  const watchers = new Set<(answer: Judged) => void>();
  const faults = new Set<(fault: Error) => void>();
  const recoveries: number[] = [];
  let fault: Error | undefined;
  let isOver = false;

  async function ask(listing: keyof typeof paths): Promise<void> {
    const sentMs = performance.now();
    const answer = await notLost(caller.call(paths[listing], { key: keys.acme }));
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

  const all = Array.from({ length: callers }, (_, index) =>
    askOn(index).catch((thrown: Error) => {
      fault ??= thrown;
      isOver = true;
      for (const fail of faults) fail(fault);
    }),
  );
  t.after(() => {
    isOver = true;
  });

  function next(isSo: (answer: Judged) => boolean): Promise<Judged> {
    return new Promise((resolve, reject) => {
      if (fault !== undefined) return reject(fault);
      const watcher = (answer: Judged) => {
        if (!isSo(answer)) return;
        watchers.delete(watcher);
        resolve(answer);
      };
      watchers.add(watcher);
      faults.add(reject);
    });
  }

  await next(({ isRight }) => isRight);
  return {
    next,
    async resumes(backMs) {
      const first = await next(({ isRight, endedMs }) => isRight && endedMs >= backMs);
      recoveries.push(first.endedMs - backMs);
      const dueMs = backMs + resumeMs;
      assert.ok(first.endedMs < dueMs, `resumed after ${Math.round(first.endedMs - backMs)} ms`);
      const shedBefore = await requestsShed(operationsUrl);
      await next(({ sentMs }) => sentMs >= dueMs + watchedMs);
      const late = judged.filter(({ sentMs, isRight }) => sentMs >= dueMs && !isRight);
      // On a machine too busy for all of them, some are turned away, whatever the database does.
      const shed = (await requestsShed(operationsUrl)) - shedBefore;
      assert.ok(late.length <= shed, `${late.length} were refused after it had resumed, ${shed} turned away`);
    },
    async stop() {
      isOver = true;
      await Promise.all(all);
      t.diagnostic(summaryOf(judged, recoveries));
      assert.ifError(fault);
      return judged;
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

/** It is sealed with a number that is used once, so no two are the same. */
function withoutCursor(text: string): string {
  return text.replace(/,"cursor":"[^"]+"\}$/, '}');
}

async function notLost(answer: Promise<Answer>): Promise<Answer> {
  const timer = new AbortController();
  const lost = wait(lostMs, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error(`no answer in ${lostMs} ms`);
  });
  try {
    return await Promise.race([answer, lost]);
  } finally {
    timer.abort();
    lost.catch(() => {});
  }
}

function summaryOf(judged: readonly Judged[], recoveries: readonly number[]): string {
  const longest = Math.max(...judged.map(({ sentMs, endedMs }) => endedMs - sentMs));
  const right = judged.filter(({ isRight }) => isRight).length;
  const resumed = recoveries.map((ms) => `, resumed after ${Math.round(ms)} ms`).join('');
  return `${right} right, ${judged.length - right} refused, longest ${Math.round(longest)} ms${resumed}`;
}
