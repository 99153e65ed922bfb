import type { ImportKind, ImportRow } from '../port.ts';
import { importColumns } from './import-columns.ts';

/** Beyond U+FFFF, texts compare here by surrogates, which come before U+E000, and in a table by bytes. */
const beyondPlane = /[\ud800-\udfff]/;

/**
 * Says of the rows that it is shown whether they, and all before, came in the order of the table and without
 * an id that stands twice, as an export does: then they need not be sorted. Where it cannot tell, it says no.
 */
export function createOrderCheck(kind: ImportKind): (rows: readonly ImportRow[]) => boolean {
  const [first = '', second = ''] = importColumns[kind].identity;
  let isSorted = true;
  let last: readonly [string, string] = ['', ''];

  function isNext(row: ImportRow): boolean {
    const [before, beforeId] = last;
    last = [String(row[first]), String(row[second])];
    if (beyondPlane.test(last[0]) || beyondPlane.test(last[1])) return false;
    return last[0] > before || (last[0] === before && last[1] > beforeId);
  }

  return (rows) => {
    isSorted &&= rows.every(isNext);
    return isSorted;
  };
}
