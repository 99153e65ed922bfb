import type { DatabaseSync } from 'node:sqlite';
import type { KeyUse, Receipt } from '../../port.ts';
import { transaction } from '../engine.ts';

/** Writes each kind of batch in one transaction. */
export interface Writes {
  receipts(batch: readonly Receipt[]): void;
  keyUses(batch: readonly KeyUse[]): void;
}

export function createWrites(db: DatabaseSync): Writes {
  // A killed process loses nothing. A power failure loses what was written since the last checkpoint.
  db.exec('pragma synchronous = normal');

  const insertReceipt = db.prepare(`
    insert into receipts (at, request_id, partner_id, key_id, customer_id, grant_id, outcome)
    values (?, ?, ?, ?, ?, ?, ?)
    on conflict do nothing`);

  const upsertKeyUse = db.prepare(`
    insert into key_uses (key_id, used_at) values (?, ?)
    on conflict (key_id) do update set used_at = excluded.used_at where used_at < excluded.used_at`);

  return {
    receipts: (batch) =>
      transaction(db, 'immediate', () => {
        for (const { at, request_id, partner_id, key_id, customer_id = '', grant_id, outcome } of batch) {
          insertReceipt.run(at, request_id, partner_id, key_id, customer_id, grant_id ?? null, outcome);
        }
      }),
    keyUses: (batch) =>
      transaction(db, 'immediate', () => {
        for (const { keyId, usedAt } of batch) upsertKeyUse.run(keyId, usedAt);
      }),
  };
}
