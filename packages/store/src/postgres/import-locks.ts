import type { ImportKind } from '../port.ts';

/** "PNet", and a number for each kind of records. */
const lock = 0x504e6574;
const numbers: Readonly<Record<ImportKind, number>> = { brands: 1, balances: 2, grants: 3 };

/**
 * Takes a lock on all records of a kind until the transaction ends. A writer of single records shares it. A
 * transaction that needs to know that nobody adds a record takes it alone.
 */
export function importLock(kind: ImportKind, mode: 'shared' | 'exclusive'): string {
  const suffix = mode === 'shared' ? '_shared' : '';
  return `select pg_advisory_xact_lock${suffix}(${lock}, ${numbers[kind]})`;
}
