/** The judge of a chaos run must find each broken promise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory, type History } from '../../checks/chaos/history.ts';
import { judge } from '../../checks/chaos/judge/judge.ts';
import type { Answer } from '../../checks/chaos/recorder.ts';
import type { Run } from '../../checks/chaos/run.ts';
import type { Applied } from '../../checks/chaos/stage/faults.ts';
import {
  balanceIndexes,
  balanceOf,
  brandsWith,
  brandText,
  type PartnerId,
} from '../../checks/chaos/world.ts';

const startedMs = 1_000_000;
const customerId = 'acme-steady-0';

/** The initial brands of a partner, ordered by id. */
function brandsOf(partnerId: PartnerId): string[] {
  const indexes = (['steady', 'churned', 'fed'] as const).flatMap((fate) => brandsWith(partnerId, fate));
  return indexes.sort((a, b) => a - b).map((index) => brandText(partnerId, index, 0));
}

const acme = brandsOf('acme');
const idOf = (record: string): string => JSON.parse(record).id;
const limit = 100;

function pageOf(records: readonly string[], page: number, change: Partial<Answer> = {}): Answer {
  const shown = records.slice(page * limit, (page + 1) * limit);
  const isLast = (page + 1) * limit >= records.length;
  const sentMs = startedMs + 100_000 + page * 100;
  return {
    walk: 1,
    listing: 'brands',
    partnerId: 'acme',
    keyId: 'KEY_acme',
    limit,
    page,
    ...(page > 0 && { after: idOf(records[page * limit - 1]!) }),
    sentMs,
    receivedMs: sentMs + 10,
    status: 200,
    requestId: `request ${page}`,
    servedBy: 'a',
    isLimited: true,
    body: `{"brands":[${shown.join()}]${isLast ? '' : ',"cursor":"c"'}}`,
    ...change,
  };
}

const walkThrough = (records: readonly string[]) => [0, 1, 2].map((page) => pageOf(records, page));

function balancesPage(change: Partial<Answer> = {}): Answer {
  const records = balanceIndexes.map((index) => JSON.stringify(balanceOf(customerId, index, 0)));
  return pageOf([], 0, {
    walk: 2,
    listing: 'balances',
    customerId,
    requestId: 'of balances',
    isLimited: false,
    body: `{"balances":[${records.join()}]}`,
    ...change,
  });
}

const refusal = (status: number, category: string, code: string): Partial<Answer> => ({
  walk: 3,
  status,
  body: JSON.stringify({ errors: [{ category, code, detail: 'Wait.' }] }),
});

const fault: Applied = {
  part: 'primary',
  harm: 'kill',
  atMs: 8_000,
  forMs: 1_000,
  beganMs: startedMs + 8_000,
  overMs: startedMs + 200_000,
};

interface Choices extends Partial<Run> {
  readonly answers?: readonly Answer[];
  readonly isComplete?: boolean;
}

function runOf({ answers, isComplete = true, ...change }: Choices = {}): Run {
  return {
    startedMs,
    endedMs: startedMs + 120_000,
    faults: [fault],
    stalls: [],
    redisSwitches: [],
    history: createHistory(),
    recorder: {
      answers: answers ?? [...walkThrough(acme), balancesPage()],
      walks: [{ walk: 1, isComplete, isLast: true }],
    },
    instances: [{ name: 'a', endings: [] }],
    receipts: new Set(['of balances']),
    unrecovered: [],
    logs: [],
    ...change,
  };
}

const brokenIn = (choices: Choices) =>
  judge(runOf(choices))
    .filter(({ violations }) => violations.length > 0)
    .map(({ promise }) => promise);

function assertBroken(choices: Choices, promise: RegExp): void {
  const broken = brokenIn(choices);
  assert.ok(
    broken.some((one) => promise.test(one)),
    `${promise} among ${broken.join('; ')}`,
  );
}

const assertKept = (choices: Choices) => assert.deepEqual(brokenIn(choices), []);

test('finds no fault in a run that kept all promises', () => {
  assertKept({});
  assert.ok(judge(runOf()).reduce((sum, { judged }) => sum + judged, 0) > 20);
});

const one = acme.length - 1;
const onePage = /shows the data of one moment/;
const walks = /exactly once/;

for (const [what, records, promise] of [
  ['a missing brand', acme.toSpliced(150, 1), onePage],
  ['a brand missing from a walk', acme.toSpliced(150, 1), walks],
  ['a duplicate brand', acme.toSpliced(150, 0, acme[20]!), walks],
  ['brands out of order', acme.with(3, acme[4]!).with(4, acme[3]!), walks],
  ['another version of a brand', acme.with(one, brandText('acme', one, 9)), onePage],
  ['a brand that never existed', [...acme, brandText('acme', 999, 0)], onePage],
  ["another partner's brand", acme.with(7, brandText('zenith', 7, 0)), /another partner/],
] as const) {
  test(`finds ${what}`, () => assertBroken({ answers: walkThrough(records) }, promise));
}

test('finds a last walk that does not reach its last page', () => {
  assertBroken({ isComplete: false }, /no write is lost/);
});

/** Changes a brand some time before the walk begins. */
async function changeBrand(history: History, index: number, value: string | undefined, agoMs: number) {
  const id = idOf(acme[index]!);
  await history.change([{ table: 'brands', owner: 'acme', id, value }], async () => {});
  const atMs = pageOf(acme, 0).sentMs - agoMs;
  Object.assign(history.rows('brands', 'acme').get(id)!.at(-1)!, { fromMs: atMs - 10, sureMs: atMs });
  return history;
}

test('finds a page with data that was replaced 3 s ago, and accepts 0.5 s', async () => {
  const value = brandText('acme', 0, 1);
  assertBroken({ history: await changeBrand(createHistory(), 0, value, 3_000) }, onePage);
  assertKept({ history: await changeBrand(createHistory(), 0, value, 500) });
});

test('finds a walk that goes back in time', async () => {
  const fresh = brandText('acme', 0, 1);
  const history = await changeBrand(createHistory(), 0, fresh, 500);
  const answers = [...walkThrough(acme.with(0, fresh)), balancesPage()];
  assertKept({ history, answers });
  // The second page still has a brand that was deleted before the change that the first page shows.
  await changeBrand(history, 150, undefined, 1_000);
  assertBroken({ history, answers }, onePage);
});

test('finds late lines that were written, and a deleted brand that comes back', async () => {
  const promise = /late lines have no effect/;
  const history = createHistory();
  history.late.push({ atMs: startedMs, lines: 5, taken: 0 });
  assertKept({ history });
  history.late.push({ atMs: startedMs, lines: 5, taken: 1 });
  assertBroken({ history }, promise);
  assertBroken({ history: await changeBrand(createHistory(), 0, undefined, 3_000) }, promise);
});

const admitted = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    pageOf(acme, 0, { walk: 10 + index, sentMs: startedMs + 10_000 + index, receivedMs: startedMs + 10_900 }),
  );

test('finds 51 admitted requests in a second, and accepts 50', () => {
  assertBroken({ answers: [...admitted(51), balancesPage()] }, /at most 50 .* by callers/);
  const fine = brokenIn({ answers: [...walkThrough(acme), ...admitted(50), balancesPage()] });
  assert.deepEqual(fine, []);
});

test('finds 51 admitted requests in a second of the logs', () => {
  const line = { operation: 'listBrands', partner_id: 'acme', status: 200, duration_ms: 5 };
  const logs = (count: number) =>
    Array.from({ length: count }, (_, index) => JSON.stringify({ ...line, time: startedMs + index }));
  assertBroken({ logs: logs(51) }, /at most 50 .* by logs/);
  assertKept({ logs: logs(50) });
});

test('accepts twice the rate only in a second in which Redis was lost or returned', () => {
  const brokenWith = (count: number, ...[sentMs, receivedMs]: [number, number]) =>
    brokenIn(
      runOf({
        answers: [...walkThrough(acme), ...admitted(count), balancesPage()],
        redisSwitches: [{ sentMs: startedMs + sentMs, receivedMs: startedMs + receivedMs }],
      }),
    );
  // The admissions begin at 10 s. Redis is lost before, in and after that second.
  for (const [from, to] of [
    [8_900, 9_100],
    [10_400, 10_600],
    [10_900, 11_100],
  ] as const) {
    assert.deepEqual(brokenWith(100, from, to), [], `${from}`);
    assert.equal(brokenWith(101, from, to).length, 1, `${from}`);
  }
  for (const [from, to] of [
    [8_500, 8_700],
    [11_100, 11_300],
  ] as const) {
    assert.equal(brokenWith(51, from, to).length, 1, `${from}`);
  }
});

test('finds a late answer, except of a frozen instance', () => {
  const line = { operation: 'listBrands', partner_id: 'acme', status: 503, time: startedMs + 50_000 };
  const logs = [JSON.stringify({ ...line, duration_ms: 2_600 })];
  assertBroken({ logs }, /answered within 2 s/);
  const faults: Applied[] = [{ ...fault, part: 'instance a', harm: 'freeze' }];
  assertKept({ logs, faults });
});

test('finds a lost receipt, except in the second before a kill', () => {
  const receipts = new Set<string>();
  const lost = /has a receipt/;
  assertBroken({ receipts }, lost);
  const killed = (how: 'kill' | 'terminate', afterMs: number): Partial<Run> => ({
    receipts,
    faults: [{ ...fault, part: 'instance a' }],
    instances: [{ name: 'a', endings: [{ how, atMs: balancesPage().receivedMs + afterMs }] }],
  });
  assertKept(killed('kill', 500));
  assertBroken(killed('kill', 1_500), lost);
  assertBroken(killed('terminate', 500), lost);
  // A frozen instance writes nothing.
  const { receivedMs } = balancesPage();
  const frozen: Applied = { ...fault, part: 'instance a', harm: 'freeze', beganMs: receivedMs + 100 };
  const faults = [{ ...frozen, overMs: receivedMs + 3_000 }];
  assertKept({ ...killed('kill', 3_050), faults });
});

const foreign = 'zenith-steady-0';
const busy = refusal(503, 'API_ERROR', 'SERVICE_UNAVAILABLE');
for (const [what, change, promise] of [
  ['an unknown error code', refusal(503, 'API_ERROR', 'OUT_OF_LUCK'), /documented/],
  ['an internal error', refusal(500, 'API_ERROR', 'INTERNAL_SERVER_ERROR'), /documented/],
  ['a body that is not JSON', { walk: 3, status: 503, body: '<html>' }, /documented/],
  [
    'a 503 before the first fault',
    { ...busy, sentMs: startedMs, receivedMs: startedMs + 9 },
    /only 200 and 429/,
  ],
  ['a refused valid key', refusal(401, 'API_KEY_ERROR', 'API_KEY_REVOKED'), /keys and grants/],
  ['a page for an unknown key', { keyId: 'KEY_none' }, /keys and grants/],
] as const) {
  test(`finds ${what}`, () => {
    const answers = [...walkThrough(acme), balancesPage(), pageOf(acme, 0, change)];
    assertBroken({ answers }, promise);
  });
}

test('ignores answers during a stall of the machine', () => {
  const unavailable = pageOf(acme, 0, { ...busy, sentMs: startedMs, receivedMs: startedMs + 9 });
  const answers = [...walkThrough(acme), balancesPage(), unavailable];
  const stalls = [{ sentMs: startedMs - 500, receivedMs: startedMs }];
  assertKept({ answers, stalls });
});

test('finds balances without a grant, and a refused grant', () => {
  const opened = balancesPage({ customerId: foreign });
  assertBroken({ answers: [...walkThrough(acme), opened] }, /keys and grants/);
  const refused = balancesPage(refusal(403, 'GRANT_ERROR', 'GRANT_NOT_FOUND'));
  assertBroken({ answers: [...walkThrough(acme), refused] }, /keys and grants/);
});

test('finds an instance that ends by itself, and a part that does not recover', () => {
  const ended = [{ name: 'a', endings: [{ how: 'by itself' as const, atMs: startedMs }] }];
  assertBroken({ instances: ended }, /all parts recover/);
  assertBroken({ unrecovered: ['instance a is not ready'] }, /all parts recover/);
});
