import type { DatabaseSync } from 'node:sqlite';
import type { Rotations } from '../port.ts';
import { planRotation, type StoredCursorKey, selectCursorKeys } from '../sql/cursor-keys.ts';
import { transaction } from './engine.ts';

/** The one write lock makes those wait who rotate at the same time. The clock is this machine's. */
export function createRotations(db: DatabaseSync): Rotations {
  return {
    rotateCursorKey: async (old) =>
      transaction(db, 'immediate', () => {
        const stored = db.prepare(selectCursorKeys()).all() as unknown as StoredCursorKey[];
        const { removed, ...rotation } = planRotation(stored, Date.now(), old);
        const { id, secret, created_at } = rotation.key;
        for (const past of removed) db.prepare('delete from cursor_keys where id = ?').run(past);
        db.prepare('insert into cursor_keys (id, secret, created_at) values (?, ?, ?)').run(
          id,
          secret,
          created_at,
        );
        return rotation;
      }),
  };
}
