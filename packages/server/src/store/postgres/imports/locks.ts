import type { ImportKind } from '../../port.ts';

const numbers: Readonly<Record<ImportKind, number>> = { brands: 1, balances: 2, grants: 3 };

/**
 * Locks the writes of one kind until the transaction ends. Upserts share the lock. A deletion takes it alone:
 * an upsert that had not seen the deletion yet would bring the record back. Revocations take no such lock.
 */
export function importLock(kind: ImportKind, mode: 'shared' | 'alone'): string {
  const take = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  // "PNet".
  return `select ${take}(${0x504e6574}, ${numbers[kind]})`;
}
