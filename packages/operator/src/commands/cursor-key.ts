import { printList, shownFlags } from '@partner-network/common/command-line/lists';
import { flag } from '@partner-network/common/command-line/options';
import type { Columns } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import type { CursorKey, CursorKeyRotation } from '@partner-network/store/port';
import { changing, onDatabase } from './database.ts';

export const rotateCursorKey = changing('cursor-key rotate', {
  ifFailed: 'Assume that the old cursor keys still work until this command succeeds.',
  options: {
    'discard-old': flag('also refuse all existing cursors at once; for a leaked key'),
  },
  run: async ({ store, values, by }) => {
    const rotation = await store.rotateCursorKey(values['discard-old'] ? 'discard' : 'keep', by);
    const { key, retired, discarded } = rotation;
    const { status: _status, ...shown } = withoutSecret(key);
    const retires = retired.map(({ id, opens_until }) => ({ id, opens_until }));
    return { value: { ...shown, retires, discarded }, text: textOf(rotation) };
  },
});

export const listCursorKeys = onDatabase({
  role: 'network_operate',
  options: shownFlags('keys'),
  run: async ({ store, values, output }) => {
    const keys = (await store.cursorKeys()).map(withoutSecret);
    if (keys.length === 0) {
      throw new OperatorError('There is no cursor key. Create one with "partner-network cursor-key rotate".');
    }
    printList(keys, 'keys', columns, values, output);
  },
});

const columns: Columns<Omit<CursorKey, 'secret'>> = [
  ['ID', ({ id }) => String(id), 'whole'],
  ['STATUS', ({ status }) => status, 'state'],
  ['SEALS FROM', ({ seals_from = '-' }) => seals_from, 'time'],
  ['OPENS UNTIL', ({ opens_until = '-' }) => opens_until, 'time'],
  ['CREATED', ({ created_at }) => created_at, 'time'],
];

/** The secret is never printed: no person has a use for it. */
function withoutSecret({ secret: _secret, ...key }: CursorKey): Omit<CursorKey, 'secret'> {
  return key;
}

function textOf({ key, retired, discarded }: CursorKeyRotation): string {
  const lines = [`Created cursor key ${key.id}. It seals cursors from ${key.seals_from ?? 'now on'}.`];
  for (const { id, opens_until } of retired)
    lines.push(`Cursor key ${id} opens cursors until ${opens_until}.`);
  if (discarded.length > 0) {
    const ids = new Intl.ListFormat('en-GB').format(discarded.map(String));
    lines.push(`Deleted cursor key${discarded.length === 1 ? '' : 's'} ${ids}.`);
    lines.push(
      'Within a second, all earlier cursors are refused with INVALID_CURSOR. Clients must start again.',
    );
  }
  return lines.join('\n');
}
