/** Reads CSV and reports the result of each line. */

import type { ImportKind } from '../../../../store/src/port.ts';
import { readCsv } from '../../../src/ingest/csv.ts';
import type { Reading } from '../../../src/ingest/lines.ts';
import { kinds } from '../../../src/ingest/record-check.ts';

export type Bytes = string | Uint8Array;

export async function* chunksOf(chunks: readonly Bytes[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** The value read from each line, or its rejection codes. 'cut' marks a rejection that ends the reading. */
export async function outcomesOf(kind: ImportKind, ...chunks: Bytes[]): Promise<[number, unknown][]> {
  return (await readingsOf(kind, chunks)).map((reading) => {
    if ('value' in reading) return [reading.line, JSON.parse(JSON.stringify(reading.value))];
    const codes = reading.rejections.map(({ field, code }) =>
      field === undefined ? code : `${field} ${code}`,
    );
    return [reading.line, [...codes, ...(reading.cutAt ? ['cut'] : [])]];
  });
}

/** The messages of all rejections, one per line. */
export async function saidOf(kind: ImportKind, ...chunks: Bytes[]): Promise<string> {
  const rejections = (await readingsOf(kind, chunks)).flatMap((one) =>
    'rejections' in one ? one.rejections : [],
  );
  return rejections.map(({ field, detail }) => `${field ?? 'line'}: ${detail}`).join('\n');
}

async function readingsOf(kind: ImportKind, chunks: readonly Bytes[]): Promise<Reading[]> {
  return (await Array.fromAsync(readCsv(chunksOf(chunks), kinds[kind].schema))).flat();
}
