import { ingestBounds } from '@partner-network/common/bounds/ingest';
import { counted } from '@partner-network/common/command-line/amounts';
import type { Output } from '@partner-network/common/command-line/output';
import { OperatorError } from '@partner-network/common/operator-error';
import type { ImportFault } from '../../ingest/faults.ts';
import { readJsonLines } from '../../ingest/read/json-lines.ts';
import { bytesOf } from './input.ts';
import { remarkFaults } from './report.ts';

/** Reads all lines of JSON Lines into memory. Reports rejected lines, and fails if there is one. */
export async function readWholeFile<Record>(
  file: string,
  output: Output,
  read: (value: unknown) => { readonly record: Record; readonly faults: readonly ImportFault[] },
  /** What FILE must be. */
  remedy: string,
): Promise<Record[]> {
  const records: Record[] = [];
  let rejected = 0;
  for await (const readings of readJsonLines(bytesOf(file))) {
    for (const reading of readings) {
      const { record, faults } =
        'faults' in reading ? { ...reading, record: undefined } : read(reading.value);
      if (faults.length === 0) records.push(record!);
      else if (++rejected <= ingestBounds.importShownLines) remarkFaults(output, '', reading.line, faults);
    }
  }
  if (rejected === 0) return records;
  throw new OperatorError(`Nothing was written: ${counted(rejected, 'line')} rejected. ${remedy}`);
}
