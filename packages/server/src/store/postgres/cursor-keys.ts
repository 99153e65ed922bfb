import { cursorsBounds } from '../../bounds/cursors.ts';
import type { Store } from '../port.ts';
import { planRotation, rotationEntry, selectCursorKeys } from '../sql/cursor-keys.ts';
import type { Pool } from './connections/pool.ts';
import type { Statement } from './statements.ts';

/** All keys, with the server's time: it decides which of them seals. */
export const cursorKeys: Statement = {
  name: 'cursor_keys',
  text: selectCursorKeys(', clock_timestamp() as now'),
};

/** "PNck": held during a rotation, so that a concurrent rotation sees the new key. */
const lock = 0x504e636b;

/** Read committed: the keys are read after the lock is held, whatever the database's default is. */
const takeLock = `
  set transaction isolation level read committed;
  set local lock_timeout = ${cursorsBounds.cursorKeyLockMs};
  select pg_advisory_xact_lock(${lock})`;

export function createRotation(primary: Pool): Store['rotateCursorKey'] {
  return (old, by) =>
    primary.transaction(async (client) => {
      await client.query(takeLock);
      const { rows: stored } = await client.query(selectCursorKeys());
      const { rows: clock } = await client.query('select clock_timestamp() as now');
      const { removed, ...rotation } = planRotation(stored, Date.parse(clock[0].now), old);
      const { id, secret, created_at } = rotation.key;
      await client.query('delete from cursor_keys where id = any ($1)', [removed]);
      const insert = 'insert into cursor_keys (id, secret, created_at) values ($1, $2, $3)';
      await client.query(insert, [id, secret, created_at]);
      const [text, ...values] = rotationEntry(rotation, by);
      await client.query(text, values);
      return rotation;
    });
}
