import { importFault } from './faults.ts';
import type { Reading } from './import.ts';
import { readJson } from './json.ts';
import { readLines } from './lines.ts';

/** JSON Lines: one record a line. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Reading> {
  for await (const { number: line, text } of readLines(chunks)) {
    const reading = text === undefined ? { fault: 'INVALID_JSON' as const } : readJson(text);
    if ('fault' in reading) yield { line, fault: importFault(reading.fault, reading.key) };
    else yield { line, value: reading.value };
  }
}
