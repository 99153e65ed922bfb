import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { lengths } from '@partner-network/contract/limits';
import { scopes } from '@partner-network/contract/scopes';
import { digestOfKey, newApiKey } from '../auth/api-key.ts';
import { authBounds } from '../bounds/auth.ts';
import { tell } from '../command-line/command.ts';
import {
  durationMs,
  expiresAt,
  oneOf,
  optional,
  plainText,
  repeated,
  required,
} from '../command-line/options.ts';
import { table } from '../command-line/table.ts';
import { newId } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { toTime } from '../lib/times.ts';
import type { ApiKey, Store } from '../store/port.ts';
import { onDatabase, requireKey, requirePartner } from './database.ts';

type NewKey = Pick<ApiKey, 'partner_id' | 'name' | 'scopes' | 'expires_at'>;

/** A key and its text. The text is not stored, and is shown only once. */
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
  const shown = {
    id: key.id,
    key: text,
    partner_id,
    scopes: key.scopes,
    environment,
    expires_at,
  };
  return { key, text, shown };
}

const shownOnce = 'Keep it safe: it is shown only once, and only a digest of it is stored.';

export const createKey = onDatabase({
  options: {
    partner: required('ID', plainText(lengths.partnerId), 'whose key it is'),
    scope: repeated('SCOPE', oneOf(scopes), `what it may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'what it is for'),
    'expires-at': expiresAt,
  },
  run: async (store, values, _words, output) => {
    await requirePartner(store, values.partner);
    const { key, text, shown } = issue(store.environment, {
      partner_id: values.partner,
      name: values.name,
      scopes: [...new Set(values.scope)],
      expires_at: values['expires-at'],
    });
    await store.createKey(key, digestOfKey(text));
    if (statusOf(key) === 'expired') output.remark('Note: its expiry is in the past.');
    tell(output, values.json, shown, () => `${text}\n\nCreated key ${key.id}. ${shownOnce}`);
  },
});

export const listKeys = onDatabase({
  options: { partner: required('ID', plainText(lengths.partnerId), 'whose keys') },
  run: async (store, values, _words, output) => {
    await requirePartner(store, values.partner);
    const onFile = await store.listKeys(values.partner);
    const lastUses = await store.lastUses(onFile.map(({ id }) => id));
    const keys = onFile.map((key) => ({
      ...described(store, key),
      ...(lastUses.has(key.id) && { last_used_at: lastUses.get(key.id) }),
    }));
    tell(output, values.json, keys, () =>
      keys.length === 0
        ? `Partner ${values.partner} has no keys.`
        : table([
            ['ID', 'KEY', 'SCOPES', 'STATUS', 'EXPIRES', 'LAST USED', 'NAME'],
            ...keys.map((key) => [
              key.id,
              key.masked_key,
              key.scopes.join(' '),
              key.status,
              key.expires_at ?? '-',
              key.last_used_at ?? '-',
              key.name ?? '-',
            ]),
          ]),
    );
  },
});

export const revokeKey = onDatabase({
  arguments: [{ name: 'KEY_ID', help: 'the key, by its id' }],
  options: {},
  run: async (store, values, [id = ''], output) => {
    await requireKey(store, id);
    await store.revokeKey(id, toTime(Date.now()));
    const key = described(store, await requireKey(store, id));
    tell(
      output,
      values.json,
      key,
      () => `Key ${id} is revoked; this takes effect everywhere within a second.`,
    );
  },
});

export const rotateKey = onDatabase({
  arguments: [{ name: 'KEY_ID', help: 'the key to replace, by its id' }],
  options: {
    overlap: optional(
      'DURATION',
      durationMs,
      'how long the old key still works, such as 30m, 24h or 7d (24h)',
    ),
    'expires-at': { ...expiresAt, help: expiresAt.help.replace('it', 'the new key') },
  },
  run: async (store, values, [id = ''], output) => {
    const old = await requireKey(store, id);
    const status = statusOf(old);
    if (status !== 'active') {
      throw new OperatorError(`Key ${id} is ${status}: make a new one with "partner-network keys create".`);
    }
    const overlapEnd = toTime(Date.now() + (values.overlap ?? authBounds.overlapMs));
    // A rotation never lets the old key live longer than it would have.
    const oldExpiresAt = [overlapEnd, old.expires_at ?? overlapEnd].toSorted()[0]!;
    const { key, text, shown } = issue(store.environment, {
      partner_id: old.partner_id,
      name: old.name,
      scopes: old.scopes,
      expires_at: values['expires-at'],
    });
    await store.rotateKey(id, oldExpiresAt, key, digestOfKey(text));
    if (statusOf(key) === 'expired') output.remark('Note: its expiry is in the past.');
    const life = key.expires_at === undefined ? 'never expires' : `expires ${key.expires_at}`;
    tell(
      output,
      values.json,
      shown,
      () =>
        `${text}\n\nCreated key ${key.id}, which ${life}, in place of ${id}, which expires ${oldExpiresAt}. ${shownOnce}`,
    );
  },
});

/** Revoked counts before expired. */
function statusOf({ revoked_at, expires_at }: ApiKey): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

function described({ environment }: Store, { last_four, ...key }: ApiKey) {
  return {
    ...key,
    environment,
    status: statusOf({ last_four, ...key }),
    masked_key: `${keyPrefixes[environment]}…${last_four}`,
  };
}
