import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Answers at once, and ends 50 ms after the message "end". */
const thread = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (message) => {
    if (message === 'end') setTimeout(() => parentPort.close(), 50);
    else parentPort.postMessage({ id: message.id, answer: message.question });
  });`;

test('a thread that is closed keeps the process alive until it has ended, also with open calls', () => {
  const file = `data:text/javascript,${encodeURIComponent(thread)}`;
  const program = `
    import { startThread } from '${import.meta.resolve('../../src/sqlite/thread-call.ts')}';
    const { call, close } = startThread(new URL(${JSON.stringify(file)}));
    const answers = [call(1), call(2)];
    await close();
    console.log(await Promise.all(answers));`;
  const words = ['--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '[ 1, 2 ]\n');
});
