import { oneOf, optional, plainText, repeated, required } from '@partner-network/common/command-line/options';
import { OperatorError } from '@partner-network/common/errors';
import { newId } from '@partner-network/common/ids';
import { lengths } from '@partner-network/contract/limits';
import { scopes } from '@partner-network/contract/permissions';
import { digestOfKey, environmentOfAdminKey, environmentOfKey } from '@partner-network/service/auth/api-key';
import type { Store } from '@partner-network/store/port';
import { adminKeys, apiKeys, createKey as createKeyOf, requireKey } from '../../operations/keys.ts';
import { requirePartner } from '../../operations/partners.ts';
import { changing, disabledRemark, expiresAt, listReport, onDatabase, partnerId } from '../database.ts';
import { firstTextOf, standardInput } from '../import/input.ts';
import { described, issued, lastCells, revoking, rotating } from './key-kinds.ts';

/** More than a key has, in bytes. The rest of a longer input is not read. */
const longestInput = 1_024;

export const createKey = changing('keys create', {
  options: {
    partner: required('ID', partnerId, 'partner that gets the key'),
    scope: repeated('SCOPE', oneOf(scopes), `what the key may do: ${scopes.join(', ')}`),
    name: optional('NAME', plainText(lengths.partnerName), 'name of the key, to recognize it'),
    'expires-at': expiresAt('the key'),
  },
  run: async (store, { partner, scope, name, 'expires-at': expires_at }, _words, output, by) => {
    const remarkDisabled = await disabledRemark(store, partner, 'key', output);
    const given = { id: newId('KEY'), partnerId: partner, scopes: scope, name, expiresAt: expires_at };
    const { key, secret } = await createKeyOf(store, given, by);
    remarkDisabled();
    return issued(apiKeys, store, secret, key);
  },
});

export const listKeys = onDatabase({
  options: { partner: optional('ID', partnerId, 'only keys of this partner') },
  run: async (store, { partner }) => {
    if (partner !== undefined) await requirePartner(store, partner);
    const keys = await described(store, apiKeys, await store.listKeys(partner));
    return listReport(
      keys,
      partner === undefined ? 'There are no keys.' : `Partner ${partner} has no keys.`,
      {
        ID: ({ id }) => id,
        ...(partner === undefined && { PARTNER: ({ partner_id }) => partner_id }),
        KEY: ({ masked_key }) => masked_key,
        SCOPES: (key) => key.scopes.join(' '),
        ...lastCells,
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
    const found = await (ofPartner === undefined ? adminKeyOf : partnersKeyOf)(store, digestOfKey(text));
    if (found === undefined)
      throw new OperatorError('This database does not have this key. Check --database.');
    const { key, owner, group } = found;
    const { id, status, last_used_at = 'never', created_at, created_by = 'an older version' } = key;
    const state = `It is ${status}. Last use: ${last_used_at}. Created ${created_at} by ${created_by}.`;
    const remedy = status === 'active' ? `\nRevoke it with "partner-network ${group} revoke ${id}".` : '';
    return { value: key, text: `${owner}\n${state}${remedy}` };
  },
});

async function partnersKeyOf(store: Store, digest: Uint8Array) {
  const found = await store.findKey(digest);
  if (found === undefined) return undefined;
  const { id, partnerId, isPartnerDisabled } = found;
  const [key] = await described(store, apiKeys, [await requireKey(store, id)]);
  const disabled = isPartnerDisabled ? ', which is disabled' : '';
  return { key: key!, owner: `Key ${id} belongs to partner ${partnerId}${disabled}.`, group: apiKeys.group };
}

async function adminKeyOf(store: Store, digest: Uint8Array) {
  const found = await store.findAdminKey(digest);
  if (found === undefined) return undefined;
  const [key] = await described(store, adminKeys, [await adminKeys.require(store, found.id)]);
  const owner = `This is the administrative key ${found.id} with the role ${found.role}.`;
  return { key: key!, owner, group: adminKeys.group };
}

export const revokeKey = revoking(apiKeys, 'KEY_ID');
export const rotateKey = rotating(apiKeys, 'KEY_ID', '0.1.0');
