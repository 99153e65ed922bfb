import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { ingestBounds } from '../../../../common/src/bounds/operator.ts';
import { readJsonLines } from '../../../src/ingest/json.ts';
import { type Line, type Reading, readLines } from '../../../src/ingest/lines.ts';
import { type Bytes, chunksOf } from './read-csv.ts';

async function linesOf(...chunks: Bytes[]): Promise<Line[]> {
  return (await Array.fromAsync(readLines(chunksOf(chunks)))).flat();
}

/** The text of each line, or its flaw. */
async function textsOf(...chunks: Bytes[]): Promise<string[]> {
  return (await linesOf(...chunks)).map(({ text, flaw }) => flaw ?? text);
}

async function recordsOf(...chunks: Bytes[]): Promise<Reading[]> {
  return (await Array.fromAsync(readJsonLines(chunksOf(chunks)))).flat();
}

/** The value of each line, or its rejection code. */
async function outcomesOf(...chunks: Bytes[]): Promise<[number, unknown][]> {
  const readings = await recordsOf(...chunks);
  return readings.map((reading) => [
    reading.line,
    'rejections' in reading ? reading.rejections[0]?.code : reading.value,
  ]);
}

test('reads nothing from an empty file, blank lines or a BOM alone', async () => {
  for (const text of ['', '\n', '\r\n', '\n\n\n', ' \t \n \r\n', '\ufeff', '\ufeff\n', '\ufeff\r\n\n']) {
    assert.deepEqual(await recordsOf(text), [], JSON.stringify(text));
  }
});

test('numbers lines from 1, skipped blank lines included', async () => {
  assert.deepEqual(await outcomesOf('\n{"a":1}\n\n \t\r\n{"a":2}\n\n{"a":3}'), [
    [2, { a: 1 }],
    [5, { a: 2 }],
    [7, { a: 3 }],
  ]);
});

test('reads CRLF as LF, and the last line with and without a line end', async () => {
  const expected = await outcomesOf('{"a":1}\n\n{"a":2}\n');
  assert.deepEqual(await outcomesOf('{"a":1}\n\n{"a":2}'), expected);
  assert.deepEqual(await outcomesOf('{"a":1}\r\n\r\n{"a":2}\r\n'), expected);
});

test('skips a leading BOM, also when it comes in pieces', async () => {
  assert.deepEqual(await outcomesOf('\ufeff{"a":1}\n'), [[1, { a: 1 }]]);
  const bytes = Buffer.from('\ufeff{"a":1}\n');
  assert.deepEqual(await outcomesOf(bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)), [
    [1, { a: 1 }],
  ]);
});

test('skips only one BOM, and only at the start of the file', async () => {
  assert.deepEqual(await outcomesOf('\ufeff\ufeff{"a":1}\n\ufeff{"a":2}\n{"a":"\ufeff"}'), [
    [1, 'INVALID_JSON'],
    [2, 'INVALID_JSON'],
    [3, { a: '\ufeff' }],
  ]);
});

test('reports the lines of a chunk that are not UTF-8 or too long, and reads the others', async () => {
  const bad = Buffer.concat([Buffer.from('b'), Buffer.from([0xff]), Buffer.from('\n')]);
  const long = 'x'.repeat(ingestBounds.importLineBytes + 1);
  const together = Buffer.concat([Buffer.from('a\n'), bad, Buffer.from(`é\n\n${long}\nc\nd`)]);
  assert.deepEqual(await textsOf(together), ['a', 'encoding', 'é', '', 'tooLong', 'c', 'd']);
  const numbers = (await linesOf(together)).map(({ number }) => number);
  assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7]);
});

test('reads the same lines however the bytes are cut into chunks', async () => {
  const words = ['a', '\n', '\r\n', ' ', 'é', '🦊', '\ufeff', '\u2028'].map((text) => Buffer.from(text));
  const broken = [Buffer.from([0xff]), Buffer.from([0xe2, 0x82])];
  const parts = fc.array(fc.constantFrom(...words, ...broken));
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(40), { maxLength: 8 }), async (given, cuts) => {
      const bytes = Buffer.concat(given);
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
      assert.deepEqual(await linesOf(...chunks), await linesOf(bytes));
    }),
  );
});

test('splits only at line feeds', async () => {
  const first = 'a\u2028b\u2029c\u0085d\u000be\u000cf\rg';
  assert.deepEqual(await textsOf(`${first}\nh`), [first, 'h']);
});

test('reads a line of exactly the bound, and rejects a line with one byte more', async () => {
  const fits = 'x'.repeat(ingestBounds.importLineBytes);
  assert.deepEqual(await textsOf(`${fits}\nnext`), [fits, 'next']);
  for (const chunks of [[`${fits}x\nnext`], [fits, 'x\nnext'], [fits, 'x', '\n', 'next']]) {
    assert.deepEqual(await textsOf(...chunks), ['tooLong', 'next']);
  }
  assert.deepEqual(await outcomesOf('{"a":1}\n', fits, fits), [
    [1, { a: 1 }],
    [2, 'INVALID_JSON'],
  ]);
});

test('does not keep a line over the bound in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const given: WeakRef<ArrayBufferLike>[] = [];
  let held: unknown[] = [];
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 64; count += 1) {
      const chunk = Buffer.alloc(ingestBounds.importLineBytes, 'x');
      given.push(new WeakRef(chunk.buffer));
      yield chunk;
    }
    // A WeakRef keeps its target alive until the current event-loop turn ends.
    await setImmediate();
    collectGarbage();
    held = given.filter((reference) => reference.deref() !== undefined);
    yield Buffer.from('\nnext');
  }
  const lines = (await Array.fromAsync(readLines(endless()))).flat();
  assert.deepEqual(
    lines.map(({ text, flaw }) => flaw ?? text),
    ['tooLong', 'next'],
  );
  assert.ok(held.length <= 2, `${held.length} of 64 chunks are held`);
});
