/** What can be wrong with CSV itself, before anybody looks at its values. */
import { fillIn } from '@partner-network/contract/sentence';
import { ingestBounds } from '../../bounds/ingest.ts';
import { type ImportFault, importFault } from '../faults.ts';

/** What the sentence of INVALID_CSV is filled in with. */
const flaws = {
  encoding: 'write it in UTF-8, without NUL bytes',
  noHeader: 'line 1 must be a header with the names of the fields, such as {names}, and end in LF or CRLF',
  separator: 'separate the names, and the values, by commas and not by semicolons or tabs',
  nameless: 'column {column} of the header has no name',
  count: 'this line has {values} values and the header {names}',
  secondHeader: 'remove this second header',
  openQuote: 'a quote that opens here is not closed, or only by a later record',
  strayQuote: 'put a value that holds a quote in quotes as a whole, and write that quote twice',
  tooLong: `a record takes at most ${ingestBounds.importLineBytes} bytes`,
} as const;

export type CsvFlaw = keyof typeof flaws;

/** Never with a field: where CSV is broken, what stands for a name may be a value. */
export function csvFault(flaw: CsvFlaw, facts: Readonly<Record<string, string | number>> = {}): ImportFault {
  return importFault('INVALID_CSV', undefined, { what: fillIn(flaws[flaw], facts) });
}
