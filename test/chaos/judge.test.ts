/** The judge of a chaos run must find each broken promise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory, type History } from '../../checks/chaos/history.ts';
import { judge } from '../../checks/chaos/judge/judge.ts';
import type { Answer, Run } from '../../checks/chaos/record.ts';
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
const access = /keys and grants/;
const recovery = /all parts recover/;

/** Answers beside those of a run without a fault. */
const also = (...answers: Answer[]) => ({ answers: [...walkThrough(acme), balancesPage(), ...answers] });
const admitted = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    pageOf(acme, 0, { walk: 10 + index, sentMs: startedMs + 10_000 + index, receivedMs: startedMs + 10_900 }),
  );
const logged = (count: number, more: object) =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ operation: 'listBrands', partner_id: 'acme', time: startedMs + index, ...more }),
  );
const late = logged(1, { status: 503, duration_ms: 2_600, time: startedMs + 50_000 });
const quick = { status: 200, duration_ms: 5 };
const unavailable = refusal(503, 'API_ERROR', 'SERVICE_UNAVAILABLE');
const atStart = pageOf(acme, 0, { ...unavailable, sentMs: startedMs, receivedMs: startedMs + 9 });

/** A run in which the receipt is missing, and its instance ended some time after the answer. */
const ended = (how: 'kill' | 'terminate', afterMs: number): Choices => ({
  receipts: new Set(),
  faults: [{ ...fault, part: 'instance a' }],
  instances: [{ name: 'a', endings: [{ how, atMs: balancesPage().receivedMs + afterMs }] }],
});
const alone = [{ name: 'a', endings: [{ how: 'by itself' as const, atMs: startedMs }] }];

for (const [what, choices, promise] of [
  ['a missing brand', { answers: walkThrough(acme.toSpliced(150, 1)) }, onePage],
  ['a brand missing from a walk', { answers: walkThrough(acme.toSpliced(150, 1)) }, walks],
  ['a duplicate brand', { answers: walkThrough(acme.toSpliced(150, 0, acme[20]!)) }, walks],
  ['brands out of order', { answers: walkThrough(acme.with(3, acme[4]!).with(4, acme[3]!)) }, walks],
  ['another version', { answers: walkThrough(acme.with(one, brandText('acme', one, 9))) }, onePage],
  ['an unknown brand', { answers: walkThrough([...acme, brandText('acme', 999, 0)]) }, onePage],
  ["another's brand", { answers: walkThrough(acme.with(7, brandText('zenith', 7, 0))) }, /another partner/],
  ['a last walk that does not reach its last page', { isComplete: false }, /no write is lost/],
  ['51 admitted requests in a second', also(...admitted(51)), /at most 50 .* by callers/],
  ['51 admitted requests in the logs', { logs: logged(51, quick) }, /at most 50 .* by logs/],
  ['a late answer', { logs: late }, /answered within 2 s/],
  ['a lost receipt', { receipts: new Set<string>() }, /has a receipt/],
  ['a lost receipt long before a kill', ended('kill', 1_500), /has a receipt/],
  ['a lost receipt before a regular end', ended('terminate', 500), /has a receipt/],
  ['an unknown code', also(pageOf(acme, 0, refusal(503, 'API_ERROR', 'OUT_OF_LUCK'))), /documented/],
  ['a body that is not JSON', also(pageOf(acme, 0, { walk: 3, status: 503, body: '<' })), /documented/],
  ['a 503 before the first fault', also(atStart), /only 200 and 429/],
  ['a refused valid key', also(pageOf(acme, 0, refusal(401, 'API_KEY_ERROR', 'API_KEY_REVOKED'))), access],
  ['a page for an unknown key', also(pageOf(acme, 0, { keyId: 'KEY_none' })), access],
  ['balances without a grant', also(balancesPage({ customerId: 'zenith-steady-0' })), access],
  [
    'a refused grant',
    also(balancesPage({ ...refusal(403, 'GRANT_ERROR', 'GRANT_NOT_FOUND'), walk: 2 })),
    access,
  ],
  ['an instance that ends by itself', { instances: alone }, recovery],
  ['a part that does not recover', { unrecovered: ['instance a is not ready'] }, recovery],
] satisfies [string, Choices, RegExp][]) {
  test(`finds ${what}`, () => assertBroken(choices, promise));
}

const redisLost = [{ sentMs: startedMs + 10_400, receivedMs: startedMs + 10_600 }];

for (const [what, choices] of [
  ['50 admitted requests in a second', also(...admitted(50))],
  ['50 admitted requests in the logs', { logs: logged(50, quick) }],
  ['twice the rate when Redis is lost', { ...also(...admitted(100)), redisSwitches: redisLost }],
  [
    'a late answer of a frozen instance',
    { logs: late, faults: [{ ...fault, part: 'instance a', harm: 'freeze' }] },
  ],
  ['a lost receipt in the second before a kill', ended('kill', 500)],
  [
    'a 503 in a stall of the machine',
    { ...also(atStart), stalls: [{ sentMs: startedMs - 500, receivedMs: startedMs }] },
  ],
] satisfies [string, Choices][]) {
  test(`accepts ${what}`, () => assertKept(choices));
}

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
