import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '../port.ts';
import { planRotation, rotationEntry, type StoredCursorKey, selectCursorKeys } from '../sql/cursor-keys.ts';
import { numbered, transaction } from './engine.ts';

/** The write lock makes simultaneous rotations wait for each other. The clock is this machine's. */
export function createRotation(db: DatabaseSync): Store['rotateCursorKey'] {
  return async (old, by) =>
    transaction(db, 'immediate', () => {
      const stored = db.prepare(selectCursorKeys()).all() as unknown as StoredCursorKey[];
      const { removed, ...rotation } = planRotation(stored, Date.now(), old);
      for (const past of removed) db.prepare('delete from cursor_keys where id = ?').run(past);
      insertCursorKey(db, rotation.key);
      const [text, ...values] = rotationEntry(rotation, by);
      db.prepare(text).run(numbered(values));
      return rotation;
    });
}

export function insertCursorKey(db: DatabaseSync, { id, secret, created_at }: StoredCursorKey): void {
  const insert = db.prepare('insert into cursor_keys (id, secret, created_at) values (?, ?, ?)');
  insert.run(id, secret, created_at);
}
