import { addedIn, oneOf, plainText, required } from '@partner-network/common/command-line/options';
import { newId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { adminRoles } from '@partner-network/contract/permissions';
import { adminKeys, newSecret } from '../../operations/keys.ts';
import { changing, expiresAt, listReport, onDatabase } from '../database.ts';
import { described, issued, lastCells, revoking, rotating } from './key-kinds.ts';

export const createAdminKey = changing('admin-keys create', {
  options: addedIn('0.2.0', {
    name: required('NAME', plainText(lengths.partnerName), 'name of the person or program that uses the key'),
    role: required('ROLE', oneOf(adminRoles), `what the key may do: ${adminRoles.join(', ')}`),
    'expires-at': expiresAt('the key'),
  }),
  run: async (store, { name, role, 'expires-at': expires_at }, _words, _output, by) => {
    const { secret, last_four, digest } = newSecret(adminKeys, store);
    const id = newId(adminKeys.idPrefix);
    const key = { id, name, role, last_four, created_at: toTime(Date.now()), expires_at };
    await store.createAdminKey(key, digest, by);
    return issued(adminKeys, store, secret, key);
  },
});

export const listAdminKeys = onDatabase({
  options: {},
  run: async (store) => {
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
