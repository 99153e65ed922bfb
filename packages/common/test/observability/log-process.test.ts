/** The log of a process that ends, or whose log is read slowly or not at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { observabilityBounds } from '../../src/bounds/common.ts';

const logModule = new URL('../../src/observability/log.ts', import.meta.url).href;

const programOf = (script: string) => `
  const { createLog } = await import('${logModule}');
  const log = createLog('info');
  ${script}`;

/** A process that runs this script with a log on its standard output. */
function logging(script: string) {
  return spawn(process.execPath, ['--input-type=module', '--eval', programOf(script)]);
}

test('a line is written at once, and before the process ends, even if it fails', async () => {
  const waiting = logging(`log.info('soon'); process.stdin.resume();`);
  const [line] = await once(waiting.stdout, 'data');
  assert.match(String(line), /"soon"/);
  waiting.stdin.end();

  for (const end of ['process.exit(3)', `throw new Error('fault')`, '']) {
    const ending = logging(`log.info('last'); ${end}`);
    assert.match(await text(ending.stdout), /"last"/, end);
  }
});

test('a process ends normally if its log pipe is closed', async () => {
  // A pipe of the shell: Node would give the process a socket, which fails in another way.
  const pipe = 'set -o pipefail; "$1" --input-type=module --eval "$2" | true';
  const script = programOf(`setTimeout(() => { log.info('last'); process.exit(3); }, 100);`);
  const ending = spawn('bash', ['-c', pipe, 'bash', process.execPath, script], { timeout: 10_000 });
  const [status] = await once(ending, 'close');
  assert.equal(status, 3);
});

test('lines that are not read wait in memory up to a limit, and the process goes on', async () => {
  const lines = Math.ceil((2 * observabilityBounds.logWaitingCharacters) / 1_000);
  const busy = logging(`
    for (let line = 0; line < ${lines}; line += 1) log.info('${'x'.repeat(1_000)}');
    process.stderr.write('done');
    process.stdin.on('end', () => log.info('after')).resume();`);
  await once(busy.stderr, 'data');
  const read = text(busy.stdout);
  busy.stdin.end();
  const characters = (await read).length;
  assert.ok(characters > observabilityBounds.logWaitingCharacters * 0.9, String(characters));
  assert.ok(characters < observabilityBounds.logWaitingCharacters * 1.2, String(characters));
});
