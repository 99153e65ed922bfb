/** Walks through both listings while records change, shards move and a worker dies. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../../../packages/testkit/fixtures/http.ts';
import { killAfter, until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { spawnCommand } from '../../../packages/testkit/fixtures/run.ts';
import { wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { idsIn } from './scene/load.ts';
import { balance, brand, placement, type Stage, startStage, type Target } from './scene/stage.ts';

interface Walk {
  readonly target: Target;
  readonly startMs: number;
  readonly endMs: number;
  readonly ids: readonly string[];
}

const walkers = 8;
const retryMs = 50;
/** The id of the balances of a feed, which stand between others. */
const fed = 'balance-0007x';

/** Walks from the first page to the last, again and again. Retries a page that is refused. */
async function keepWalking({ call }: Caller, targets: readonly Target[], walks: Walk[]): Promise<void> {
  async function pageAt(path: string, key: string): Promise<string> {
    while (true) {
      const { status, text: body } = await call(path, { key });
      if (status === 200) return body;
      assert.equal(status, 503, body);
      await wait(retryMs);
    }
  }

  while (!isOver) {
    const target = targets[Math.floor(Math.random() * targets.length)]!;
    const startMs = performance.now();
    const ids: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const more: string = cursor && `&cursor=${cursor}`;
      const body = await pageAt(`${target.path}&limit=${target.ids.length / 10}${more}`, target.key);
      ids.push(...idsIn(body));
      ({ cursor } = JSON.parse(body) as { cursor?: string });
    }
    walks.push({ target, startMs, endMs: performance.now(), ids });
  }
}

/** Adds brands between those that exist, and deletes them, by one file after the other. */
async function importFiles({ attempt, fileOf }: Stage, partners: readonly Target[]): Promise<number> {
  const more = partners.flatMap(({ owner, ids }) =>
    ids.filter((_, index) => index % 25 === 0).map((id) => brand(owner, `${id}x`)),
  );
  let done = 0;
  while (!isOver) {
    const now = new Date().toISOString();
    const time = done % 2 === 0 ? { updated_at: now } : { deleted_at: now };
    const file = fileOf(
      'more',
      more.map((line) => ({ ...line, ...time })),
    );
    const { status, stderr } = await attempt('import', 'brands', file);
    // A file is refused while a worker is down.
    if (status !== 0) assert.match(stderr, /The database cannot (answer now|be reached)/);
    else done += 1;
  }
  return done;
}

/** A feed of another balance for each customer. Resolves to the last amounts. */
async function feedBalances({ where }: Stage, customers: readonly Target[]): Promise<Map<string, number>> {
  const feed = spawnCommand(['import', 'balances', '--follow', '-', ...where]);
  const ended = killAfter(wholeFile, feed);
  const said = text(feed.stderr);
  feed.stdin.on('error', () => {});
  const sent = new Map<string, number>();
  for (let turn = 1; !isOver; turn += 1) {
    const { owner } = customers[turn % customers.length]!;
    const updated_at = new Date().toISOString();
    sent.set(owner, turn);
    feed.stdin.write(`${JSON.stringify({ ...balance(owner, fed), amount: turn, updated_at })}\n`);
    await wait(20);
  }
  feed.stdin.end();
  await ended;
  assert.equal(feed.exitCode, 0, await said);
  return sent;
}

/** Moves the shards of a partner's brands and of a customer's balances to the other worker. */
async function moveShards({ admin, cluster, targets }: Stage, mode: string): Promise<void> {
  const ports = cluster.workers.map(({ port }) => port);
  for (const { listing, owner } of [targets[0]!, targets.at(-1)!]) {
    const { rows } = await admin.query(placement, [listing, owner]);
    const [{ shard, port }] = rows;
    const to = ports.find((other) => other !== port);
    const move = `select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, '${mode}')`;
    await admin.query(move, [shard, port, to]);
  }
}

/** What happens while clients walk. Files and a feed are imported all the time. */
const acts: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'records are imported': () => wait(3_000),
  'shards move': (stage) => moveShards(stage, 'force_logical'),
  'shards move back and block writes': (stage) => moveShards(stage, 'block_writes'),
  'a worker dies and returns': async ({ cluster }) => {
    await cluster.workers[0]!.kill();
    await wait(1_000);
    await cluster.workers[0]!.start();
  },
};

const walksDuring = new Map<string, readonly Walk[]>();
let stage: Stage;
let partners: readonly Target[];
let files: number;
let amounts: ReadonlyMap<string, number>;
let isOver = false;

before(async () => {
  stage = await startStage();
  const served = await stage.serve(wholeFile);
  const walks: Walk[] = [];
  const { brands = [], balances = [] } = Object.groupBy(stage.targets, ({ listing }) => listing);
  partners = brands;
  const working = Promise.all([
    importFiles(stage, brands),
    feedBalances(stage, balances),
    ...Array.from({ length: walkers }, (_, walker) =>
      keepWalking(served, walker % 2 === 0 ? brands : balances, walks),
    ),
  ]);
  const happening = (async () => {
    for (const [what, act] of Object.entries(acts)) {
      const startMs = performance.now();
      await act(stage);
      const endMs = performance.now();
      // By then the walks that were under way have ended, too.
      await until(30_000, () => walks.filter((walk) => walk.startMs > endMs).length >= walkers);
      walksDuring.set(
        what,
        walks.filter((walk) => walk.endMs > startMs && walk.startMs < endMs),
      );
    }
  })();
  try {
    await Promise.race([working, happening]);
  } finally {
    isOver = true;
  }
  [files, amounts] = await working;
});

for (const what of Object.keys(acts)) {
  test(`${what}: a walk returns every record that exists all the time exactly once`, (t) => {
    const walks = walksDuring.get(what)!;
    const pages = walks.reduce((sum, { ids, target }) => sum + (ids.length / target.ids.length) * 10, 0);
    t.diagnostic(`${walks.length} walks, ${Math.round(pages)} pages`);
    assert.ok(walks.length >= walkers);
    for (const { ids, target } of walks) {
      assert.deepEqual(ids, [...new Set(ids)].toSorted(), 'each record once, in order');
      assert.deepEqual(
        ids.filter((id) => !id.endsWith('x')),
        target.ids,
      );
    }
  });
}

test('the feed ends with the last amount of every customer, and files were imported', async (t) => {
  t.diagnostic(`${files} files`);
  assert.ok(files > 1);
  const { rows } = await stage.admin.query('select customer_id, amount from balances where id = $1', [fed]);
  assert.deepEqual(new Map(rows.map(({ customer_id, amount }) => [customer_id, Number(amount)])), amounts);
});

test('an import that is killed together with a worker is whole or absent', async (t) => {
  const { cluster, fileOf, where } = stage;
  const worker = cluster.workers[0]!;
  const found = [];
  for (let attempt = 0, tookMs = 0; attempt < 6; attempt += 1) {
    const ids = Array.from({ length: 500 }, (_, index) => `new-${attempt}-${index}`);
    const lines = partners.flatMap(({ owner }) => ids.map((id) => brand(owner, id)));
    const startMs = performance.now();
    const child = spawnCommand(['import', 'brands', fileOf('new', lines), ...where]);
    const ended = killAfter(wholeFile, child);
    // The first one is not killed: it shows how long an import takes.
    if (attempt > 0) {
      await wait(tookMs * (0.4 + 0.1 * attempt));
      child.kill('SIGKILL');
      await worker.kill();
      await worker.start();
    }
    await ended;
    tookMs ||= performance.now() - startMs;
    await stage.recover();
    const query = 'select count(*)::integer as stored from brands where id like $1';
    const { rows } = await stage.admin.query(query, [`new-${attempt}-%`]);
    found.push(rows[0].stored / lines.length);
  }
  t.diagnostic(`stored: ${found.join(', ')}`);
  assert.ok(found.every((share) => share === 0 || share === 1));
});
