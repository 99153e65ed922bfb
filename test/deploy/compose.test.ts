/** compose.yaml: the command of every service with its settings, and a request through all of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { killAfter, temporaryFolder, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { withoutHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { connectTo, startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { needsPromtool } from '../../packages/testkit/servers/promtool.ts';
import { needsOwnRedis, startRedis } from '../../packages/testkit/servers/redis.ts';
import { openBundle } from '../image/bundle.ts';
import { withoutRunc } from '../image/runc.ts';
import { read } from '../sources.ts';
import { newAddress, startPod } from './pods.ts';

const { services } = parse(read('deploy/compose.yaml'), { merge: true });
const addresses: Record<string, string> = Object.fromEntries(
  Object.keys(services).map((name) => [name, newAddress()]),
);

test('the file has only fields that compose has', () => {
  const known = `image command environment ports volumes depends_on healthcheck restart read_only cap_drop
    security_opt stop_grace_period`.split(/\s+/);
  for (const [name, service] of Object.entries(services)) {
    for (const field of Object.keys(service as object)) assert.ok(known.includes(field), `${name}.${field}`);
  }
});

const skip =
  needsOwnRedis.skip || withoutOwnServers() || withoutHaproxy || needsPromtool.skip || (await withoutRunc());

test('every service runs as the file says, and HAProxy and Prometheus reach the instances', {
  skip,
}, async (t) => {
  const folder = temporaryFolder(t);
  const bundle = openBundle({ after });
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.postgres.environment;
  const postgres = await startPostgres(t);
  const superuser = await connectTo(t, postgres.url());
  await superuser.query(`create role ${POSTGRES_USER} superuser login password '${POSTGRES_PASSWORD}'`);
  await superuser.query(`create database ${POSTGRES_DB} owner ${POSTGRES_USER}`);
  const redis = await startRedis(t, services.redis.command.slice(1));
  const places = { '@postgres/': `@127.0.0.1:${postgres.port}/`, '//redis': `//127.0.0.1:${redis.port}` };

  const begin = (name: string) => {
    const { image, read_only, command, environment } = services[name];
    assert.deepEqual([image, read_only], ['partner-network', true]);
    const variables = Object.entries(places).reduce(
      (text, [name, place]) => text.replace(name, place),
      JSON.stringify(environment),
    );
    const described = { words: command, variables: JSON.parse(variables), files: {} };
    return startPod(t, bundle, described, addresses[name]!);
  };
  const { status, stderr } = await begin('migrate').finished;
  assert.equal(status, 0, stderr);
  await Promise.all(
    Object.entries({ one: 9090, two: 9090, admin: 9091 }).map(async ([name, port]) => {
      const running = begin(name);
      // Otherwise there is nothing yet in which the health check could run.
      await running.answers(20_000, port, '/healthz');
      const [, ...words] = services[name].healthcheck.test;
      const own = words.map((word: string) => word.replace('0.0.0.0', addresses[name]!));
      await until(30_000, () => running.exec(...own).status === 0);
    }),
  );

  /** A text with the addresses instead of the names, and with files of the repository. */
  const here = (name: string, text: string): string => {
    const own = text.replace('0.0.0.0', addresses[name]!);
    return own.replace(/\b(one|two|admin)(?=:\d)/g, (service) => addresses[service]!);
  };
  for (const name of ['haproxy', 'prometheus']) {
    const { command, environment = {}, volumes } = services[name];
    for (const volume of volumes) {
      const [file] = volume.split(':');
      const path = join(folder, basename(file));
      writeFileSync(path, here(name, read(join('deploy', file))).replace('interval: 5s', 'interval: 1s'));
    }
    const own = command.map((word: string) => word.replace(/\/\S*\//, `${folder}/`));
    const flags = [`--web.listen-address=${addresses[name]}:9090`, `--storage.tsdb.path=${folder}/series`];
    const words = name === 'prometheus' ? ['prometheus', ...own, ...flags] : own;
    const [program] = programsOnPath([words[0]], ['/usr/sbin']);
    const env = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, here(name, `${value}`)]),
    );
    killAfter(t, spawn(program!, words.slice(1), { env, stdio: 'ignore' }));
  }
  const get = (name: string, port: number, path: string) =>
    fetch(`http://${addresses[name]}:${port}${path}`).then(
      (answer) => answer.text(),
      () => '',
    );
  await until(20_000, async () => (await get('haproxy', 8000, '/docs')).includes('<html'));
  const healthy = async () =>
    (await get('prometheus', 9090, '/api/v1/targets')).match(/"health":"up"/g)?.length;
  await until(30_000, async () => (await healthy()) === 3);
  assert.match(await get('prometheus', 9090, '/api/v1/rules'), /"name":"LimiterWithoutRedis"/);
});
