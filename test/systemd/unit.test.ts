/** The unit of systemd. `npm run tests:long` also boots systemd and follows the guide with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { httpBounds } from '../../packages/server/src/bounds/http.ts';
import { postgresBounds } from '../../packages/server/src/bounds/postgres.ts';
import { receiptsBounds } from '../../packages/server/src/bounds/receipts.ts';
import { tracingBounds } from '../../packages/server/src/bounds/tracing.ts';
import { parseLine } from '../../packages/server/src/command-line/parse.ts';
import { ready } from '../../packages/server/src/commands/ready.ts';
import { serveSettings } from '../../packages/server/src/serve/settings.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { executable } from '../../packages/testkit/fixtures/run.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { read } from '../sources.ts';

const unit = read('deploy/partner-network.service');
const setTo = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

const [analyze] = programsOnPath(['systemd-analyze']);
const needsSystemd = { skip: analyze === undefined && 'systemd-analyze is not installed' };

function analyzed(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(analyze!, ['--no-pager', ...words], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('systemd finds no fault in the unit, and rates its exposure at 2.5 or less', needsSystemd, (t) => {
  const file = join(temporaryFolder(t), 'partner-network.service');
  writeFileSync(file, unit.replaceAll(/(?<=^Exec\w+=)partner-network /gm, `${executable} `));
  assert.deepEqual(analyzed('verify', file), { status: 0, said: '' });
  const { status, said } = analyzed('security', '--offline=true', '--threshold=25', file);
  assert.equal(status, 0, said);
  assert.match(said, /Overall exposure level for partner-network\.service: [\d.]+ OK/);
});

test('the unit gives a service that drains enough time to stop', () => {
  const drainSeconds = Number(serveSettings['drain-delay'].default);
  const closeMs =
    httpBounds.drainMs +
    receiptsBounds.receiptsCloseMs +
    postgresBounds.postgresCloseMs +
    tracingBounds.tracesCloseMs;
  assert.ok(Number(setTo('TimeoutStopSec')) >= drainSeconds + closeMs / 1_000);
});

test('the unit waits with flags that `ready` has, and for less time than systemd allows', () => {
  const words = setTo('ExecStartPost').replace('$MAINPID', '1').split(' ');
  const { values, problems } = parseLine(ready, words.slice(2));
  assert.deepEqual([words.slice(0, 2), problems], [['partner-network', 'ready'], []]);
  assert.ok((values as { wait: number }).wait < Number(setTo('TimeoutStartSec')));
});
