import { importFault } from '../faults.ts';
import type { Reading } from '../record-check.ts';
import { readJson } from './json.ts';
import { readLines } from './lines.ts';

const blank = /^[ \t\r]*$/;

/** Reads JSON Lines: one record per line; blank lines are skipped. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Reading[]> {
  for await (const lines of readLines(chunks)) {
    const readings: Reading[] = [];
    for (const { number: line, text, flaw } of lines) {
      if (flaw === undefined && blank.test(text)) continue;
      const reading = flaw === undefined ? readJson(text) : { fault: 'INVALID_JSON' as const };
      if ('fault' in reading)
        readings.push({ line, text, faults: [importFault(reading.fault, reading.path)] });
      else readings.push({ line, text, value: reading.value });
    }
    yield readings;
  }
}
