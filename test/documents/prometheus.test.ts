/** The shipped rules in a real Prometheus, on real faults: an outage may not be silent. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { spawnCommand, start, withPartners } from '../../packages/testkit/fixtures/run.ts';
import { until } from '../../packages/testkit/fixtures/until.ts';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { read } from '../sources.ts';

const [prometheus] = programsOnPath(['prometheus']);
const needsPrometheus = {
  skip: prometheus === undefined && 'needs Prometheus (apt-get install prometheus)',
  timeout: 180_000,
};
const waitMs = 60_000;

/** The rules as they are shipped, except that each fires as soon as its condition holds. */
const impatient = read('docs/reference/operators/alerts.yml').replaceAll(/^ +for: .*\n/gm, '');

/** The same, as an operator who expects balances every 15 seconds changes them. */
const expectant = impatient
  .replaceAll(/^ {2}# (- name| {2}rules| {4}- .*kind: balances)/gm, '  $1')
  .replace('vector(900)', 'vector(15)');

/** JSON is YAML, too. */
const settings = (targets: Readonly<Record<string, string>>) => ({
  global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
  rule_files: ['alerts.yml'],
  scrape_configs: Object.entries(targets).map(([job_name, target]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
  })),
});

/** Starts Prometheus on these targets by job, in this folder. */
async function watch(t: TestContext, folder: string, rules: string, targets: Record<string, string>) {
  const port = await freePort();
  writeFileSync(join(folder, 'alerts.yml'), rules);
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings(targets)));
  const flags = [`--web.listen-address=127.0.0.1:${port}`, '--config.file=prometheus.yml'];
  const running = spawn(prometheus!, [...flags, '--storage.tsdb.path=series'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = once(running, 'close');
  t.after(() => running.kill('SIGKILL') && ended);
  /** The answer of Prometheus, as text. Empty while it starts. */
  const ask = async (path: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1/${path}`).then(
      (answer) => answer.text(),
      () => '',
    );
  /** The names of the alerts that fire, after a pause: Prometheus looks once a second. */
  const firing = async () => {
    await wait(250);
    return [...(await ask('alerts')).matchAll(/"alertname":"(\w+)"/g)].map(([, name]) => name);
  };
  /** Resolves when all targets are scraped, all rules were evaluated, and only some of these alerts fire. */
  const quiet = (alert: string, later: readonly string[]) =>
    until(waitMs, async () => {
      const names = await firing();
      const isQuiet = names.includes(alert) && !names.some((name) => later.includes(name!));
      const count = Object.keys(targets).length;
      const isScraped = (await ask('query?query=sum(partner_network_ready)')).includes(`,"${count}"]`);
      const health = new Set((await ask('rules')).match(/(?<="health":")\w+/g));
      return isScraped && [...health].join() === 'ok' && isQuiet;
    });
  const raises = (name: string) => until(waitMs, async () => (await firing()).includes(name));
  return { firing, quiet, raises };
}

/** A feed of balances, and its operations address. */
async function startFeed(t: TestContext, database: string) {
  const port = await freePort();
  const words = ['import', 'balances', '-', '--follow', '--ops-port', String(port)];
  const feed = spawnCommand([...words, '--database', database]);
  t.after(() => feed.kill('SIGKILL'));
  return { feed, target: `127.0.0.1:${port}` };
}

test(
  'an expiring key, a rejected line, a lost database and a lost feed raise their alerts',
  needsPrometheus,
  async (t) => {
    const line = await withPartners(t, ['acme']);
    const expiry = new Date(Date.now() + 86_400_000).toISOString();
    await line.json('keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--expires-at', expiry);
    const served = start(t, ['serve', '--database', line.database, '--port', '0', '--ops-port', '0']);
    const [, serveTarget = ''] = await served.says('stderr', /operations on http:\/\/(\S+)\.$/m);
    const { feed, target } = await startFeed(t, line.database);
    const targets = { 'partner-network': serveTarget, 'partner-network-feed': target };
    const { quiet, raises } = await watch(t, line.folder, impatient, targets);
    // A busy machine may raise other alerts.
    await quiet('KeyExpires', ['LinesRejected', 'NotReady', 'FeedDown', 'SourceSilent']);

    feed.stdin.write('{"id":"BAL_1"}\n');
    await raises('LinesRejected');

    feed.kill('SIGKILL');
    renameSync(line.databasePath, `${line.databasePath}.moved`);
    await raises('NotReady');
    await raises('FeedDown');
  },
);

const balanceAt = (updatedMs: number, amount: unknown) =>
  `${JSON.stringify({
    ...{ id: 'BAL_1', customer_id: 'CUSTOMER_1', type: 'CHECKING', currency: 'USD', amount },
    updated_at: new Date(updatedMs).toISOString(),
  })}\n`;

test(
  'stale lines, a silent source, a rejected batch and a broken trigger raise their alerts',
  needsPrometheus,
  async (t) => {
    const line = await withPartners(t, ['acme']);
    const words = ['admin-keys', 'create', '--name', 'ledger', '--role', 'INGEST'];
    const { key } = await line.json<{ key: string }>(...words);
    const admin = start(t, ['admin', '--database', line.database, '--port', '0', '--ops-port', '0']);
    const listening = /listening on (\S+), operations on http:\/\/(\S+)\.$/m;
    const [, address = '', adminTarget = ''] = await admin.says('stderr', listening);
    const { feed, target } = await startFeed(t, line.database);
    const targets = { 'partner-network-admin': adminTarget, 'partner-network-feed': target };
    const { firing, quiet, raises } = await watch(t, line.folder, expectant, targets);
    // Balances are expected, and none has ever come.
    await quiet('SourceSilent', ['LinesStale', 'BatchesRejected', 'ChangesFail']);

    // The clock of the source was 4 minutes ahead, and is right again.
    feed.stdin.write(balanceAt(Date.now() + 240_000, 1));
    await until(waitMs, async () => {
      feed.stdin.write(balanceAt(Date.now(), 2));
      const names = await firing();
      return names.includes('LinesStale') && !names.includes('SourceSilent');
    });

    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
    const url = `${address}/admin/v1/balances/batches`;
    const rejected = await fetch(url, { method: 'POST', headers, body: balanceAt(Date.now(), 'much') });
    assert.equal(rejected.status, 422);
    await raises('BatchesRejected');
    await raises('SourceSilent');

    using db = new DatabaseSync(line.databasePath);
    db.exec(`create trigger broken before insert on audit_log begin select raise(abort, 'broken'); end`);
    await raises('ChangesFail');
  },
);
