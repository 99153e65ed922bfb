import { readJson } from '../json.ts';
import type { Reading } from '../record-check.ts';
import { rejection } from '../rejections.ts';
import { readLines } from './lines.ts';

const blank = /^[ \t\r]*$/;

/** Reads JSON Lines: one record per line; blank lines are skipped. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Reading[]> {
  for await (const lines of readLines(chunks)) {
    const readings: Reading[] = [];
    for (const { number: line, text, flaw } of lines) {
      if (flaw === undefined && blank.test(text)) continue;
      const reading = flaw === undefined ? readJson(text) : { code: 'INVALID_JSON' as const };
      if ('code' in reading)
        readings.push({ line, text, rejections: [rejection(reading.code, reading.path)] });
      else readings.push({ line, text, value: reading.value });
    }
    yield readings;
  }
}
