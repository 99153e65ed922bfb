import type { Command } from '@partner-network/common/command-line/command';
import {
  optional,
  Problem,
  plainText,
  type Reader,
  required,
} from '@partner-network/common/command-line/options';
import { newId } from '@partner-network/common/ids';
import { lengths } from '@partner-network/contract/limits';
import {
  createPartner as createPartnerOf,
  renamePartner as renamePartnerOf,
  switchPartner,
} from '../operations/partners.ts';
import { changing, explainConflict, listReport, newIdOf, onDatabase, waitingFor } from './database.ts';

const partnerName: Reader<string> = (text) =>
  text.trim() === '' ? new Problem('must not be blank.') : plainText(lengths.partnerName)(text);

export const createPartner = changing('partners create', {
  options: {
    name: required('NAME', partnerName, 'name of the partner'),
    id: optional('ID', newIdOf(lengths.partnerId), 'id of the partner; without it, a new id'),
  },
  purpose: () => 'create',
  run: async (store, { name, id = newId('PARTNER') }, _words, _output, by) => {
    const partner = await explainConflict(
      `Partner ${id} already exists: choose another --id.`,
      createPartnerOf(store, id, name, by),
    );
    return { value: partner, text: `Created partner ${id} (${name}).` };
  },
});

export const listPartners = onDatabase({
  options: {},
  run: async (store) => {
    const none = 'There are no partners. Create one with "partner-network partners create --name NAME".';
    return listReport(await store.listPartners(), none, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      CREATED: ({ created_at }) => created_at,
      STATUS: ({ disabled_at }) => (disabled_at === undefined ? 'enabled' : `disabled ${disabled_at}`),
    });
  },
});

function switching(isDisabled: boolean): Command {
  const state = isDisabled ? 'disabled' : 'enabled';
  return changing(isDisabled ? 'partners disable' : 'partners enable', {
    role: isDisabled ? 'network_support' : 'network_operate',
    ...(isDisabled && {
      ifFailed:
        "Assume that the partner's keys still work until this command succeeds. " +
        'If a node of the database is down, revoke the keys instead.',
      notYet: () => waitingFor('The partner is not disabled yet'),
    }),
    arguments: [{ name: 'ID', help: 'id of the partner' }],
    options: {},
    run: async (store, _values, [id = ''], _output, by) => {
      return {
        value: await switchPartner(store, id, isDisabled, by),
        text: `Partner ${id} is ${state}. This takes effect on every instance within a second.`,
      };
    },
  });
}

export const disablePartner = switching(true);
export const enablePartner = switching(false);

export const renamePartner = changing('partners rename', {
  arguments: [
    { name: 'ID', help: 'id of the partner' },
    { name: 'NAME', help: 'its new name', read: partnerName },
  ],
  options: {},
  run: async (store, _values, [id = '', name = ''], _output, by) => {
    const partner = await renamePartnerOf(store, id, name, by);
    return { value: partner, text: `Partner ${id} has the name ${name}.` };
  },
});
