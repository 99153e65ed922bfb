/**
 * Runs every command of the pages for operators in a fresh clone, page by page: each page continues with the
 * data of the previous ones. administration.test.ts and others run those named at the end.
 */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { withoutHaproxy } from '../../../packages/testkit/servers/haproxy.ts';
import { emptyDatabase, wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { needsPromtool } from '../../../packages/testkit/servers/promtool.ts';
import { files, pageFor, pagesFor } from '../../sources.ts';
import { blocksOf, type Clone, makeClone, type RunningScript, shellBlocks } from '../clone.ts';
import { balances, createDrill, type Drill, type IssuedKey, keyIn } from '../drill.ts';
import { adaptTo } from '../on-postgres.ts';
import { openPage, type Page } from '../page.ts';

const [, , helpCommand = ''] = shellBlocks('README.md');

let clone: Clone;
let drill: Drill;
/** The running service; all use the same ports. */
let server: RunningScript | undefined;
before(async () => {
  clone = await makeClone();
  drill = createDrill(clone);
});
after(async () => {
  await server?.stop();
  clone.remove();
});

/** The pages, each opened once. */
const opened = new Map<string, Page>();

function pageOf(name: string, isTaken: (block: string) => boolean = () => true): Page {
  const document = pageFor('operators', name.replace('.md', ''));
  const page = opened.get(name) ?? openPage(clone, document, shellBlocks(document).filter(isTaken));
  opened.set(name, page);
  return page;
}

async function serveNext(page: Page, adapt?: (block: string) => string): Promise<void> {
  await stopServing();
  server = await page.serve(adapt);
}

async function stopServing(): Promise<void> {
  await server?.stop();
  server = undefined;
}

let leaked: IssuedKey;
let working: IssuedKey;

test('run.md sets up a production service, up to the first answer to a partner', async () => {
  assert.match(await clone.run(helpCommand), /^Usage: partner-network/);
  const page = pageOf('run.md');
  await page.next(/^Created the production database \S+\/production\.db with schema \d+\.\n$/);
  leaked = keyIn(await page.next(/^pn_live_/m));
  await page.next(/^2 read, 2 written/);
  await page.next(/^1 read, 1 written.*may read the balances of customer CUSTOMER_1\.$/ms);
  await serveNext(page);
  const ofTest = (block: string) => block.replace('pn_live_PASTE_YOUR_KEY', leaked.key);
  await page.next(/"id":"BRAND_1".*"id":"BRAND_2"/, ofTest);
  await page.next(/"amount":125050/);
  page.end();
});

test('serve.md starts the service without npx, and access.md lists what gives access', async () => {
  const serving = pageOf('serve.md');
  // The service of run.md stops, and writes the receipt of its answer.
  await serveNext(serving);
  serving.end();
  const access = pageOf('access.md');
  await access.next(/PARTNER_ACME.*pn_live_….*ACTIVE +CUSTOMER_1/s);
  await access.next(/brands 20/);
  await clone.run('npx partner-network partners limit PARTNER_ACME --brands default');
  access.end();
});

test('conformance.md and doctor.md report what is wrong', async () => {
  const conformance = pageOf('conformance.md');
  await conformance.next(/^Created partner PARTNER_CHECK/m);
  await conformance.next(/^\d+ cases: \d{3} passed, 0 failed, 0 failed as expected, \d+ skipped\.\n$/m);
  conformance.end();
  const doctor = pageOf('doctor.md');
  await doctor.next(/^✓ environment {2}The database belongs to production\.$/m);
  doctor.end();
});

test('import.md, feeds.md and take-back.md change data while the service runs', async () => {
  await drill.importData(pageOf('import.md'), pageOf('feeds.md'));
  await drill.takeBack(pageOf('take-back.md'));
  assert.match(await drill.call(leaked, balances), /"amount":125050/);
});

test('observe.md shows health, metrics, receipts and counts of answers', async () => {
  const page = pageOf('observe.md');
  await page.next(/^alive\nready\nThe instance at \S+ is ready\.\n$/);
  await page.next(/^partner_network_receipts_written_total \d+$/m);
  await page.next(/CUSTOMER_1 .*GRANTED.*"outcome":"GRANTED"/s);
  await page.next(/^Removed 0 receipts from before/);
  await drill.seeUsage(page);
});

test('traces.md serves with a collector, even if it is unreachable', async () => {
  const page = pageOf('traces.md');
  await serveNext(page);
  assert.match(await drill.call(leaked, balances), /"amount":125050/);
  page.end();
});

test('alerts.md has rules that Prometheus can read', async (t) => {
  const page = pageOf('alerts.md');
  if (needsPromtool.skip) return t.skip(needsPromtool.skip);
  await page.next(/SUCCESS: \d+ rules found/);
  page.end();
});

test('audit.md shows who revoked a key', async () => {
  working = await drill.newKey();
  await clone.run(`npx partner-network keys revoke ${leaked.id}`);
  await drill.refuses(leaked, 'API_KEY_REVOKED');
  await drill.followAudit(pageOf('audit.md'), leaked);
});

test('cursor-keys.md renews the key during a walk, and discards a leaked key', async () => {
  const cursor = await drill.cursorOf(working);
  const next = () => drill.call(working, `brands?limit=1&cursor=${cursor}`);
  const page = pageOf('cursor-keys.md');
  await page.next(
    /^Created cursor key 1\. It seals cursors from \S+\.\nCursor key 0 opens cursors until \S+\.\n$/,
  );
  assert.match(await next(), /^200 /);
  await page.next(/^1 .* waiting .*^0 .* sealing /ms);
  await page.next(/^Created cursor key 2\. .*\nDeleted cursor keys 0 and 1\.\n/);
  await until(20_000, async () => (await next()).includes('INVALID_CURSOR'));

  // Both keys of this page are lost.
  const lost =
    "new (require('node:sqlite').DatabaseSync)('data/production.db').exec('delete from cursor_keys')";
  await clone.run(`node_modules/.bin/node -e "${lost}"`);
  await until(20_000, async () => (await drill.call(working, 'brands?limit=1')).startsWith('503 '));
  await page.next(/^Created cursor key 0\. It seals cursors from now on\.\n$/);
  await drill.cursorOf(working);
  page.end();
});

/** The script of back-up.md, which both engines share, and what to do without the old database. */
const isScript = (block: string) => /set -e$|receipts list/m.test(block);

function openScript(): Page {
  const document = pageFor('operators', 'back-up');
  return openPage(clone, document, shellBlocks(document).filter(isScript));
}

test('back-up.md restores the embedded database, but not keys and grants revoked since', async () => {
  const revokedSince = await drill.newKeyAndGrant();
  const cursor = await drill.cursorOf(working);
  const page = pageOf('back-up.md', (block) => !isScript(block));
  await page.next(/2027-01-31\.db, \d+ bytes\n.*2027-01-31\.db-receipts, \d+ bytes\n$/);
  await drill.changeSince(revokedSince, working);

  await stopServing();
  await page.next(/^$/);
  const script = openScript();
  await drill.findsActive(script, revokedSince);
  await clone.run('test ! -e data/production.db');
  await drill.applySince(script);
  await drill.seeRefused(script, revokedSince, 'sqlite:data/production.db');
  await serveNext(page);
  await page.next(/^(\d) read, 0 written, \1 unchanged, 0 stale, 0 deleted, 0 rejected\.\n$/);
  await drill.assertRestored(cursor, revokedSince, working);
});

test('upgrade.md backs up, and upgrades the schema while the service is stopped', async () => {
  const page = pageOf('upgrade.md');
  await page.next(/before-upgrade\.db, \d+ bytes$/m);
  await stopServing();
  await serveNext(page);
  assert.match(server!.printed, /^The production database \S+ already has the current schema, \d+\.\n/);
  assert.match(server!.printed, /^✓ schema /m);
  assert.match(await drill.call(working, balances), /"amount":125050/);
  page.end();
});

let postgres: string;
test('move-to-postgres.md moves everything, and every key still works', async () => {
  postgres = await emptyDatabase(wholeFile);
  const { onPostgres } = adaptTo(postgres);
  const page = pageOf('move-to-postgres.md');
  await page.next(/^Created the production database \S+ with schema \d+\.$/m, onPostgres);
  await page.next(/^$/);
  const imported = await page.next(/^2 partners and \d+ keys created, /, onPostgres);
  assert.match(imported, /\n3 read, 3 customers erased: .*\n((\d+) read, \2 written(, 0 [a-z]+){4}\.\n){3}$/);
  await serveNext(page, onPostgres);
  assert.match(await drill.call(working, balances), /"amount":125050/);
  assert.match(await drill.call(leaked, balances), /API_KEY_REVOKED/);
  page.end();
  opened.delete('take-back.md');
  await drill.takeBack(pageOf('take-back.md'), `export DATABASE_URL='${postgres}'`);
});

test('back-up.md restores Postgres, but not keys and grants revoked since', async (t) => {
  const page = pageOf('back-up.md');
  const { canDump, withPrograms } = adaptTo(postgres);
  if (!(await canDump(t, clone))) return t.skip('needs a pg_dump that is not older than the server');
  t.after(async () => {
    await stopServing();
    const drop = `dropdb --if-exists --force --maintenance-db='${postgres}'`;
    await clone.run(withPrograms(`${drop} network_restored; ${drop} network_unchecked`));
  });
  const settings = `export DATABASE_URL='${postgres}'`;
  const revokedSince = await drill.newKeyAndGrant(settings);
  const cursor = await drill.cursorOf(working);
  await page.next(/^$/, withPrograms);
  await drill.changeSince(revokedSince, working, settings);
  await page.next(/^$/, withPrograms);
  await stopServing();
  const script = openScript();
  await script.fails(/could not be read/, (block) =>
    withPrograms(block.replace('  copy_log', '  OLD="no-$OLD" copy_log')),
  );
  // The first run writes to the log, and the second goes on after it.
  const change = '  copy_log\n  partner-network partners create --name Later >&2';
  await drill.findsActive(script, revokedSince, (block) => withPrograms(block.replace('  copy_log', change)));
  await drill.applySince(script, withPrograms);
  await drill.seeRefused(script, revokedSince, `${postgres}_restored`);
  await serveNext(page, withPrograms);
  const onRestored = `export DATABASE_URL='${postgres}_restored'`;
  await drill.assertRestored(cursor, revokedSince, working, onRestored);
  page.end();
});

test('separate-duties.md creates the roles, and records why a change was made', (t) =>
  adaptTo(postgres).separateDuties(t, clone, pageOf('separate-duties.md')));

/** Replaces the servers of a page by the test's Postgres and by others that do not exist. */
function withoutOthers(block: string): string {
  return `export DATABASE_URL='${postgres}'\n${block.replaceAll('.example', '.invalid')}`;
}

test('workers-and-instances.md serves with workers, with other ports, and behind HAProxy', async () => {
  const page = pageOf('workers-and-instances.md');
  await serveNext(page, withoutOthers);
  assert.match(await drill.call(working, balances), /"amount":125050/);
  await serveNext(page, (block) => withoutOthers(block.replaceAll(/(port) \d+/g, '$1 0')));
  await stopServing();
  const checked = (block: string) => `PATH=$PATH:/usr/sbin; ${block.replace('-db', '-c')}`;
  await page.next(/^(Configuration file is valid\n)?$/, withoutHaproxy ? () => '' : checked);
  page.end();
});

for (const name of ['postgres.md', 'shared-rate-limit.md']) {
  test(`${name} serves even while the other servers are unreachable`, async () => {
    const page = pageOf(name);
    await serveNext(page, withoutOthers);
    assert.match(await drill.call(working, balances), /"amount":125050/);
    await stopServing();
    page.end();
  });
}

test('every page for operators with commands is tested, and other documents have none', () => {
  const elsewhere = `install containers compose kubernetes sharding first-batch send-changes administration
    incidents database-password second-region`.split(/\s+/);
  const isHere = (path: string) => !elsewhere.includes(basename(path, '.md'));
  const pages = pagesFor('operators').filter((path) => shellBlocks(path).length > 0 && isHere(path));
  assert.deepEqual([...opened.keys()].toSorted(), pages.map((path) => path.split('/').at(-1)).toSorted());
  const tested = [...pagesFor('partners'), ...pagesFor('operators')];
  for (const file of files.filter((name) => /^docs\/.*\.md$/.test(name) && !tested.includes(name)))
    assert.deepEqual(
      blocksOf(file).filter(({ language }) => language !== 'mermaid'),
      [],
      file,
    );
});
