import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { Output } from '@partner-network/common/command-line/command';
import { OperatorError } from '@partner-network/common/errors';
import { counted } from '@partner-network/common/text';
import { readJsonLines } from '../../ingest/json.ts';
import type { Rejection } from '../../ingest/rejections.ts';
import { bytesOf } from './input.ts';
import { remarkErrors } from './report.ts';

/** Reads all lines of JSON Lines into memory. Reports rejected lines, and fails if there is one. */
export async function readWholeFile<Record>(
  file: string,
  output: Output,
  read: (value: unknown) => { readonly record: Record; readonly rejections: readonly Rejection[] },
  /** What FILE must be. */
  remedy: string,
): Promise<Record[]> {
  const records: Record[] = [];
  let rejected = 0;
  for await (const readings of readJsonLines(bytesOf(file))) {
    for (const reading of readings) {
      const { record, rejections } =
        'rejections' in reading ? { ...reading, record: undefined } : read(reading.value);
      if (rejections.length === 0) records.push(record!);
      else if (++rejected <= ingestBounds.importShownLines)
        remarkErrors(output, '', reading.line, rejections);
    }
  }
  if (rejected === 0) return records;
  throw new OperatorError(`Nothing was written: ${counted(rejected, 'line')} rejected. ${remedy}`);
}
