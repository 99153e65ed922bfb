/**
 * Drills with two instances on Postgres behind HAProxy, under load: database-password.md, and the section of
 * incidents.md about a flood. No request of the load may fail.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { callForBrands, failuresText, startCallers } from '../../../checks/rolling/callers.ts';
import { apiKeyOf } from '../../../packages/service/src/auth.ts';
import { temporaryFolder, until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { run } from '../../../packages/testkit/fixtures/run.ts';
import { startHaproxy, withoutHaproxy } from '../../../packages/testkit/servers/haproxy.ts';
import { createInstance } from '../../../packages/testkit/servers/instance.ts';
import {
  connectTo,
  startPostgres,
  wholeFile,
  withoutOwnServers,
} from '../../../packages/testkit/servers/postgres.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { fillDatabase } from '../../../packages/testkit/service/database.ts';
import { keepSecret } from '../../../packages/testkit/watch/logs.ts';
import { pageFor, root } from '../../sources.ts';
import { blocksOf, type Clone, openTerminal, shellBlocks } from '../clone.ts';
import { openPage } from '../page.ts';

const withoutPsql = programsOnPath(['psql'], [programsFolder() ?? '']).length === 0 && 'needs psql';
const skip = withoutHaproxy || withoutOwnServers() || withoutPsql;
const incidents = pageFor('operators', 'incidents');
const passwords = { serve_1: 'the-leaked-password', serve_2: 'the-new-password' } as const;

type Stage = Awaited<ReturnType<typeof startStage>>;
let stage: Stage;
let terminal: Clone;

before(async () => {
  if (skip) return;
  const folder = temporaryFolder(wholeFile);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  terminal = await openTerminal(folder);
  stage = await startStage(folder);
});
after(() => terminal?.remove());

async function startStage(folder: string) {
  const server = await startPostgres(wholeFile);
  await fillDatabase(server.url());
  const owner = await connectTo(wholeFile, server.url());
  await owner.query((await run(['roles'])).stdout);
  await owner.query(`create role serve_1 login password '${passwords.serve_1}' in role network_serve`);
  const rules = join(server.folder, 'pg_hba.conf');
  const withPassword = 'host all serve_1,serve_2 127.0.0.1/32 scram-sha-256\n';
  writeFileSync(rules, withPassword + readFileSync(rules, 'utf8'));
  await owner.query('select pg_reload_conf()');

  const urlOf = (login: keyof typeof passwords) => {
    keepSecret('password', passwords[login]);
    return server.url().replace('postgres@', `${login}:${passwords[login]}@`);
  };
  // Each start reads them again.
  const words = [
    ...['--database', urlOf('serve_1'), '--environment', 'sandbox', '--brands-rate', '0'],
    ...['--log-level', 'warn', '--drain-delay', '2', '--public-url', 'https://network.example'],
  ];
  const instances = await Promise.all(
    ['one', 'two'].map((name) => createInstance(wholeFile, name, join(folder, `${name}.log`), words)),
  );
  await Promise.all(instances.map(({ start }) => start()));
  const log = createSocket('udp4').bind(0, '127.0.0.1');
  wholeFile.after(() => void log.close());
  await once(log, 'listening');
  const lines: string[] = [];
  log.on('message', (line) => lines.push(String(line)));
  // The page blocks documentation addresses. This machine has others.
  const blocking = blocksOf(incidents, /^A flood/).find(({ language }) => language === 'text')!.text;
  const [one, two] = instances;
  const balancer = await startHaproxy(wholeFile, [one!, two!], (config) =>
    config
      .replace('log stdout', `log 127.0.0.1:${log.address().port}`)
      .replace(/^( +bind "\$\{LISTEN\}")$/m, `$1\n${blocking.replace('203.0.113.7', '127.0.0.3')}`),
  );
  return {
    server,
    owner,
    urlOf,
    balancer,
    lines,
    /** Restarts the instances in turn, with this login. */
    moveTo: async (login: keyof typeof passwords) => {
      words[1] = urlOf(login);
      for (const instance of instances) {
        assert.equal(await instance.terminate(), 0);
        await instance.start();
        await balancer.untilAllUp();
      }
    },
    operationsPort: one!.operationsPort,
    /** Clients with a good key, which keep their connections and never retry. */
    load: async () => startCallers({ ...(await callForBrands(one!.port)), port: balancer.port }, 5, 50),
  };
}

test('database-password.md moves to another login and ends the old sessions, and no request fails', {
  skip,
}, async (t) => {
  const { server, owner, urlOf, moveTo } = stage;
  const attacker = new pg.Client(`${urlOf('serve_1')}?application_name=attacker`);
  attacker.on('error', () => {});
  await attacker.connect();
  const isThrownOut = new Promise((resolve) => attacker.once('end', resolve));
  const document = pageFor('operators', 'database-password');
  const page = openPage(terminal, document, shellBlocks(document));
  const here = (block: string) =>
    [
      `export OWNER_URL='${server.url()}' PATH="$PATH:${programsFolder()}"`,
      block.replace(':9090', `:${stage.operationsPort}`),
    ].join('\n');
  const load = await stage.load();
  t.after(load.stop);

  const asked = `<<< $'${passwords.serve_2}\n${passwords.serve_2}'`;
  await page.next(/^CREATE ROLE\n/, (block) => `${here(block)} ${asked}`);
  await moveTo('serve_2');
  const sessions = await page.next(/serve_1 .*attacker/, here);
  assert.doesNotMatch(sessions, /serve_1 .*partner-network/);
  assert.match(sessions, /serve_2 .*partner-network/);
  await page.next(/^ALTER ROLE\n.*serve_1 .*attacker .* t\n\(1 row\)/s, here);
  await page.next(/sessions: 0\n.*^ready\n$/ms, here);
  page.end();

  await isThrownOut;
  await assert.rejects(connectTo(t, urlOf('serve_1')), /password authentication failed|not permitted/);
  const { rows } = await owner.query(`select from pg_stat_activity where usename = 'serve_1'`);
  assert.equal(rows.length, 0);
  const totals = await load.stop();
  assert.ok(totals.tookMs.length > 100, `${totals.tookMs.length} requests`);
  t.diagnostic(`${totals.tookMs.length} requests, ${failuresText(totals)}`);
  assert.deepEqual([...totals.failures], []);
});

/** The statuses of requests with these keys, from an address of this machine. */
async function statusesOf(keys: Iterable<string>, localAddress = '127.0.0.1') {
  const statuses = new Map<number, number>();
  const left = Iterator.from(keys);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const send = async (key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    const target = { host: '127.0.0.1', port: stage.balancer.port, path: '/network/v1/brands' };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ ...target, agent, headers, localAddress }, resolve).on('error', reject);
    });
    const { statusCode = 0 } = response.resume();
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    await once(response, 'end');
  };
  const client = async () => {
    for (const key of left) await send(key);
  };
  await Promise.all([client(), client(), client(), client()]);
  agent.destroy();
  return statuses;
}

const randomKey = () => apiKeyOf('sandbox', randomBytes(22).toString('hex').slice(0, 43));

test('incidents.md, a flood of wrong keys gets 429, and no request with a good key of its address fails', {
  skip,
}, async (t) => {
  const load = await stage.load();
  t.after(load.stop);
  const wrong = randomKey();
  const ofOne = await statusesOf(Array.from({ length: 500 }, () => wrong));
  assert.deepEqual([...ofOne.keys()].toSorted(), [401, 429]);
  assert.ok(ofOne.get(401)! >= 300 && ofOne.get(401)! < 320, `${ofOne.get(401)} got 401`);
  assert.deepEqual([...load.totals().failures], []);
  const ofMany = await statusesOf(Array.from({ length: 3_500 }, randomKey));
  assert.deepEqual([...ofMany.keys()].toSorted(), [401, 429]);
  const totals = await load.stop();
  t.diagnostic(`${totals.tookMs.length} requests, ${failuresText(totals)}`);
  assert.deepEqual([...totals.failures], []);

  await until(20_000, () => stage.lines.some((line) => line.includes(' 429 ')));
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'log'), stage.lines.map((line) => `${line.trim()}\n`).join(''));
  const page = openPage(terminal, incidents, shellBlocks(incidents, /^A flood/));
  const counted = /code="UNAUTHORIZED".*^\d{4} 127\.0\.0\.1 401\n\d+ 127\.0\.0\.1 \d+\n/ms;
  await page.next(counted, (block) =>
    block
      .replace(':9090', `:${stage.operationsPort}`)
      .replace(/sudo journalctl.*-o cat/, `sed 's/^<[0-9]*>.*haproxy\\[[0-9]*\\]: //' ${folder}/log`),
  );
  page.end();
  // Other systems than Linux have only one loopback address.
  if (process.platform !== 'linux') return;
  await assert.rejects(statusesOf(['A_KEY'], '127.0.0.3'), /ECONNRESET|socket hang up/);
  assert.deepEqual([...(await statusesOf(['A_KEY'], '127.0.0.2')).keys()], [401]);
});
