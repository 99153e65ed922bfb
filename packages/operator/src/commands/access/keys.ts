import { authBounds } from '@partner-network/common/bounds/auth';
import type { Report } from '@partner-network/common/command-line/command';
import {
  defaulted,
  durationMs,
  expiresAt,
  oneOf,
  optional,
  plainText,
  repeated,
  required,
} from '@partner-network/common/command-line/options';
import { newId } from '@partner-network/common/ids';
import { ConclusiveError, OperatorError } from '@partner-network/common/operator-error';
import { toTime } from '@partner-network/common/times';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { lengths } from '@partner-network/contract/limits';
import { scopes } from '@partner-network/contract/scopes';
import { digestOfKey, environmentOfKey, newApiKey } from '@partner-network/service/auth/api-key';
import type { ApiKey, Store } from '@partner-network/store/port';
import {
  changing,
  isPast,
  listReport,
  onDatabase,
  partnerId,
  remarkPastExpiry,
  requireKey,
  requirePartner,
  waitingFor,
} from '../database.ts';
import { firstTextOf, standardInput } from '../import/input.ts';

/** More than a key has, in bytes. The rest of a longer input is not read. */
const longestInput = 1_024;

/** A new key's text, what is stored of it, and the report. The text is printed only this once. */
function issue(environment: Environment) {
  const text = newApiKey(environment);
  const shownOnce = 'Copy the key now: it is shown only once. The database stores only its digest.';
  const report = ({ id, partner_id, scopes, expires_at }: ApiKey, sentence: string): Report => ({
    value: { id, key: text, partner_id, scopes, environment, expires_at },
    text: `${text}\n\n${sentence} ${shownOnce}`,
  });
  return { id: newId('KEY'), last_four: text.slice(-4), digest: digestOfKey(text), report };
}

export const createKey = changing('keys create', {
  options: {
    partner: required('ID', partnerId, 'partner that gets the key'),
    scope: repeated('SCOPE', oneOf(scopes), `what the key may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'name of the key, to recognize it'),
    'expires-at': expiresAt('the key'),
  },
  run: async (store, { partner, scope, name, 'expires-at': expires_at }, _words, output, by) => {
    await requirePartner(store, partner);
    const { id, last_four, digest, report } = issue(store.environment);
    const scopes = [...new Set(scope)].toSorted();
    const key = {
      id,
      partner_id: partner,
      name,
      scopes,
      last_four,
      created_at: toTime(Date.now()),
      expires_at,
    };
    await store.createKey(key, digest, by);
    remarkPastExpiry(output, 'key', expires_at);
    return report(key, `Created key ${id}.`);
  },
});

export const listKeys = onDatabase({
  options: { partner: optional('ID', partnerId, 'only keys of this partner') },
  run: async (store, { partner }) => {
    if (partner !== undefined) await requirePartner(store, partner);
    const keys = await described(store, await store.listKeys(partner));
    return listReport(
      keys,
      partner === undefined ? 'There are no keys.' : `Partner ${partner} has no keys.`,
      {
        ID: ({ id }) => id,
        ...(partner === undefined && { PARTNER: ({ partner_id }) => partner_id }),
        KEY: ({ masked_key }) => masked_key,
        SCOPES: (key) => key.scopes.join(' '),
        STATUS: ({ status }) => status,
        EXPIRES: ({ expires_at = '-' }) => expires_at,
        'LAST USED': ({ last_used_at = '-' }) => last_used_at,
        CREATED: ({ created_at }) => created_at,
        'CREATED BY': ({ created_by = '-' }) => created_by,
        NAME: ({ name = '-' }) => name,
      },
    );
  },
});

export const findKey = onDatabase({
  arguments: [{ name: '-', help: 'the key is read from standard input, because others can see arguments' }],
  options: {},
  conflicts: (_values, [source]) =>
    source === standardInput ? [] : ['Pass - and write the key to standard input: others can see arguments.'],
  run: async (store) => {
    const text = (await firstTextOf(standardInput, longestInput)).trim();
    const environment = environmentOfKey(text);
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
    const found = await store.findKey(digestOfKey(text));
    if (found === undefined)
      throw new OperatorError('This database does not have this key. Check --database.');
    const [key] = await described(store, [await requireKey(store, found.id)]);
    const {
      id,
      partner_id,
      status,
      last_used_at = 'never',
      created_at,
      created_by = 'an older version',
    } = key!;
    const disabled = found.isPartnerDisabled ? ', which is disabled' : '';
    const owner = `Key ${id} belongs to partner ${partner_id}${disabled}.`;
    const state = `It is ${status}. Last use: ${last_used_at}. Created ${created_at} by ${created_by}.`;
    const remedy = status === 'active' ? `\nRevoke it with "partner-network keys revoke ${id}".` : '';
    return { value: key, text: `${owner}\n${state}${remedy}` };
  },
});

export const revokeKey = changing('keys revoke', {
  role: 'network_support',
  ifFailed: 'Assume that the key still works until this command succeeds.',
  notYet: () => waitingFor('The key is not revoked yet and still works'),
  arguments: [{ name: 'KEY_ID', help: 'id of the key' }],
  options: {},
  run: async (store, _values, [id = ''], _output, by) => {
    await requireKey(store, id);
    await store.revokeKey(id, toTime(Date.now()), by);
    const { last_used_at: _, ...key } = (await described(store, [await requireKey(store, id)]))[0]!;
    return {
      value: key,
      text: `Key ${id} is revoked. This takes effect on every instance within a second.`,
    };
  },
});

export const rotateKey = changing('keys rotate', {
  ifFailed: 'Assume that the old key still works until this command succeeds.',
  notYet: ({ overlap }) =>
    overlap === 0 ? waitingFor('The old key is not revoked yet and still works') : undefined,
  arguments: [{ name: 'KEY_ID', help: 'id of the key to replace' }],
  options: {
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
  },
  run: async (store, { overlap, 'expires-at': given }, [id = ''], output, by) => {
    await requireKey(store, id);
    const { report, ...issued } = issue(store.environment);
    const rotated = await store.rotateKey(id, { ...issued, overlapMs: overlap, expiresAt: given }, by);
    if (rotated === undefined) {
      const status = statusOf(await requireKey(store, id));
      throw new ConclusiveError(
        `Key ${id} is ${status} and cannot be rotated. Create a key with "partner-network keys create".`,
      );
    }
    const { key, old } = rotated;
    remarkPastExpiry(output, 'key', given);
    const life = key.expires_at === undefined ? 'never expires' : `expires ${key.expires_at}`;
    const end = old.revoked_at === undefined ? `expires ${old.expires_at}` : 'is revoked';
    return report(key, `Created key ${key.id}, which ${life}. The old key ${id} ${end}.`);
  },
});

/** A key that is both revoked and expired is reported as revoked. */
function statusOf({ revoked_at, expires_at }: ApiKey): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== undefined) return 'revoked';
  return isPast(expires_at) ? 'expired' : 'active';
}

/** Keys as they are shown: with their status and last use, and without most of the key itself. */
async function described(store: Store, keys: readonly ApiKey[]) {
  const { environment } = store;
  const lastUses = await store.lastUses(keys.map(({ id }) => id));
  return keys.map(({ last_four, ...key }) => ({
    ...key,
    environment,
    status: statusOf({ last_four, ...key }),
    masked_key: `${keyPrefixes[environment]}…${last_four}`,
    ...(lastUses.has(key.id) && { last_used_at: lastUses.get(key.id) }),
  }));
}
