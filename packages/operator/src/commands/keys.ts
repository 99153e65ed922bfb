import { text as textOf } from 'node:stream/consumers';
import type { Command, Report } from '@partner-network/common/command-line/command';
import {
  addedIn,
  defaulted,
  durationMs,
  oneOf,
  optional,
  plainText,
  repeated,
  required,
} from '@partner-network/common/command-line/options';
import type { Cells } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { newId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { lengths, overlapSeconds } from '@partner-network/contract/limits';
import { adminRoles, scopes } from '@partner-network/contract/permissions';
import { capitalized } from '@partner-network/contract/sentence';
import { digestOfKey, environmentOfAdminKey, environmentOfKey } from '@partner-network/service/auth';
import type { AnyKey, Store } from '@partner-network/store/port';
import * as operations from '../operations/keys.ts';
import { adminKeys, apiKeys, type KeyKind } from '../operations/keys.ts';
import { requirePartner } from '../operations/partners.ts';
import {
  changing,
  disabledRemark,
  expiresAt,
  listReport,
  onDatabase,
  partnerId,
  takesEffect,
} from './database.ts';
import { bytesOf, standardInput } from './import/input.ts';

export const createKey = changing('keys create', {
  options: {
    partner: required('ID', partnerId, 'partner that gets the key'),
    scope: repeated('SCOPE', oneOf(scopes), `what the key may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'name of the key, to recognize it'),
    'expires-at': expiresAt('the key'),
  },
  run: async ({ store, values: { partner, scope, name, 'expires-at': expiresAt }, output, by }) => {
    const remarkDisabled = await disabledRemark(store, partner, 'key', output);
    const wanted = { id: newId('KEY'), partnerId: partner, scopes: scope, name, expiresAt };
    const { key, secret } = await operations.createKey(store, wanted, by);
    remarkDisabled();
    return issued(apiKeys, store, secret, key);
  },
});

export const listKeys = onDatabase({
  options: { partner: optional('ID', partnerId, 'only keys of this partner') },
  run: async ({ store, values: { partner } }) => {
    if (partner !== undefined) await requirePartner(store, partner);
    const keys = await described(store, apiKeys, await store.listKeys(partner));
    const none = partner === undefined ? 'There are no keys.' : `Partner ${partner} has no keys.`;
    return listReport(keys, none, {
      ID: ({ id }) => id,
      ...(partner === undefined && { PARTNER: ({ partner_id }) => partner_id }),
      KEY: ({ masked_key }) => masked_key,
      SCOPES: (key) => key.scopes.join(' '),
      ...lastCells,
    });
  },
});

export const findKey = onDatabase({
  arguments: [{ name: '-', help: 'the key is read from standard input, because others can see arguments' }],
  conflicts: (_values, [source]) =>
    source === standardInput ? [] : ['Pass - and write the key to standard input: others can see arguments.'],
  run: async ({ store }) => {
    const text = (await textOf(bytesOf(standardInput))).trim();
    const ofPartner = environmentOfKey(text);
    const environment = ofPartner ?? environmentOfAdminKey(text);
    if (environment === undefined) {
      throw new OperatorError(
        'Standard input is not an API key, or a character of it is wrong. Write one whole key, and nothing else.',
      );
    }
    if (environment !== store.environment) {
      throw new OperatorError(
        `This is a key of the ${environment} environment: search its database, with --environment ${environment}.`,
      );
    }
    const digest = digestOfKey(text);
    const found = await (ofPartner === undefined ? ownerOfAdminKey : ownerOfKey)(store, digest);
    if (found === undefined)
      throw new OperatorError('This database does not have this key. Check --database.');
    const { kind, id, owner } = found;
    const [key] = await described<AnyKey>(store, kind, [await kind.require(store, id)]);
    const { status, last_used_at = 'never', created_at, created_by = 'an older version' } = key!;
    const state = `It is ${status}. Last use: ${last_used_at}. Created ${created_at} by ${created_by}.`;
    const remedy = `\nRevoke it with "partner-network ${kind.group} revoke ${id}".`;
    return { value: key, text: `${owner}\n${state}${status === 'active' ? remedy : ''}` };
  },
});

async function ownerOfKey(store: Store, digest: Uint8Array) {
  const found = await store.findKey(digest);
  if (found === undefined) return undefined;
  const { id, partnerId, isPartnerDisabled } = found;
  const disabled = isPartnerDisabled ? ', which is disabled' : '';
  return { kind: apiKeys, id, owner: `Key ${id} belongs to partner ${partnerId}${disabled}.` };
}

async function ownerOfAdminKey(store: Store, digest: Uint8Array) {
  const found = await store.findAdminKey(digest);
  if (found === undefined) return undefined;
  const { id, role } = found;
  return { kind: adminKeys, id, owner: `This is the administrative key ${id} with the role ${role}.` };
}

export const revokeKey = revoking(apiKeys, 'KEY_ID');
export const rotateKey = rotating(apiKeys, 'KEY_ID', '0.1.0');

export const createAdminKey = changing('admin-keys create', {
  options: addedIn('0.2.0', {
    name: required('NAME', plainText(lengths.partnerName), 'name of the person or program that uses the key'),
    role: required('ROLE', oneOf(adminRoles), `what the key may do: ${adminRoles.join(', ')}`),
    'expires-at': expiresAt('the key'),
  }),
  run: async ({ store, values: { name, role, 'expires-at': expires_at }, by }) => {
    const { secret, last_four, digest } = operations.newSecret(adminKeys, store);
    const id = newId(adminKeys.idPrefix);
    const key = { id, name, role, last_four, created_at: toTime(Date.now()), expires_at };
    await store.createAdminKey(key, digest, by);
    return issued(adminKeys, store, secret, key);
  },
});

export const listAdminKeys = onDatabase({
  run: async ({ store }) => {
    const keys = await described(store, adminKeys, await store.listAdminKeys());
    return listReport(keys, 'There are no administrative keys.', {
      ID: ({ id }) => id,
      KEY: ({ masked_key }) => masked_key,
      ROLE: ({ role }) => role,
      ...lastCells,
    });
  },
});

export const revokeAdminKey = revoking(adminKeys, 'ID');
export const rotateAdminKey = rotating(adminKeys, 'ID', '0.2.0');

/** Reports a new key. Its text is printed only this once. */
function issued<Key extends AnyKey>(
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

function revoking<Key extends AnyKey>(kind: KeyKind<Key>, argument: string): Command {
  const { group, noun } = kind;
  return changing(`${group} revoke`, {
    role: 'network_support',
    ifFailed: `Assume that the ${noun} still works until this command succeeds.`,
    notYet: () => `The ${noun} is not revoked yet and still works`,
    arguments: [{ name: argument, help: `id of the ${noun}` }],
    run: async ({ store, words: [id = ''], by }) => {
      const [shown] = await described(store, kind, [await operations.revoke(kind, store, id, by)]);
      const { last_used_at: _, ...key } = shown!;
      return { value: key, text: `${capitalized(noun)} ${id} is revoked. ${takesEffect}` };
    },
  });
}

function rotating<Key extends AnyKey>(kind: KeyKind<Key>, argument: string, since: string): Command {
  const { group, noun } = kind;
  return changing(`${group} rotate`, {
    ifFailed: `Assume that the old ${noun} still works until this command succeeds.`,
    notYet: ({ overlap }) =>
      overlap === 0 ? `The old ${noun} is not revoked yet and still works` : undefined,
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
    run: async ({ store, values, words: [id = ''], output, by }) => {
      const replaced = await kind.require(store, id);
      const partner = 'partner_id' in replaced ? (replaced.partner_id as string) : '';
      const remarkDisabled = await disabledRemark(store, partner, 'new key', output);
      const replacement = {
        id: newId(kind.idPrefix),
        overlapMs: values.overlap,
        expiresAt: values['expires-at'],
      };
      const { key, old, secret } = await operations.rotate(kind, store, id, replacement, by);
      remarkDisabled();
      const life = key.expires_at === undefined ? 'never expires' : `expires ${key.expires_at}`;
      const end = old.revoked_at === undefined ? `expires ${old.expires_at}` : 'is revoked';
      return issued(kind, store, secret, key, `, which ${life}. The old key ${id} ${end}.`);
    },
  });
}

/** Keys as they are shown: with their status and last use, and without most of the key itself. */
async function described<Key extends AnyKey>(
  { environment, lastUses }: Store,
  { prefixes }: KeyKind<Key>,
  keys: readonly Key[],
) {
  const uses = await lastUses(keys.map(({ id }) => id));
  return keys.map((stored) => {
    const { last_four, ...key } = stored;
    const masked_key = `${prefixes[environment]}…${last_four}`;
    return {
      ...key,
      environment,
      status: operations.keyStatus(stored),
      masked_key,
      last_used_at: uses.get(stored.id),
    };
  });
}

/** The last columns of a list of keys. */
const lastCells: Cells<AnyKey & { status: string; last_used_at: string | undefined }> = {
  STATUS: ({ status }) => status,
  EXPIRES: ({ expires_at = '-' }) => expires_at,
  'LAST USED': ({ last_used_at = '-' }) => last_used_at,
  CREATED: ({ created_at }) => created_at,
  'CREATED BY': ({ created_by = '-' }) => created_by,
  NAME: ({ name = '-' }) => name,
};
