import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { lengths } from '@partner-network/contract/limits';
import { scopes } from '@partner-network/contract/scopes';
import { digestOfKey, newApiKey } from '../auth/api-key.ts';
import { authBounds } from '../bounds/auth.ts';
import type { Report } from '../command-line/command.ts';
import {
  defaulted,
  durationMs,
  expiresAt,
  oneOf,
  optional,
  plainText,
  repeated,
  required,
} from '../command-line/options.ts';
import { newId } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { toTime } from '../lib/times.ts';
import type { ApiKey, Store } from '../store/port.ts';
import {
  isPast,
  listReport,
  onDatabase,
  partnerId,
  remarkPastExpiry,
  requireKey,
  requirePartner,
} from './database.ts';

type NewKey = Pick<ApiKey, 'partner_id' | 'name' | 'scopes' | 'expires_at'>;

/** A new key, its text and the report on it. The text is not stored, and is printed only this once. */
function issue(environment: Environment, { partner_id, name, scopes, expires_at }: NewKey) {
  const text = newApiKey(environment);
  const key: ApiKey = {
    id: newId('KEY'),
    partner_id,
    name,
    scopes: scopes.toSorted(),
    last_four: text.slice(-4),
    created_at: toTime(Date.now()),
    expires_at,
  };
  const shownOnce = 'Copy the key now: it is shown only once. The database stores only its digest.';
  const report = (sentence: string): Report => ({
    value: { id: key.id, key: text, partner_id, scopes: key.scopes, environment, expires_at },
    text: `${text}\n\n${sentence} ${shownOnce}`,
  });
  return { key, digest: digestOfKey(text), report };
}

export const createKey = onDatabase({
  options: {
    partner: required('ID', partnerId, 'partner that gets the key'),
    scope: repeated('SCOPE', oneOf(scopes), `what the key may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'name of the key, to recognize it'),
    'expires-at': expiresAt('the key'),
  },
  run: async (store, { partner, scope, name, 'expires-at': expires_at }, _words, output) => {
    await requirePartner(store, partner);
    const wanted = { partner_id: partner, name, scopes: [...new Set(scope)], expires_at };
    const { key, digest, report } = issue(store.environment, wanted);
    await store.createKey(key, digest);
    remarkPastExpiry(output, 'key', expires_at);
    return report(`Created key ${key.id}.`);
  },
});

export const listKeys = onDatabase({
  options: { partner: required('ID', partnerId, 'partner whose keys to list') },
  run: async (store, { partner }) => {
    await requirePartner(store, partner);
    const stored = await store.listKeys(partner);
    const lastUses = await store.lastUses(stored.map(({ id }) => id));
    const keys = stored.map((key) => ({
      ...described(store, key),
      ...(lastUses.has(key.id) && { last_used_at: lastUses.get(key.id) }),
    }));
    return listReport(keys, `Partner ${partner} has no keys.`, {
      ID: ({ id }) => id,
      KEY: ({ masked_key }) => masked_key,
      SCOPES: (key) => key.scopes.join(' '),
      STATUS: ({ status }) => status,
      EXPIRES: ({ expires_at = '-' }) => expires_at,
      'LAST USED': ({ last_used_at = '-' }) => last_used_at,
      NAME: ({ name = '-' }) => name,
    });
  },
});

export const revokeKey = onDatabase({
  ifFailed: 'Assume that the key still works until this command succeeds.',
  arguments: [{ name: 'KEY_ID', help: 'id of the key' }],
  options: {},
  run: async (store, _values, [id = '']) => {
    await requireKey(store, id);
    await store.revokeKey(id, toTime(Date.now()));
    return {
      value: described(store, await requireKey(store, id)),
      text: `Key ${id} is revoked. This takes effect on every instance within a second.`,
    };
  },
});

export const rotateKey = onDatabase({
  arguments: [{ name: 'KEY_ID', help: 'id of the key to replace' }],
  options: {
    overlap: {
      ...defaulted(
        'DURATION',
        durationMs,
        authBounds.overlapMs,
        'time for which the old key still works, such as 30m, 24h or 7d',
      ),
      default: `${authBounds.overlapMs / 3_600_000}h`,
    },
    'expires-at': expiresAt('the new key'),
  },
  run: async (store, { overlap, 'expires-at': expires_at }, [id = ''], output) => {
    const old = await requireKey(store, id);
    const status = statusOf(old);
    if (status !== 'active') {
      throw new OperatorError(
        `Key ${id} is ${status} and cannot be rotated. Create a key with "partner-network keys create".`,
      );
    }
    const overlapEnd = toTime(Date.now() + overlap);
    // A rotation never extends the life of the old key.
    const oldExpiresAt = [overlapEnd, old.expires_at ?? overlapEnd].toSorted()[0]!;
    const { key, digest, report } = issue(store.environment, { ...old, expires_at });
    await store.rotateKey(id, oldExpiresAt, key, digest);
    remarkPastExpiry(output, 'key', expires_at);
    const life = expires_at === undefined ? 'never expires' : `expires ${expires_at}`;
    return report(`Created key ${key.id}, which ${life}. The old key ${id} expires ${oldExpiresAt}.`);
  },
});

/** A key that is both revoked and expired is reported as revoked. */
function statusOf({ revoked_at, expires_at }: ApiKey): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== undefined) return 'revoked';
  return isPast(expires_at) ? 'expired' : 'active';
}

function described({ environment }: Store, { last_four, ...key }: ApiKey) {
  return {
    ...key,
    environment,
    status: statusOf({ last_four, ...key }),
    masked_key: `${keyPrefixes[environment]}…${last_four}`,
  };
}
