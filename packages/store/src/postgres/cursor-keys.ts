import { cursorsBounds } from '@partner-network/common/bounds/service';
import { selectCursorKeys } from '../sql/cursor-keys.ts';
import type { Statement } from './statements.ts';

/** All keys, with the server's time: it decides which of them seals. */
export const cursorKeys: Statement = {
  name: 'cursor_keys',
  text: selectCursorKeys(', clock_timestamp() as now'),
};

/** "PNck" is a lock that a rotation holds, so that a concurrent rotation sees the new key. */
export const rotationOptions = {
  locks: [
    `set local lock_timeout = ${cursorsBounds.keyLockMs}`,
    `select pg_advisory_xact_lock(${0x504e636b})`,
  ],
  clock: 'select clock_timestamp() as now',
};
