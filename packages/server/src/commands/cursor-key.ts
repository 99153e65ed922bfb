import { tell } from '../command-line/command.ts';
import { flag } from '../command-line/options.ts';
import { table } from '../command-line/table.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { CursorKey, CursorKeyRotation } from '../store/port.ts';
import { onDatabase } from './database.ts';

export const rotateCursorKey = onDatabase({
  options: {
    'discard-old': flag('also refuse all cursors of before at once: for a key that has leaked'),
  },
  run: async (store, values, _words, output) => {
    const rotation = await store.rotateCursorKey(values['discard-old'] ? 'discard' : 'keep');
    const { key, retired, discarded } = rotation;
    const { status: _status, ...shown } = described(key);
    const retires = retired.map(({ id, opens_until }) => ({ id, opens_until }));
    tell(output, values.json, { ...shown, retires, discarded }, () => inWords(rotation));
  },
});

export const listCursorKeys = onDatabase({
  options: {},
  run: async (store, values, _words, output) => {
    const keys = (await store.cursorKeys()).map(described);
    if (keys.length === 0) {
      throw new OperatorError('There is no cursor key: "partner-network cursor-key rotate" makes one.');
    }
    tell(output, values.json, keys, () =>
      table([
        ['ID', 'CREATED', 'STATUS', 'SEALS FROM', 'OPENS UNTIL'],
        ...keys.map((key) => [
          String(key.id),
          key.created_at,
          key.status,
          key.seals_from ?? '-',
          key.opens_until ?? '-',
        ]),
      ]),
    );
  },
});

/** Its secret is shown to nobody, not even once: no person has a use for it. */
function described({ secret: _secret, ...key }: CursorKey): Omit<CursorKey, 'secret'> {
  return key;
}

function inWords({ key, retired, discarded }: CursorKeyRotation): string {
  const created = `Created cursor key ${key.id}, which seals from ${key.seals_from ?? 'now on'}.`;
  const opening = retired.map(({ id, opens_until }) => `Key ${id} opens cursors until ${opens_until}.`);
  const thrown =
    discarded.length === 0
      ? []
      : [
          `Discarded ${discarded.join(', ')}: within a second every cursor of before is refused with ` +
            'INVALID_CURSOR, and whoever had one starts anew.',
        ];
  return [created, ...opening, ...thrown].join('\n');
}
