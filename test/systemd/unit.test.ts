/** The units of systemd. `npm run check -- long` also boots systemd and follows the guide with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { httpBounds } from '../../packages/common/src/bounds/http.ts';
import { ingestBounds } from '../../packages/common/src/bounds/operator.ts';
import { receiptsBounds, tracingBounds } from '../../packages/common/src/bounds/service.ts';
import { postgresBounds } from '../../packages/common/src/bounds/store.ts';
import { parseLine } from '../../packages/common/src/command-line/parse.ts';
import { adminSettings } from '../../packages/operator/src/admin/settings.ts';
import {
  importBalances,
  importBrands,
  importGrants,
} from '../../packages/operator/src/commands/import/import.ts';
import { ready } from '../../packages/operator/src/commands/ready.ts';
import { pruneReceipts, pruneUsage } from '../../packages/operator/src/commands/receipts-and-usage.ts';
import { serveSettings } from '../../packages/service/src/settings.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { executable } from '../../packages/testkit/fixtures/run.ts';
import { fixtureLine } from '../../packages/testkit/fixtures/served.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { files, read } from '../sources.ts';

const unit = read('deploy/partner-network.service');
const feed = read('deploy/partner-network-feed@.service');
const administration = read('deploy/partner-network-admin.service');
const backups = read('deploy/partner-network-backup.service');
const retention = read('deploy/partner-network-prune.service');
const setTo = (name: string, text = unit) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';

const [analyze] = programsOnPath(['systemd-analyze']);
const needsSystemd = { skip: analyze === undefined && 'systemd-analyze is not installed' };

function analyzed(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(analyze!, ['--no-pager', ...words], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('systemd finds no fault in the units, and rates their exposure at 2.5 or less', needsSystemd, (t) => {
  const folder = temporaryFolder(t);
  const units = files.filter((name) => /^deploy\/.*\.(service|socket|timer)$/.test(name));
  const copies = units.map((name) => {
    const copy = join(folder, basename(name));
    writeFileSync(copy, read(name).replaceAll(/(?<=^Exec\w+=)partner-network /gm, `${executable} `));
    return copy;
  });
  assert.equal(copies.length, 8);
  assert.deepEqual(analyzed('verify', ...copies), { status: 0, said: '' });
  for (const copy of copies.filter((name) => name.endsWith('.service'))) {
    const { status, said } = analyzed('security', '--offline=true', '--threshold=25', copy);
    assert.equal(status, 0, said);
    assert.match(said, /Overall exposure level for partner-network\S*\.service: [\d.]+ OK/);
  }
});

test('all units have the same limits of access as the service', () => {
  const accessOf = (text: string) =>
    /^# Without MemoryDenyWriteExecute.*?\n(?=\n|$)/ms.exec(`${text}\n`)?.[0];
  const others = [feed, administration, backups, retention];
  for (const other of others) assert.equal(accessOf(other), accessOf(unit));
});

test('the unit of backups names a copy by its moment, and deletes only its own old copies', async (t) => {
  const line = await fixtureLine(t);
  const folder = join(line.folder, 'partner-network-backups');
  const old = [
    '2026-01-01T020000Z.db',
    '2026-01-01T020000Z.db-receipts',
    '2026-01-02T020000Z.db.partial/database',
  ];
  const kept = ['2026-02-01T020000Z.db', 'before-upgrade.db', 'lost+found/file'];
  for (const name of [...old, ...kept]) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    const atSeconds = Date.now() / 1_000 - 86_400 * (name === kept[0] ? 29 : 32);
    utimesSync(file, atSeconds, atSeconds);
  }
  // As systemd fills them in.
  const filled = { '%%': '%', '%S': line.folder, $$: '$', 'partner-network backup': `${executable} backup` };
  const commandOf = (name: string) =>
    setTo(name, backups).replaceAll(
      /%%|%S|\$\$|partner-network backup/g,
      (found) => filled[found as keyof typeof filled],
    );
  const own = { DATABASE_URL: line.database, ENVIRONMENT: 'sandbox' };
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...own };
  const runLine = (name: string, BACKUP_DAYS: string) => {
    const { status, stderr } = spawnSync('sh', ['-c', commandOf(name)], {
      env: { ...env, BACKUP_DAYS },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  };
  const before = runLine('ExecStart', '');
  const [copy = ''] = before.filter((name) => /^\d{4}-\d\d-\d\dT\d{6}Z\.db$/.test(name)).slice(-1);
  assert.ok(before.includes(`${copy}-receipts`));
  const [, days = ''] = /^Environment=BACKUP_DAYS=(\d+)$/m.exec(backups)!;
  assert.deepEqual(
    runLine('ExecStartPost', days),
    before.filter((name) => !old.includes(name)),
  );
  assert.ok(runLine('ExecStartPost', '-1').includes(copy), 'the copy of today stays');
});

test('the unit of retention runs commands that exist, and that ask nothing', () => {
  const lines = [...retention.matchAll(/^ExecStart=partner-network (\w+ prune) (.*)$/gm)];
  const ages = Object.fromEntries([...retention.matchAll(/\b(\w+_AGE)=(\S+)/g)].map(([, ...pair]) => pair));
  const found = lines.map(([, name, flags = '']) => {
    const words = flags.replace(/\$(\w+)/, (_, age) => ages[age]).split(' ');
    const { values, problems } = parseLine(name === 'receipts prune' ? pruneReceipts : pruneUsage, words);
    assert.ok((values as { 'older-than': number })['older-than'] >= receiptsBounds.pruneFreelyMs);
    return [name, problems];
  });
  assert.deepEqual(found, [
    ['receipts prune', []],
    ['usage prune', []],
  ]);
});

test('the unit of a feed runs a command that exists, and gives it enough time to stop', () => {
  const words = setTo('ExecStart', feed).split(' ');
  assert.deepEqual(words.slice(0, 3), ['partner-network', 'import', '%i']);
  assert.equal(words.at(-1), '$FEED_FLAGS');
  for (const command of [importBrands, importBalances, importGrants]) {
    assert.deepEqual(parseLine(command, [...words.slice(3, -1), '--ops-port', '9091']).problems, []);
  }
  const { followCommitMs, followStoppedMs, followRetryMs } = ingestBounds;
  // The end of the retries, the last audit entry, and the connections of the import and of the pools.
  const stopMs = followCommitMs + followStoppedMs + 2 * followRetryMs + 4 * postgresBounds.closeMs;
  assert.ok(Number(setTo('TimeoutStopSec', feed)) >= stopMs / 1_000);
});

test('the units give a service that drains enough time to stop', () => {
  const drainSeconds = Number(serveSettings['drain-delay'].default);
  assert.equal(adminSettings['drain-delay'].default, serveSettings['drain-delay'].default);
  const closeMs =
    httpBounds.drainMs + receiptsBounds.closeMs + postgresBounds.closeMs + tracingBounds.closeMs;
  for (const text of [unit, administration]) {
    assert.ok(Number(setTo('TimeoutStopSec', text)) >= drainSeconds + closeMs / 1_000);
  }
});

test('the units wait with flags that `ready` has, and for less time than systemd allows', () => {
  for (const text of [unit, administration]) {
    const defaults = Object.entries(portsOf(text));
    const filled = defaults.reduce(
      (line, [name, value]) => line.replace(`$${name}`, value),
      setTo('ExecStartPost', text).replace('$MAINPID', '1'),
    );
    const words = filled.split(' ');
    const { values, problems } = parseLine(ready, words.slice(2));
    assert.deepEqual([words.slice(0, 2), problems], [['partner-network', 'ready'], []]);
    assert.ok((values as { wait: number }).wait < Number(setTo('TimeoutStartSec', text)));
  }
});

/** The variables that a unit sets in one line. */
function portsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/\b(ADMIN_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
}

test('the unit of the administrative service asks where the service listens by default', () => {
  assert.deepEqual(portsOf(administration), {
    ADMIN_OPS_HOST: adminSettings['ops-host'].default,
    ADMIN_OPS_PORT: String(adminSettings['ops-port'].default),
  });
});
