/** Signals at any moment of a start: to an ordinary process, and to process 1, as in a container. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { commandLine, serve, spawnCommand, start, withPartners } from '../../../testkit/fixtures/run.ts';
import { fixtureLine } from '../../../testkit/fixtures/served.ts';
import { placeSqliteOf } from '../../../testkit/releases/releases.ts';
import { programsOnPath } from '../../../testkit/servers/programs.ts';

const serving = ['serve', '--environment', 'sandbox', '--port', '0', '--ops-port', '0', '--drain-delay', '0'];

/** Runs a command as process 1 of its own process namespace. */
const runner = [programsOnPath(['unshare'])[0] ?? 'unshare', '--pid', '--fork', '--kill-child'];
const needsProcess1 = { timeout: 120_000, skip: whyNotProcess1() };

function whyNotProcess1(): string | false {
  try {
    execFileSync(runner[0]!, [...runner.slice(1), process.execPath, '--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'needs the program unshare and the right to make a process namespace';
  }
}

/** The id of process 1 as seen from here. It is the only child of `unshare`. */
async function process1Of(pid: number): Promise<number> {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  await until(20_000, () => children() !== '');
  return Number(children());
}

/** Sends a signal. False if the process has ended. */
function isSignalled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGTERM');
  } catch {
    return false;
  }
}

function startAsProcess1(t: TestContext, words: readonly string[]) {
  return start(t, words, { runner });
}

test('process 1 ends at the first signal that Node can notice', needsProcess1, async (t) => {
  const { database } = await fixtureLine(t);
  const started = startAsProcess1(t, [...serving, '--database', database]);
  const pid = await process1Of(started.pid);
  // Signals that come before Node runs our first line can be lost, so this sends them until it ends.
  await until(20_000, () => !isSignalled(pid));
  // Before that line, Node itself may end by the signal, which is null here and 143 in a shell.
  assert.ok([143, null].includes(await started.ended));
  assert.deepEqual(started.texts(), { stdout: '', stderr: '' });
});

test('process 1 drains when it serves, and reports an interrupted import', needsProcess1, async (t) => {
  const { database } = await fixtureLine(t);
  const served = startAsProcess1(t, [...serving, '--database', database]);
  await served.says('stderr', /listening on/);
  process.kill(await process1Of(served.pid), 'SIGTERM');
  assert.equal(await served.ended, 0);
  assert.match(served.texts().stdout, /"msg":"draining".*"msg":"stopped"/s);

  const line = await withPartners(t, ['acme']);
  const importing = ['import', 'brands', '-', '--partner', 'acme', '--database', line.database];
  const child = spawnCommand(importing, { runner });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  // A pipe holds 64 KiB. When this write is done, the import has begun to read.
  await new Promise((resolve) => child.stdin.write('\n'.repeat(200_000), resolve));
  const ended = once(child, 'close');
  process.kill(await process1Of(child.pid!), 'SIGINT');
  assert.deepEqual(await ended, [130, null]);
  assert.equal(said, 'Interrupted: nothing was written.\n');
});

test('a signal during the start leaves no stack trace, and an upgrade whole or not begun', async (t) => {
  for (const ms of [0, 80, 160, 240]) {
    const { databasePath, database, inside } = commandLine(t);
    placeSqliteOf('0.0.0', databasePath);
    const started = start(t, [...serving, '--database', database]);
    await wait(ms);
    started.signal('SIGTERM');
    const status = await started.ended;
    const { stderr } = started.texts();
    assert.ok(status === 0 || (status === null && stderr === ''), `${ms} ms: ${status} ${stderr}`);
    assert.match(stderr, /^(Serving .*\n)?$/);
    assert.equal((await inside((store) => store.listPartners(), 'sandbox')).length > 0, true);
  }
});

test('SIGUSR1 opens no debugger', async (t) => {
  const { database } = await fixtureLine(t);
  const served = await serve(t, ['--environment', 'sandbox', '--drain-delay', '0', '--database', database]);
  served.signal('SIGUSR1');
  assert.equal((await fetch(`${served.operationsUrl}/readyz`)).status, 200);
  served.signal('SIGTERM');
  assert.equal(await served.ended, 0);
  assert.doesNotMatch(served.texts().stderr, /Debugger/);
});
