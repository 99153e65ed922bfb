import { text as textOf } from 'node:stream/consumers';
import type { Command, Report } from '@partner-network/common/command-line/command';
import { printList, shownFlags } from '@partner-network/common/command-line/lists';
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
import type { Columns } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { newId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { lengths, overlapSeconds } from '@partner-network/contract/limits';
import { adminRoles, scopes } from '@partner-network/contract/permissions';
import { capitalized } from '@partner-network/contract/sentence';
import { digestOfKey, environmentOfAdminKey, environmentOfKey } from '@partner-network/service/auth';
import type { AdminKey, AnyKey, ApiKey, Store } from '@partner-network/store/port';
import * as operations from '../operations/keys.ts';
import { adminKeys, apiKeys, type KeyKind } from '../operations/keys.ts';
import { requirePartner } from '../operations/partners.ts';
import {
  changing,
  endingFor,
  expiresAt,
  onDatabase,
  partnerId,
  takesEffect,
  worksUntil,
} from './database.ts';
import { bytesOf, standardInput } from './import/input.ts';

export const createKey = changing('keys create', {
  options: {
    partner: required('ID', partnerId, 'partner that gets the key'),
    scope: repeated('SCOPE', oneOf(scopes), `what the key may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'name of the key, to recognize it'),
    'expires-at': expiresAt('the key'),
  },
  run: async ({ store, values, output, by }) => {
    const { partner, scope, name, 'expires-at': expiresAt, json } = values;
    const ending = await endingFor(store, partner, output, json);
    const wanted = { id: newId('KEY'), partnerId: partner, scopes: scope, name, expiresAt };
    const { key, secret } = await operations.createKey(store, wanted, by);
    return issued(apiKeys, store, secret, key, ending);
  },
});

export const listKeys = onDatabase({
  options: {
    partner: optional('ID', partnerId, 'only keys of this partner'),
    ...shownFlags('keys'),
  },
  run: async ({ store, values, output }) => {
    const { partner } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    const keys = await described(store, apiKeys, await store.listKeys(partner));
    const none = partner === undefined ? 'There are no keys.' : `Partner ${partner} has no keys.`;
    const columns = columnsOf<Described<ApiKey>>([
      ['PARTNER', ({ partner_id }) => partner_id, 'id'],
      ['SCOPES', ({ scopes }) => scopes.join(' ')],
    ]);
    printList(keys, 'keys', columns, values, output, none);
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
    const ofAdmin = ofPartner === undefined ? await store.findAdminKey(digest) : undefined;
    const found = ofAdmin ?? (await store.findKey(digest));
    if (found === undefined)
      throw new OperatorError('This database does not have this key. Check --database.');
    const { id } = found;
    const kind: KeyKind<AnyKey> = 'role' in found ? adminKeys : apiKeys;
    const isDisabled = 'isPartnerDisabled' in found && found.isPartnerDisabled;
    const owner =
      'role' in found
        ? `This is the administrative key ${id} with the role ${found.role}.`
        : `Key ${id} belongs to partner ${found.partnerId}${isDisabled ? ', which is disabled' : ''}.`;
    const [key] = await described(store, kind, [await kind.require(store, id)]);
    const { status, last_used_at = 'never', created_at, created_by = 'an older version' } = key!;
    const state = `It is ${status}. Last use: ${last_used_at}. Created ${created_at} by ${created_by}.`;
    const remedy = `\nRevoke it with "partner-network ${kind.group} revoke ${id}".`;
    return { value: key, text: `${owner}\n${state}${status === 'active' ? remedy : ''}` };
  },
});

export const revokeKey = revoking(apiKeys, 'KEY_ID');
export const rotateKey = rotating(apiKeys, 'KEY_ID', '0.1.0');

export const createAdminKey = changing('admin-keys create', {
  options: addedIn('0.2.0', {
    name: required('NAME', plainText(lengths.partnerName), 'name of the person or program that uses the key'),
    role: required('ROLE', oneOf(adminRoles), `what the key may do: ${adminRoles.join(', ')}`),
    'expires-at': expiresAt('the key'),
  }),
  run: async ({ store, values: { name, role, 'expires-at': expires_at, json }, output, by }) => {
    const { secret, last_four, digest } = operations.newSecret(adminKeys, store);
    const id = newId(adminKeys.idPrefix);
    const key = { id, name, role, last_four, created_at: toTime(Date.now()), expires_at };
    await store.createAdminKey(key, digest, by);
    return issued(adminKeys, store, secret, key, await endingFor(store, undefined, output, json));
  },
});

export const listAdminKeys = onDatabase({
  options: shownFlags('keys'),
  run: async ({ store, values, output }) => {
    const keys = await described(store, adminKeys, await store.listAdminKeys());
    const columns = columnsOf<Described<AdminKey>>([['ROLE', ({ role }) => role, 'whole']]);
    printList(keys, 'keys', columns, values, output, 'There are no administrative keys.');
  },
});

export const revokeAdminKey = revoking(adminKeys, 'ID');
export const rotateAdminKey = rotating(adminKeys, 'ID', '0.2.0');

/** Reports a new key. Its text is printed only this once. */
function issued<Key extends AnyKey>(
  { group, noun, shown }: KeyKind<Key>,
  { environment }: Store,
  secret: string,
  key: Key,
  ending: Awaited<ReturnType<typeof endingFor>>,
  ofOld = '',
): Report {
  const shownOnce = 'Copy the key now: it is shown only once. The database stores only its digest.';
  const next = `use the key. LAST USED in "partner-network ${group} list" shows when it is in use.`;
  const end = ending(key.id, key.expires_at, next);
  return {
    value: { id: key.id, key: secret, ...shown(key), environment, expires_at: key.expires_at },
    text: `${secret}\n\nCreated ${noun} ${key.id}. ${shownOnce}\n${ofOld}${end}`,
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
      const revoked = `${capitalized(noun)} ${id} is revoked. ${takesEffect}`;
      const uses = kind.group === 'keys' ? `receipts list --key ${id}` : `audit list --actor admin-key:${id}`;
      return { value: key, text: `${revoked}\nNext: see its uses with "partner-network ${uses}".` };
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
      const partner = 'partner_id' in replaced ? (replaced.partner_id as string) : undefined;
      const ending = await endingFor(store, partner, output, values.json);
      const replacement = {
        id: newId(kind.idPrefix),
        overlapMs: values.overlap,
        expiresAt: values['expires-at'],
      };
      const { key, old, secret } = await operations.rotate(kind, store, id, replacement, by);
      const ofOld = old.revoked_at === undefined ? worksUntil(id, old.expires_at) : `${id} is revoked.`;
      return issued(kind, store, secret, key, ending, `${ofOld}\n`);
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

type Described<Key extends AnyKey> = Awaited<ReturnType<typeof described<Key>>>[number];

/** The columns of all keys around those of one kind. */
function columnsOf<Key extends Described<AnyKey>>(own: Columns<Key>): Columns<Key> {
  return [
    ['ID', ({ id }) => id, 'id'],
    ['STATUS', ({ status }) => status, 'state'],
    ...own,
    ['LAST USED', ({ last_used_at = '-' }) => last_used_at, 'time'],
    ['EXPIRES', ({ expires_at = '-' }) => expires_at, 'time'],
    ['NAME', ({ name = '-' }) => name],
    ['KEY', ({ masked_key }) => masked_key, 'whole'],
    ['CREATED', ({ created_at }) => created_at, 'time'],
    ['CREATED BY', ({ created_by = '-' }) => created_by],
  ];
}
