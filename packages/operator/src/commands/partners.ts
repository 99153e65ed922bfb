import type { Command } from '@partner-network/common/command-line/command';
import { printList, shownFlags } from '@partner-network/common/command-line/lists';
import {
  addedIn,
  optional,
  Problem,
  plainText,
  type Reader,
  required,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import type { Columns } from '@partner-network/common/command-line/table';
import { newId } from '@partner-network/common/ids';
import { lengths, ratePerSecond } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { toCreate } from '@partner-network/store/address';
import type { Partner } from '@partner-network/store/port';
import * as operations from '../operations/partners.ts';
import { changing, explainConflict, newIdOf, onDatabase, takesEffect } from './database.ts';

const partnerName: Reader<string> = (text) =>
  text.trim() === '' ? new Problem('must not be blank.') : plainText(lengths.partnerName)(text);

export const createPartner = changing('partners create', {
  options: {
    name: required('NAME', partnerName, 'name of the partner'),
    id: optional('ID', newIdOf(lengths.partnerId), 'id of the partner; without it, a new id'),
  },
  opening: () => toCreate,
  run: async ({ store, values: { name, id = newId('PARTNER') }, by }) => {
    const partner = await explainConflict(
      `Partner ${id} already exists: choose another --id.`,
      operations.createPartner(store, id, name, by),
    );
    const next = `"partner-network keys create --partner ${id} --scope BRANDS_READ"`;
    return {
      value: partner,
      text: `Created partner ${id} (${name}). It is enabled and has no key.\nNext: ${next}.`,
    };
  },
});

export const listPartners = onDatabase({
  options: shownFlags('partners'),
  run: async ({ store, values, output }) => {
    const none = 'There are no partners. Create one with "partner-network partners create --name NAME".';
    printList(await store.listPartners(), 'partners', columns, values, output, none);
  },
});

const columns: Columns<Partner> = [
  ['ID', ({ id }) => id, 'id'],
  ['NAME', ({ name }) => name],
  ['STATUS', ({ disabled_at }) => (disabled_at === undefined ? 'enabled' : 'disabled'), 'state'],
  ['LIMITS', (one) => (one.limits === undefined ? 'default' : operations.limitsInWords(one))],
  ['CREATED', ({ created_at }) => created_at, 'time'],
  ['DISABLED', ({ disabled_at = '-' }) => disabled_at, 'time'],
];

function switching(isDisabled: boolean): Command {
  const [state, next] = isDisabled
    ? ['disabled', 'accept its keys again with "partner-network partners enable']
    : ['enabled', 'see which keys work with "partner-network keys list --partner'];
  return changing(isDisabled ? 'partners disable' : 'partners enable', {
    role: isDisabled ? 'network_support' : 'network_operate',
    ...(isDisabled && {
      ifFailed:
        "Assume that the partner's keys still work until this command succeeds. " +
        'If a node of the database is down, revoke the keys instead.',
      notYet: () => 'The partner is not disabled yet',
    }),
    arguments: [{ name: 'ID', help: 'id of the partner' }],
    run: async ({ store, words: [id = ''], by }) => ({
      value: await operations.switchPartner(store, id, isDisabled, by),
      text: `Partner ${id} is ${state}. ${takesEffect}\nNext: ${next} ${id}".`,
    }),
  });
}

export const disablePartner = switching(true);
export const enablePartner = switching(false);

const ownRate: Reader<number | null> = (text) => (text === 'default' ? null : wholeRate(text));
const wholeRate = wholeNumber(ratePerSecond.min, ratePerSecond.max);
const limitOf = (listing: ListingName) =>
  optional('N|default', ownRate, `list-${listing} requests per second, at most ${ratePerSecond.max}`);

export const limitPartner = changing('partners limit', {
  arguments: [{ name: 'ID', help: 'id of the partner' }],
  options: addedIn('0.3.0', { brands: limitOf('brands'), balances: limitOf('balances') }),
  conflicts: ({ brands, balances }) =>
    brands === undefined && balances === undefined ? ['Give --brands or --balances, or both.'] : [],
  run: async ({ store, values: { brands, balances }, words: [id = ''], by }) => {
    const given = { ...(brands !== undefined && { brands }), ...(balances !== undefined && { balances }) };
    const partner = await operations.limitPartner(store, id, given, by);
    const limits = operations.limitsInWords(partner);
    const next = `PEAK in "partner-network usage list --partner ${id}" shows how much of it is used.`;
    const text = `Partner ${id} has these limits a second: ${limits}. ${takesEffect}\nNext: ${next}`;
    return { value: partner, text };
  },
});

export const renamePartner = changing('partners rename', {
  arguments: [
    { name: 'ID', help: 'id of the partner' },
    { name: 'NAME', help: 'its new name', read: partnerName },
  ],
  run: async ({ store, words: [id = '', name = ''], by }) => {
    const partner = await operations.renamePartner(store, id, name, by);
    const next = 'see all names with "partner-network partners list".';
    return { value: partner, text: `Partner ${id} has the name ${name}.\nNext: ${next}` };
  },
});
