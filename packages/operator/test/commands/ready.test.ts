import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { commandLineBounds } from '../../../common/src/bounds/common.ts';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { startHealth } from '../../../http/src/health.ts';
import { StoreUnavailable } from '../../../store/src/port.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { ready } from '../../src/commands/ready.ts';

const limits = { timeout: 120_000 };

/** Runs the command in this process, and returns what it prints: its result, or its failure. */
async function asked(...words: string[]): Promise<{ answers: string[]; failure?: string }> {
  const { values, problems } = parseLine(ready, words);
  assert.deepEqual(problems, []);
  const answers: string[] = [];
  const output = { answer: (text: string) => answers.push(text), write: async () => {}, remark: () => {} };
  try {
    await ready.run(values, [], output);
    return { answers };
  } catch (error) {
    return { answers, failure: (error as Error).message };
  }
}

/** The operations address of an instance whose database answers until `lose` is called. */
async function instance(t: TestContext, host = '127.0.0.1', port = 0) {
  let isLost = false;
  const ping = async () => {
    if (isLost) throw new StoreUnavailable('The database cannot be reached.');
    return [];
  };
  const health = await startHealth(host, port, ping, async () => [], watchedLog().log);
  t.after(health.close);
  const lose = () => {
    isLost = true;
  };
  return { ...health, lose, flags: ['--ops-port', new URL(health.url).port] };
}

test('an instance is ready, then draining or without its database, with a sentence for each', async (t) => {
  const { url, flags, drain, lose } = await instance(t);
  assert.deepEqual(await asked(...flags), { answers: [`The instance at ${url} is ready.`] });
  assert.deepEqual(await asked(...flags, '--json'), { answers: ['{\n  "ready": true\n}'] });
  lose();
  const lost = await asked(...flags);
  assert.deepEqual(lost.answers, []);
  assert.match(
    lost.failure!,
    /is not ready: its database does not answer or .* none of its workers listens\./,
  );
  drain();
  const { answers, failure } = await asked(...flags, '--json');
  assert.deepEqual(answers, ['{\n  "ready": false\n}']);
  assert.equal(failure, `The instance at ${url} is draining: it stops soon.`);
});

test('an instance that listens on every interface is asked on this machine', async (t) => {
  const { flags } = await instance(t, '0.0.0.0');
  const expected = { answers: [`The instance at http://127.0.0.1:${flags[1]} is ready.`] };
  assert.deepEqual(await asked(...flags, '--ops-host', '0.0.0.0'), expected);
});

test('a program that answers anything else, or nothing, is not an instance', limits, async (t) => {
  const answers = ['SSH-2.0', 'HTTP/1.1 404 Not Found', 'x'.repeat(100_000)];
  const other = createServer((socket) => {
    const text = answers.shift();
    if (text === undefined) t.mock.timers.tick(commandLineBounds.readyAnswerMs);
    // Without an end: the command closes the connection.
    else if (text.length > 100) socket.on('error', () => {}).write(text);
    else socket.end(`${text}\r\n\r\n`);
  });
  const flags = ['--ops-port', String(await listenOnAnyPort(t, other))];
  for (const _ of [...answers])
    assert.match((await asked(...flags)).failure!, /is not the operations address/);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  assert.match((await asked(...flags)).failure!, /^No instance answers at \S+ \(no answer in 3000 ms\)\./);
});

test('without an instance the status is 1, and a port of 0 is bad usage', async () => {
  const port = String(await freePort());
  const none = await run('ready', { variables: { OPS_PORT: port } });
  assertFailed(none, 1, new RegExp(`^No instance answers at http://\\S+:${port} \\(ECONNREFUSED\\)`));
  assertFailed(await run('ready --ops-port 0'), 2, /--ops-port 0 is not a port/);
});

test('--wait waits until the instance is ready, or until its process has ended', limits, async (t) => {
  const port = await freePort();
  const flags = ['--ops-port', String(port), '--wait', '3600'];
  const waiting = asked(...flags, '--pid', String(process.pid));
  await instance(t, '127.0.0.1', port);
  assert.equal((await waiting).failure, undefined);

  const ended = spawn('true');
  await once(ended, 'exit');
  const other = ['--ops-port', String(await freePort()), '--wait', '3600', '--pid', String(ended.pid)];
  assert.match((await asked(...other)).failure!, /No instance answers/);
});
