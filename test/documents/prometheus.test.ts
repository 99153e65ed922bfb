/** The shipped rules in a real Prometheus, on real faults: an outage may not be silent. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { killAfter, temporaryFolder, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { spawnCommand, start, withPartners } from '../../packages/testkit/fixtures/run.ts';
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

/**
 * The rules as an operator who expects balances every 15 seconds changes them, except that each fires as soon
 * as its condition holds.
 */
const impatient = read('docs/reference/operators/alerts.yml')
  .replaceAll(/^ +for: .*\n/gm, '')
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
async function startPrometheus(t: TestContext, folder: string, config: string) {
  const port = await freePort();
  writeFileSync(join(folder, 'alerts.yml'), impatient);
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
  return { ask, firing, raises };
}

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
  'each fault of a service, a feed and an administrative service raises its alert',
  needsPrometheus,
  async (t) => {
    const line = await withPartners(t, ['acme']);
    const expiry = new Date(Date.now() + 86_400_000).toISOString();
    await line.json('keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--expires-at', expiry);
    const words = ['admin-keys', 'create', '--name', 'ledger', '--role', 'INGEST'];
    const { key } = await line.json<{ key: string }>(...words);
    const listen = async (command: string) => {
      const started = start(t, [command, '--database', line.database, '--port', '0', '--ops-port', '0']);
      const [, address, target] = await started.says(
        'stderr',
        /listening on (\S+), operations on http:\/\/(\S+)\.$/m,
      );
      return { address: address!, target: target! };
    };
    const served = await listen('serve');
    const admin = await listen('admin');
    const feedPort = String(await freePort());
    const feed = spawnCommand([
      ...['import', 'balances', '-', '--follow', '--ops-port', feedPort],
      ...['--database', line.database],
    ]);
    t.after(() => feed.kill('SIGKILL'));
    const targets = {
      'partner-network': served.target,
      'partner-network-admin': admin.target,
      'partner-network-feed': `127.0.0.1:${feedPort}`,
    };
    const config = JSON.stringify(settings(targets));
    const { ask, firing, raises } = await startPrometheus(t, line.folder, config);

    // All three are scraped, and all rules were evaluated. Balances are expected, and none has ever come.
    const later = ['LinesRejected', 'LinesStale', 'BatchesRejected', 'ChangesFail', 'NotReady', 'FeedDown'];
    await until(waitMs, async () => {
      const names = await firing();
      const isScraped = (await ask('query?query=sum(partner_network_ready)')).includes(',"3"]');
      const health = new Set((await ask('rules')).match(/(?<="health":")\w+/g));
      const areRaised = ['KeyExpires', 'SourceSilent'].every((name) => names.includes(name));
      return (
        areRaised && isScraped && [...health].join() === 'ok' && !names.some((name) => later.includes(name!))
      );
    });

    // The clock of the source was 4 minutes ahead, and is right again.
    feed.stdin.write(balanceAt(Date.now() + 240_000, 1));
    await until(waitMs, async () => {
      feed.stdin.write(balanceAt(Date.now(), 2));
      const names = await firing();
      return names.includes('LinesStale') && !names.includes('SourceSilent');
    });
    feed.stdin.write('{"id":"BAL_1"}\n');
    await raises('LinesRejected');

    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
    const url = `${admin.address}/admin/v1/balances/batches`;
    const rejected = await fetch(url, { method: 'POST', headers, body: balanceAt(Date.now(), 'much') });
    assert.equal(rejected.status, 422);
    await raises('BatchesRejected');
    await raises('SourceSilent');

    using db = new DatabaseSync(line.databasePath);
    db.exec(`create trigger broken before insert on audit_log begin select raise(abort, 'broken'); end`);
    await raises('ChangesFail');

    feed.kill('SIGKILL');
    renameSync(line.databasePath, `${line.databasePath}.moved`);
    await raises('NotReady');
    await raises('FeedDown');
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
