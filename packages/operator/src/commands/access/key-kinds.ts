/** What the commands on keys of partners and on administrative keys share. */
import type { Command, Report } from '@partner-network/common/command-line/command';
import { addedIn, defaulted, durationMs } from '@partner-network/common/command-line/options';
import type { Cells } from '@partner-network/common/command-line/table';
import { newId } from '@partner-network/common/ids';
import type { Environment } from '@partner-network/contract/environments';
import { overlapSeconds } from '@partner-network/contract/limits';
import { capitalized } from '@partner-network/contract/sentence';
import type { AnyKey, Store } from '@partner-network/store/port';
import { type KeyKind, keyStatus, revoke, rotate } from '../../operations/keys.ts';
import { changing, disabledRemark, expiresAt, waitingFor } from '../database.ts';

/** Reports a new key. Its text is printed only this once. */
export function issued<Key extends AnyKey>(
  { noun, shown }: KeyKind<Key>,
  { environment }: Store,
  secret: string,
  key: Key,
  rest = '.',
): Report {
  const shownOnce = 'Copy the key now: it is shown only once. The database stores only its digest.';
  return {
    value: { id: key.id, key: secret, ...shown(key), environment, expires_at: key.expires_at },
    text: `${secret}\n\nCreated ${noun} ${key.id}${rest} ${shownOnce}`,
  };
}

export function revoking<Key extends AnyKey>(kind: KeyKind<Key>, argument: string): Command {
  const { group, noun } = kind;
  return changing(`${group} revoke`, {
    role: 'network_support',
    ifFailed: `Assume that the ${noun} still works until this command succeeds.`,
    notYet: () => waitingFor(`The ${noun} is not revoked yet and still works`),
    arguments: [{ name: argument, help: `id of the ${noun}` }],
    options: {},
    run: async (store, _values, [id = ''], _output, by) => {
      const [shown] = await described(store, kind, [await revoke(kind, store, id, by)]);
      const { last_used_at: _, ...key } = shown!;
      return {
        value: key,
        text: `${capitalized(noun)} ${id} is revoked. This takes effect on every instance within a second.`,
      };
    },
  });
}

export function rotating<Key extends AnyKey>(kind: KeyKind<Key>, argument: string, since: string): Command {
  const { group, noun } = kind;
  return changing(`${group} rotate`, {
    ifFailed: `Assume that the old ${noun} still works until this command succeeds.`,
    notYet: ({ overlap }) =>
      overlap === 0 ? waitingFor(`The old ${noun} is not revoked yet and still works`) : undefined,
    arguments: [{ name: argument, help: `id of the ${noun} to replace` }],
    options: addedIn(since, {
      overlap: {
        ...defaulted(
          'DURATION',
          durationMs,
          overlapSeconds.default * 1_000,
          'time for which the old key still works, such as 30m, 24h or 7d; 0s revokes it',
        ),
        default: `${overlapSeconds.default / 3_600}h`,
      },
      'expires-at': {
        ...expiresAt('the new key'),
        help: "time at which the new key expires; without it, the new key gets the old key's lifetime",
      },
    }),
    run: async (store, { overlap: overlapMs, 'expires-at': expiresAt }, [id = ''], output, by) => {
      const replaced = await kind.require(store, id);
      const partner = 'partner_id' in replaced ? (replaced.partner_id as string) : '';
      const remarkDisabled = await disabledRemark(store, partner, 'new key', output);
      const replacement = { id: newId(kind.idPrefix), overlapMs, expiresAt };
      const { key, old, secret } = await rotate(kind, store, id, replacement, by);
      remarkDisabled();
      const life = key.expires_at === undefined ? 'never expires' : `expires ${key.expires_at}`;
      const end = old.revoked_at === undefined ? `expires ${old.expires_at}` : 'is revoked';
      return issued(kind, store, secret, key, `, which ${life}. The old key ${id} ${end}.`);
    },
  });
}

/** A key as it is shown: with its status and last use, and without most of the key itself. */
type Shown<Key extends AnyKey> = Omit<Key, 'last_four'> & {
  readonly environment: Environment;
  readonly status: ReturnType<typeof keyStatus>;
  readonly masked_key: string;
  readonly last_used_at?: string | undefined;
};

export async function described<Key extends AnyKey>(
  { environment, lastUses }: Store,
  { prefixes }: KeyKind<Key>,
  keys: readonly Key[],
): Promise<Shown<Key>[]> {
  const uses = await lastUses(keys.map(({ id }) => id));
  return keys.map((stored) => {
    const { last_four, ...key } = stored;
    const masked_key = `${prefixes[environment]}…${last_four}`;
    const last = uses.has(stored.id) && { last_used_at: uses.get(stored.id) };
    return { ...key, environment, status: keyStatus(stored), masked_key, ...last };
  });
}

/** The last columns of a list of keys. */
export const lastCells: Cells<Shown<AnyKey>> = {
  STATUS: ({ status }) => status,
  EXPIRES: ({ expires_at = '-' }) => expires_at,
  'LAST USED': ({ last_used_at = '-' }) => last_used_at,
  CREATED: ({ created_at }) => created_at,
  'CREATED BY': ({ created_by = '-' }) => created_by,
  NAME: ({ name = '-' }) => name,
};
