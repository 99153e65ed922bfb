import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { spawnCommand, withPartners } from '../../../../testkit/fixtures/run.ts';

/** Makes the process print its peak memory when it ends. */
const printPeak = `process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS))`;

const good = '{"id":"good","reference_id":"r","name":"n"}\n';

function* longLine(mebibytes: number): Generator<string> {
  yield `${good}{"reference_id":"r","name":"`;
  for (let count = 0; count < mebibytes; count += 1) yield 'x'.repeat(1024 * 1024);
  yield `"}\n${good}`;
}

test('rejects a line of 100 MB by its number, writes nothing, and does not hold it in memory', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['import', 'brands', '-', '--partner', 'acme', '--json', '--database', line.database];
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(printPeak)}` };
  const child = spawnCommand(words, { variables });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    pipeline(Readable.from(longLine(100)), child.stdin),
  ]);
  assert.deepEqual(await ended, [1, null]);
  const { rejected, ...counts } = JSON.parse(stdout);
  assert.deepEqual(counts, { read: 3, written: 0, unchanged: 0, stale: 0, deleted: 0, rejected_count: 1 });
  assert.deepEqual([rejected[0].line, rejected[0].errors[0].code], [2, 'INVALID_JSON']);
  const peakKibibytes = Number(/peak (\d+)$/.exec(stderr)?.[1]);
  // An idle process takes 60 MB. Keeping the line and decoding it would take 200 MB more.
  assert.ok(peakKibibytes < 200 * 1024, `${peakKibibytes} KiB`);
});
