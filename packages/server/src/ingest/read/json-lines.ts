import { importFault } from '../faults.ts';
import type { Reading } from '../import.ts';
import { readJson } from './json.ts';
import { type Line, readLines } from './lines.ts';

/** JSON Lines: one record a line. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Reading[]> {
  for await (const lines of readLines(chunks)) yield lines.map(readLine);
}

function readLine({ number: line, text }: Line): Reading {
  const reading = text === undefined ? { fault: 'INVALID_JSON' as const } : readJson(text);
  return 'fault' in reading
    ? { line, faults: [importFault(reading.fault, reading.path)] }
    : { line, value: reading.value };
}
