/** The shipped rules in a real Prometheus, on real faults: an outage may not be silent. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { killAfter } from '../../packages/testkit/fixtures/lifetime.ts';
import { spawnCommand, start, withPartners } from '../../packages/testkit/fixtures/run.ts';
import { until } from '../../packages/testkit/fixtures/until.ts';
import { freePort, listenOnAnyPort } from '../../packages/testkit/servers/free-port.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { pageFor, read } from '../sources.ts';
import { blocksOf } from './clone.ts';

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

/** Starts Prometheus with the rules and this configuration, in a folder of the test. */
async function startPrometheus(t: TestContext, folder: string, config: string, rules = impatient) {
  const port = await freePort();
  writeFileSync(join(folder, 'alerts.yml'), rules);
  writeFileSync(join(folder, 'prometheus.yml'), config);
  const flags = [`--web.listen-address=127.0.0.1:${port}`, '--config.file=prometheus.yml'];
  killAfter(
    t,
    spawn(prometheus!, [...flags, '--storage.tsdb.path=series'], { cwd: folder, stdio: 'ignore' }),
  );

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
  const raises = (name: string) => until(waitMs, async () => (await firing()).includes(name));
  /** Resolves when two jobs are scraped, all rules were evaluated, and this alert fires, but no later one. */
  const begins = (alert: string, later: readonly string[]) =>
    until(waitMs, async () => {
      const names = await firing();
      const isQuiet = names.includes(alert) && !names.some((name) => later.includes(name!));
      const isScraped = (await ask('query?query=sum(partner_network_ready)')).includes(',"2"]');
      const health = new Set((await ask('rules')).match(/(?<="health":")\w+/g));
      return isScraped && [...health].join() === 'ok' && isQuiet;
    });
  return { ask, firing, raises, begins };
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
    const { begins, raises } = await startPrometheus(t, line.folder, JSON.stringify(settings(targets)));
    // A busy machine may raise other alerts.
    await begins('KeyExpires', ['LinesRejected', 'NotReady', 'FeedDown', 'SourceSilent']);

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
    id: 'BAL_1',
    customer_id: 'CUSTOMER_1',
    type: 'CHECKING',
    currency: 'USD',
    amount,
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
    const config = JSON.stringify(settings(targets));
    const { firing, begins, raises } = await startPrometheus(t, line.folder, config, expectant);
    // Balances are expected, and none has ever come.
    await begins('SourceSilent', ['LinesStale', 'BatchesRejected', 'ChangesFail']);

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

const [blackbox] = programsOnPath(['prometheus-blackbox-exporter', 'blackbox_exporter']);
const [openssl] = programsOnPath(['openssl']);
const missing = needsPrometheus.skip || (!(blackbox && openssl) && 'needs openssl and the blackbox exporter');

test('a certificate that expires or has expired raises its alert, as alerts.md sets it up', {
  ...needsPrometheus,
  skip: missing,
}, async (t) => {
  const folder = temporaryFolder(t);
  const [scraping = '', modules = ''] = blocksOf(pageFor('operators', 'alerts')).flatMap(
    ({ language, text }) => (language === 'yaml' ? [text] : []),
  );
  const path = (name: string) => join(folder, name);
  const openTls = async (days: number) => {
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=network.example`;
    const key = path('key.pem');
    const cert = path('cert.pem');
    execFileSync(openssl!, [...words.split(' '), '-keyout', key, '-out', cert, '-days', '90'], {
      stdio: 'pipe',
    });
    const renew = `x509 -in ${cert} -signkey ${key} -days ${days} -out ${cert}`;
    execFileSync(openssl!, renew.split(' '), { stdio: 'pipe' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
    return `127.0.0.1:${await listenOnAnyPort(t, server)}`;
  };
  const soon = await openTls(13);
  const expired = await openTls(-1);
  const port = await freePort();
  writeFileSync(path('blackbox.yml'), modules);
  const flags = [`--web.listen-address=127.0.0.1:${port}`, `--config.file=${path('blackbox.yml')}`];
  killAfter(t, spawn(blackbox!, flags, { stdio: 'ignore' }));
  const config = scraping
    .replace('network.example:443', soon)
    .replace('admin.example:8443', expired)
    .replace('127.0.0.1:9115', `127.0.0.1:${port}`);
  const interval = 'global: { scrape_interval: 1s, evaluation_interval: 1s }';
  const { ask } = await startPrometheus(t, folder, `${interval}\n${config}`);
  for (const target of [soon, expired]) {
    const raised = new RegExp(`"alertname":"CertificateExpires","instance":"${target}"`);
    await until(waitMs, async () => raised.test(await ask('alerts')));
  }
});
