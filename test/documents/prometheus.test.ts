/** The shipped rules in a real Prometheus, on real faults: an outage may not be silent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

/** JSON is YAML, too. */
const settings = (targets: Readonly<Record<string, string>>) => ({
  global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
  rule_files: ['alerts.yml'],
  scrape_configs: Object.entries(targets).map(([job_name, target]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
  })),
});

test(
  'an expiring key, a rejected line, a lost database and a lost feed raise their alerts',
  needsPrometheus,
  async (t) => {
    const line = await withPartners(t, ['acme']);
    const expiry = new Date(Date.now() + 86_400_000).toISOString();
    await line.json('keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--expires-at', expiry);
    const [port, feedPort] = [await freePort(), await freePort()];
    const served = start(t, ['serve', '--database', line.database, '--port', '0', '--ops-port', '0']);
    const [, serveTarget = ''] = await served.says('stderr', /operations on http:\/\/(\S+)\.$/m);
    const words = ['import', 'balances', '-', '--follow', '--ops-port', String(feedPort)];
    const feed = spawnCommand([...words, '--database', line.database]);
    t.after(() => feed.kill('SIGKILL'));

    const targets = { 'partner-network': serveTarget, 'partner-network-feed': `127.0.0.1:${feedPort}` };
    writeFileSync(join(line.folder, 'alerts.yml'), impatient);
    writeFileSync(join(line.folder, 'prometheus.yml'), JSON.stringify(settings(targets)));
    const flags = [`--web.listen-address=127.0.0.1:${port}`, '--config.file=prometheus.yml'];
    const running = spawn(prometheus!, [...flags, '--storage.tsdb.path=series'], {
      cwd: line.folder,
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
    const raises = (name: string) => until(waitMs, async () => (await firing()).includes(name));

    // Both jobs are scraped, all rules were evaluated, and nothing of what follows is wrong yet. A busy
    // machine may raise other alerts.
    const later = ['LinesRejected', 'NotReady', 'FeedDown'];
    await until(waitMs, async () => {
      const names = await firing();
      const isQuiet = names.includes('KeyExpires') && !names.some((name) => later.includes(name!));
      const isScraped = (await ask('query?query=sum(partner_network_ready)')).includes(',"2"]');
      const health = new Set((await ask('rules')).match(/(?<="health":")\w+/g));
      return isScraped && [...health].join() === 'ok' && isQuiet;
    });

    feed.stdin.write('{"id":"BAL_1"}\n');
    await raises('LinesRejected');

    feed.kill('SIGKILL');
    renameSync(line.databasePath, `${line.databasePath}.moved`);
    await raises('NotReady');
    await raises('FeedDown');
  },
);
