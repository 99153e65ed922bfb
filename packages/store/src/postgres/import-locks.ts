import type { ImportKind } from '../port.ts';

/** "PNet", and a number for each kind of records. */
const lock = 0x504e6574;
const numbers: Readonly<Record<ImportKind, number>> = { brands: 1, balances: 2, grants: 3 };

/**
 * Takes a lock on all records of a kind until the transaction ends. Updates of records share it. A
 * transaction that needs to know that nobody adds a record, such as a deletion, takes it exclusively.
 */
export function importLock(kind: ImportKind, mode: 'shared' | 'exclusive'): string {
  const suffix = mode === 'shared' ? '_shared' : '';
  return `select pg_advisory_xact_lock${suffix}(${lock}, ${numbers[kind]})`;
}
