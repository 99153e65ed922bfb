/** What the commands on keys of partners and on administrative keys share. */
import { authBounds } from '@partner-network/common/bounds/auth';
import type { Command, Report } from '@partner-network/common/command-line/command';
import { addedIn, defaulted, durationMs } from '@partner-network/common/command-line/options';
import type { Cells } from '@partner-network/common/command-line/table';
import { newId } from '@partner-network/common/ids';
import { ConclusiveError } from '@partner-network/common/operator-error';
import { toTime } from '@partner-network/common/times';
import {
  adminKeyPrefixes,
  type Environment,
  type KeyPrefixes,
  keyPrefixes,
} from '@partner-network/contract/environments';
import { capitalized } from '@partner-network/contract/sentence';
import { digestOfKey, newAdminKey, newApiKey } from '@partner-network/service/auth/api-key';
import type {
  AdminKey,
  AnyKey,
  ApiKey,
  Author,
  Replacement,
  Rotated,
  Store,
} from '@partner-network/store/port';
import { Missing } from '../../operations/errors.ts';
import { keyStatus, requireKey } from '../../operations/keys.ts';
import { changing, expiresAt, waitingFor } from '../database.ts';

interface KeyKind<Key extends AnyKey> {
  /** The word before "create", "revoke" and so on. */
  readonly group: 'keys' | 'admin-keys';
  /** The version that added its commands. */
  readonly since: string;
  readonly noun: string;
  /** The name of the argument for an id. */
  readonly argument: string;
  readonly idPrefix: string;
  readonly prefixes: KeyPrefixes;
  readonly newText: typeof newApiKey;
  /** What distinguishes a new key, for the report. */
  shown(key: Key): object;
  require(store: Store, id: string): Promise<Key>;
  revoke(store: Store): (id: string, at: string, by: Author) => Promise<boolean>;
  rotate(
    store: Store,
  ): (oldId: string, replacement: Replacement, by: Author) => Promise<Rotated<Key> | undefined>;
}

export const apiKeys: KeyKind<ApiKey> = {
  group: 'keys',
  since: '0.1.0',
  noun: 'key',
  argument: 'KEY_ID',
  idPrefix: 'KEY',
  prefixes: keyPrefixes,
  newText: newApiKey,
  shown: ({ partner_id, scopes }) => ({ partner_id, scopes }),
  require: requireKey,
  revoke: (store) => store.revokeKey,
  rotate: (store) => store.rotateKey,
};

export const adminKeys: KeyKind<AdminKey> = {
  group: 'admin-keys',
  since: '0.2.0',
  noun: 'administrative key',
  argument: 'ID',
  idPrefix: 'ADMIN_KEY',
  prefixes: adminKeyPrefixes,
  newText: newAdminKey,
  shown: ({ name, role }) => ({ name, role }),
  require: async (store, id) => {
    const key = await store.findAdminKeyById(id);
    if (key !== undefined) return key;
    throw new Missing('administrative key', id, '"partner-network admin-keys list" lists all of them.');
  },
  revoke: (store) => store.revokeAdminKey,
  rotate: (store) => store.rotateAdminKey,
};

/** A new key's text, what is stored of it, and the report. The text is printed only this once. */
export function issue<Key extends AnyKey>(
  kind: KeyKind<Key>,
  { environment }: Store,
  text = kind.newText(environment),
) {
  const shownOnce = 'Copy the key now: it is shown only once. The database stores only its digest.';
  const report = (key: Key, rest: string): Report => ({
    value: { id: key.id, key: text, ...kind.shown(key), environment, expires_at: key.expires_at },
    text: `${text}\n\nCreated ${kind.noun} ${key.id}${rest} ${shownOnce}`,
  });
  return { id: newId(kind.idPrefix), last_four: text.slice(-4), digest: digestOfKey(text), report };
}

export function revoking<Key extends AnyKey>(kind: KeyKind<Key>): Command {
  const { group, noun, argument } = kind;
  return changing(`${group} revoke`, {
    role: 'network_support',
    ifFailed: `Assume that the ${noun} still works until this command succeeds.`,
    notYet: () => waitingFor(`The ${noun} is not revoked yet and still works`),
    arguments: [{ name: argument, help: `id of the ${noun}` }],
    options: {},
    run: async (store, _values, [id = ''], _output, by) => {
      await kind.require(store, id);
      await kind.revoke(store)(id, toTime(Date.now()), by);
      const [shown] = await described(store, kind, [await kind.require(store, id)]);
      const { last_used_at: _, ...key } = shown!;
      return {
        value: key,
        text: `${capitalized(noun)} ${id} is revoked. This takes effect on every instance within a second.`,
      };
    },
  });
}

export function rotating<Key extends AnyKey>(kind: KeyKind<Key>): Command {
  const { group, since, noun, argument } = kind;
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
          authBounds.overlapMs,
          'time for which the old key still works, such as 30m, 24h or 7d; 0s revokes it',
        ),
        default: `${authBounds.overlapMs / 3_600_000}h`,
      },
      'expires-at': {
        ...expiresAt('the new key'),
        help: "time at which the new key expires; without it, the new key gets the old key's lifetime",
      },
    }),
    run: async (store, { overlap, 'expires-at': given }, [id = ''], _output, by) => {
      await kind.require(store, id);
      const { report, ...issued } = issue(kind, store);
      const rotated = await kind.rotate(store)(id, { ...issued, overlapMs: overlap, expiresAt: given }, by);
      if (rotated === undefined) {
        const status = keyStatus(await kind.require(store, id));
        const remedy = `Create a key with "partner-network ${group} create".`;
        throw new ConclusiveError(`${capitalized(noun)} ${id} is ${status} and cannot be rotated. ${remedy}`);
      }
      const { key, old } = rotated;
      const life = key.expires_at === undefined ? 'never expires' : `expires ${key.expires_at}`;
      const end = old.revoked_at === undefined ? `expires ${old.expires_at}` : 'is revoked';
      return report(key, `, which ${life}. The old key ${id} ${end}.`);
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
