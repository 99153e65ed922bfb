/** Late, repeated and shuffled events, through followers that are killed, on each engine. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { basePath } from '@partner-network/contract/operations';
import { optional, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { digestOfKey, newApiKey } from '../../packages/service/src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import { byTest, createdAt } from '../../packages/testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { serve, spawnCommand } from '../../packages/testkit/fixtures/run.ts';
import { type Chance, chanceOf } from '../../packages/testkit/model/chance.ts';
import { type Delivery, deliverAll, type Reads, readDuring } from '../../packages/testkit/model/deliver.ts';
import {
  createDeliveries,
  createEvents,
  type Fields,
  type ModelEvent,
  partners,
} from '../../packages/testkit/model/events.ts';
import { differences } from '../../packages/testkit/model/expected.ts';
import { createObserver, type GrantState } from '../../packages/testkit/model/observer.ts';
import { exportAll, fillModelWorld, steadyPartner } from '../../packages/testkit/model/world.ts';
import { startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';

const about = `
Makes random events of brands, balances and grants from a seed, and sends each one to three times, in random
order, through four followers at once; some come as a file. Followers are killed with SIGKILL at random
moments, and their lines are sent again. Meanwhile partners read all pages. Ends with status 1 if the exports
at the end or a page differ from a model of the rules.`;

/** A follower gets at most this number of lines, then another one begins. */
const linesOfFollower = 2_000;
const piecesOfFollower = 4;

interface Flags {
  readonly seed: number;
  readonly events: number;
  readonly records: number;
}

type Keys = Readonly<Record<string, string>>;

/** Reads over HTTP. */
function readsOf(port: number, keys: Keys): Reads {
  async function get(path: string, partnerId: string, parameters: Record<string, string | undefined>) {
    const given = Object.entries(parameters).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const url = `http://127.0.0.1:${port}${basePath}/${path}?${new URLSearchParams(given)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${keys[partnerId]}` } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async function page(
    name: 'brands' | 'balances',
    partnerId: string,
    parameters: Record<string, string | undefined>,
  ) {
    const { status, body } = await get(name, partnerId, parameters);
    if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
    return { records: body[name] as Record<string, unknown>[], next: body.cursor as string | undefined };
  }

  return {
    brands: (partnerId, limit, cursor) => page('brands', partnerId, { limit: String(limit), cursor }),
    balances: (customerId, limit, cursor) =>
      page('balances', steadyPartner, {
        customer_id: customerId,
        type: 'CHECKING',
        limit: String(limit),
        cursor,
      }),
    grant: async (partnerId, customerId, id) => {
      const parameters = { customer_id: customerId, type: 'CHECKING', limit: '1', grant_id: id };
      const { status, body } = await get('balances', partnerId, parameters);
      if (status === 200) return 'ACTIVE';
      const [error] = body.errors as { code: string }[];
      return error!.code.replace(/^GRANT_/, '') as GrantState;
    },
  };
}

/** Starts a command for each call. A killed one never sees the end of its input. */
function followerOf(url: string, folder: string, chance: Chance): Delivery['follow'] {
  /** How long followers take, to kill them at any moment of their work. */
  let usualMs = 1_000;
  return async (follower, kind, lines, isKilled) => {
    const startedMs = performance.now();
    const text = (some: readonly Fields[]) => some.map((line) => `${JSON.stringify(line)}\n`).join('');
    // Some lines come as a file, which is written in other ways.
    const isFile = chance.fraction() < 0.2;
    const file = join(folder, `${follower}.jsonl`);
    if (isFile) writeFileSync(file, text(lines));
    const source = isFile ? [file] : ['-', '--follow'];
    const words = ['import', kind, ...source, '--json', '--database', url, '--environment', 'sandbox'];
    const child = spawnCommand(words);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    const closed = once(child, 'close');
    child.stdin.on('error', () => {});
    const piece = Math.ceil(lines.length / piecesOfFollower);
    const send = async () => {
      for (let start = 0; start < lines.length; start += piece) {
        child.stdin.write(text(lines.slice(start, start + piece)));
        await wait(chance.between(0, 150));
      }
    };
    if (isKilled) {
      if (!isFile) void send();
      await wait(chance.fraction() * usualMs * 1.2);
      child.kill('SIGKILL');
      await closed;
      return false;
    }
    if (!isFile) await send();
    child.stdin.end();
    const [status] = await closed;
    const report = status === 0 ? JSON.parse(output.stdout) : undefined;
    if (report?.read !== lines.length || report.rejected_count !== 0) {
      throw new Error(`a follower of ${kind} ended with status ${status}: ${output.stdout} ${output.stderr}`);
    }
    usualMs = 0.8 * usualMs + 0.2 * (performance.now() - startedMs);
    return true;
  };
}

async function prepare(url: string, events: readonly ModelEvent[]): Promise<Keys> {
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'migrate');
  const keys = Object.fromEntries(partners.map((id) => [id, newApiKey('sandbox')]));
  await fillModelWorld(store, events);
  for (const [partner_id, text] of Object.entries(keys)) {
    const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
    const key = {
      id: `KEY_${partner_id}`,
      partner_id,
      scopes,
      last_four: text.slice(-4),
      created_at: createdAt,
    };
    await store.createKey(key, digestOfKey(text), byTest);
  }
  await store.close();
  return keys;
}

async function runOn(url: string, { seed, events: count, records }: Flags): Promise<boolean> {
  const engine = url.split(':')[0]!;
  const startedMs = performance.now();
  const chance = chanceOf(seed);
  const events = createEvents(chance, records, count);
  const deliveries = createDeliveries(chance, events);
  const keys = await prepare(url, events);
  const { port } = await serve(wholeRun, [
    '--database',
    url,
    '--environment',
    'sandbox',
    '--brands-rate',
    '0',
  ]);
  const observer = createObserver(events);
  let shownLeft = Infinity;
  const onProgress = (left: number) => {
    if (left > shownLeft - deliveries.length / 10) return;
    shownLeft = left;
    say(`${engine}: ${left} of ${deliveries.length} deliveries left`);
  };
  const delivery = {
    chance,
    observer,
    lines: linesOfFollower,
    follow: followerOf(url, temporaryFolder(wholeRun), chance),
    onProgress,
  };
  const delivering = deliverAll(deliveries, delivery);
  const pages = await readDuring(delivering, { chance, observer, reads: readsOf(port, keys) });
  const { kills } = await delivering;
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'command');
  const found = [...observer.violations, ...differences(events, await exportAll(store))];
  await store.close();
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  print(
    `${engine}: ${count} events of ${records} records, delivered ${deliveries.length} times; ${kills} ` +
      `followers killed, ${pages} pages read, ${seconds} s: ` +
      (found.length === 0 ? 'all as in the model' : 'BROKEN'),
  );
  for (const fault of found.slice(0, 20)) print(`  ${fault}`);
  return found.length === 0;
}

await runProgram({
  usage: 'npm run check -- model',
  about,
  options: {
    seed: optional('N', wholeNumber(0, 999_999_999), 'decides events, order and kills (random)'),
    events: withDefault('N', wholeNumber(1, 10_000_000), 100_000, 'number of different events'),
    records: withDefault('N', wholeNumber(5, 1_000_000), 2_000, 'number of records'),
  },
  missing: withoutOwnServers,
  run: async ({ seed = Math.floor(Math.random() * 1_000_000), events, records }) => {
    say(`Seed ${seed}.`);
    const postgres = await startPostgres(wholeRun);
    let areKept = true;
    for (const url of [`sqlite:${join(temporaryFolder(wholeRun), 'model.db')}`, postgres.url()]) {
      try {
        areKept = (await runOn(url, { seed, events, records: Math.min(records, events) })) && areKept;
      } catch (error) {
        print(`The run with seed ${seed} failed.`);
        throw error;
      }
    }
    if (!areKept)
      print(`Repeat it: npm run check -- model --seed ${seed} --events ${events} --records ${records}`);
    return areKept;
  },
});
