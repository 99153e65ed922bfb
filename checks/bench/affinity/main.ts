/** Compares HAProxy that hashes on the API key with round robin, in front of four instances on Postgres. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { killAfter, temporaryFolder, until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { freePort } from '../../../packages/testkit/servers/free-port.ts';
import { haproxyProgram, withoutHaproxy } from '../../../packages/testkit/servers/haproxy.ts';
import { onConnection, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily, withoutProc } from '../lib/cpu.ts';
import { fillDatabase, newPartners, type Partner } from '../lib/data.ts';
import { startGenerator } from '../lib/load.ts';
import { type Measurement, report } from '../lib/report.ts';
import { newDatabase, startService } from '../lib/service.ts';

const about = `
Starts Postgres, four instances with one process each, and HAProxy with two ports: one chooses the instance in
turn, the other by a hash of the Authorization header. Both get the same load in turn, round by round: many
partners, each at a few requests per second. Compares what a page of brands costs, and how often its key is
looked up, with the formula of docs/how-to/operators/capacity.md.`;

const instanceCount = 4;
const brandsOfPartner = 50;
/** How long an instance keeps a valid key, in seconds. */
const keptSeconds = 0.5;

/** The share of requests that are the first in `keptSeconds`, at this rate to one process. */
const firstOf = (rate: number) => (1 - Math.exp(-rate * keptSeconds)) / (rate * keptSeconds);

const ways = {
  'in turn': 'balance roundrobin',
  'by key': ['balance hdr(Authorization)', 'hash-type consistent', 'default-server weight 100'].join('\n  '),
} as const;
type Way = keyof typeof ways;
const names = Object.keys(ways) as Way[];

/** With the lines of docs/explanation/operators/large-networks.md. Resolves to a port for each way. */
async function startBalancer(ports: readonly number[]): Promise<Readonly<Record<Way, number>>> {
  const found = { 'in turn': await freePort(), 'by key': await freePort() };
  const servers = ports.map((port, index) => `  server s${index} 127.0.0.1:${port}\n`).join('');
  const parts = names.map((way) => {
    const name = way.replace(' ', '-');
    return `listen ${name}\n  bind 127.0.0.1:${found[way]}\n  ${ways[way]}\n${servers}`;
  });
  const times = ['connect 1s', 'client 60s', 'server 10s'].map((time) => `  timeout ${time}\n`).join('');
  const config = join(temporaryFolder(wholeRun), 'haproxy.cfg');
  writeFileSync(config, `global\n  maxconn 2000\ndefaults\n  mode http\n${times}${parts.join('')}`);
  const child = spawn(haproxyProgram!, ['-db', '-f', config], { stdio: 'inherit' });
  killAfter(wholeRun, child);
  const answers = (port: number) => fetch(`http://127.0.0.1:${port}/docs`).then(({ ok }) => ok);
  await until(20_000, () => answers(found['by key']).catch(() => false));
  return found;
}

/** In random order: each partner's requests then come at random times, as the formula assumes. */
function randomRequests(partners: readonly Partner[]) {
  const one = () => partners[Math.floor(Math.random() * partners.length)]!;
  return Array.from({ length: 20_000 }, () => ({ path: '/network/v1/brands', key: one().key }));
}

interface Flags {
  readonly partners: number;
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
}

async function compare({ partners: count, rate, seconds, rounds }: Flags): Promise<boolean> {
  const database = await newDatabase('postgres', { autovacuum: 'off' });
  const partners = newPartners(count);
  await fillDatabase(database.url, partners, count * brandsOfPartner);
  const start = () => startService(database.url, ['--connections=5', '--brands-rate=0']);
  const services = await Promise.all(Array.from({ length: instanceCount }, start));
  const ports = await startBalancer(services.map(({ port }) => port));
  const generator = startGenerator();
  /** A key is looked up by two scans of an index. */
  const lookups = () =>
    onConnection(database.url, async (client) => {
      const text = `select sum(idx_scan) / 2 as scans from pg_stat_user_tables where relname = 'api_keys'`;
      return Number((await client.query(text)).rows[0].scans);
    });

  /** The figures of a page in a round. */
  async function play(way: Way) {
    const cpu = () => services.map(({ pid }) => cpuSecondsOf(pid));
    const [before, ofPostgres, keysBefore] = [cpu(), cpuSecondsOfFamily(database.pid!), await lookups()];
    const stream = { requests: randomRequests(partners), connections: 32, perSecond: count * rate };
    const listener = { port: ports[way], pid: services[0]!.pid };
    const { answers, sent } = await generator.play(listener, seconds, stream);
    const pages = answers['200']?.length ?? 0;
    if (pages < sent * 0.95) throw new Error(`${pages} pages of ${sent} requests`);
    // Counts of usage are written for some seconds more, and servers report their scans a second later.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const used = cpu().map((value, index) => value - before[index]!);
    const sum = used.reduce((total, value) => total + value, 0);
    return {
      service: (sum / pages) * 1e6,
      postgres: ((cpuSecondsOfFamily(database.pid!) - ofPostgres) / pages) * 1e6,
      lookups: ((await lookups()) - keysBefore) / pages,
      busiest: Math.max(...used) / (sum / instanceCount),
    };
  }

  for (const way of names) await play(way);
  const played: Record<Way, Awaited<ReturnType<typeof play>>[]> = { 'in turn': [], 'by key': [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const way of round % 2 === 0 ? names : names.toReversed()) played[way].push(await play(way));
    say(`Round ${round} of ${rounds}`);
  }
  const kinds = [
    ['service', ' µs', 'CPU time of the service for a page'],
    ['postgres', ' µs', 'CPU time of Postgres for a page'],
    ['lookups', '', 'keys looked up for a page'],
    ['busiest', '', 'CPU time of the busiest instance / the mean'],
  ] as const;
  const measurements = kinds.flatMap(([kind, unit, name]) =>
    names.map((way): Measurement => {
      const figures = played[way].map((figure) => figure[kind]);
      const over = way === 'by key' ? `${name}, in turn` : undefined;
      return { name: `${name}, ${way}`, figures, unit, over };
    }),
  );
  say(
    `Formula: ${firstOf(rate / instanceCount).toFixed(2)} keys in turn, ${firstOf(rate).toFixed(2)} by key.`,
  );
  return report(measurements);
}

await runProgram({
  usage: 'npm run bench -- affinity',
  about,
  options: {
    partners: withDefault('N', wholeNumber(1, 10_000), 60, 'partners, each with one key'),
    rate: withDefault('N', wholeNumber(1, 50), 5, 'requests a second of each partner'),
    seconds: withDefault('N', wholeNumber(1, 600), 8, 'length of a round'),
    rounds: withDefault('N', wholeNumber(1, 100), 5, 'rounds of each way'),
  },
  missing: () => withoutProc || withoutOwnServers() || withoutHaproxy,
  run: compare,
});
