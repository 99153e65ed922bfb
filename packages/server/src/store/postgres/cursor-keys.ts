import { cursorsBounds } from '../../bounds/cursors.ts';
import type { Rotations } from '../port.ts';
import { planRotation, selectCursorKeys } from '../sql/cursor-keys.ts';
import type { Pool } from './connections/pool.ts';
import type { Statement } from './statements.ts';

/** With the server's time, by which it is told which of them seals. They are few, and read whole. */
export const cursorKeys: Statement = {
  name: 'cursor_keys',
  text: selectCursorKeys(', clock_timestamp() as now'),
};

/** "PNck": whoever rotates holds this lock, so that those who do at the same time see each other's keys. */
const lock = 0x504e636b;

/** Each statement sees what is there by then, whatever the database's own setting is. */
const prepare = `
  set transaction isolation level read committed;
  set local lock_timeout = ${cursorsBounds.cursorKeyLockMs}`;

export function createRotations(primary: Pool): Rotations {
  return {
    rotateCursorKey: (old) =>
      primary.transaction(async (client) => {
        await client.query(prepare);
        await client.query(`select pg_advisory_xact_lock(${lock})`);
        const { rows: stored } = await client.query(selectCursorKeys());
        const { rows: clock } = await client.query('select clock_timestamp() as now');
        const { removed, ...rotation } = planRotation(stored, Date.parse(clock[0].now), old);
        const { id, secret, created_at } = rotation.key;
        await client.query('delete from cursor_keys where id = any ($1)', [removed]);
        await client.query('insert into cursor_keys (id, secret, created_at) values ($1, $2, $3)', [
          id,
          secret,
          created_at,
        ]);
        return rotation;
      }),
  };
}
