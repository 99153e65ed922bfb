/** The units of systemd. `npm run check -- long` also boots systemd and follows the guide with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { httpBounds } from '../../packages/common/src/bounds/http.ts';
import { ingestBounds } from '../../packages/common/src/bounds/ingest.ts';
import { postgresBounds } from '../../packages/common/src/bounds/postgres.ts';
import { receiptsBounds } from '../../packages/common/src/bounds/receipts.ts';
import { tracingBounds } from '../../packages/common/src/bounds/tracing.ts';
import { parseLine } from '../../packages/common/src/command-line/parse.ts';
import { adminSettings } from '../../packages/operator/src/admin/settings.ts';
import {
  importBalances,
  importBrands,
  importGrants,
} from '../../packages/operator/src/commands/import/import.ts';
import { ready } from '../../packages/operator/src/commands/ready.ts';
import { serveSettings } from '../../packages/service/src/settings/serve.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { executable } from '../../packages/testkit/fixtures/run.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { files, read } from '../sources.ts';

const unit = read('deploy/partner-network.service');
const feed = read('deploy/partner-network-feed@.service');
const administration = read('deploy/partner-network-admin.service');
const setTo = (name: string, text = unit) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';

const [analyze] = programsOnPath(['systemd-analyze']);
const needsSystemd = { skip: analyze === undefined && 'systemd-analyze is not installed' };

function analyzed(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(analyze!, ['--no-pager', ...words], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('systemd finds no fault in the units, and rates their exposure at 2.5 or less', needsSystemd, (t) => {
  const folder = temporaryFolder(t);
  const units = files.filter((name) => /^deploy\/.*\.(service|socket)$/.test(name));
  const copies = units.map((name) => {
    const copy = join(folder, basename(name));
    writeFileSync(copy, read(name).replaceAll(/(?<=^Exec\w+=)partner-network /gm, `${executable} `));
    return copy;
  });
  assert.equal(copies.length, 4);
  assert.deepEqual(analyzed('verify', ...copies), { status: 0, said: '' });
  for (const copy of copies.filter((name) => name.endsWith('.service'))) {
    const { status, said } = analyzed('security', '--offline=true', '--threshold=25', copy);
    assert.equal(status, 0, said);
    assert.match(said, /Overall exposure level for partner-network\S*\.service: [\d.]+ OK/);
  }
});

test('a feed and the administrative service have the same limits of access as the service', () => {
  const accessOf = (text: string) => /^# Without MemoryDenyWriteExecute.*/ms.exec(text)?.[0];
  for (const other of [feed, administration]) assert.equal(accessOf(other), accessOf(unit));
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
  const stopMs = followCommitMs + followStoppedMs + 2 * followRetryMs + 4 * postgresBounds.postgresCloseMs;
  assert.ok(Number(setTo('TimeoutStopSec', feed)) >= stopMs / 1_000);
});

test('the units give a service that drains enough time to stop', () => {
  const drainSeconds = Number(serveSettings['drain-delay'].default);
  assert.equal(adminSettings['drain-delay'].default, serveSettings['drain-delay'].default);
  const closeMs =
    httpBounds.drainMs +
    receiptsBounds.receiptsCloseMs +
    postgresBounds.postgresCloseMs +
    tracingBounds.tracesCloseMs;
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
