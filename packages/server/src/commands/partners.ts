import { lengths } from '@partner-network/contract/limits';
import type { Command } from '../command-line/command.ts';
import { optional, plainText, required } from '../command-line/options.ts';
import { newId } from '../lib/ids.ts';
import { toTime } from '../lib/times.ts';
import { explainConflict, listReport, onDatabase, partnerId, requirePartner } from './database.ts';

export const createPartner = onDatabase({
  options: {
    name: required('NAME', plainText(lengths.partnerName), 'name of the partner'),
    id: optional('ID', partnerId, 'id of the partner; without it, a new id'),
  },
  purpose: () => 'create',
  run: async (store, { name, id = newId('PARTNER') }) => {
    const partner = { id, name, created_at: toTime(Date.now()) };
    await explainConflict(`Partner ${id} already exists: choose another --id.`, store.createPartner(partner));
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
  return onDatabase({
    ...(isDisabled && { ifFailed: "Assume that the partner's keys still work until this command succeeds." }),
    arguments: [{ name: 'ID', help: 'id of the partner' }],
    options: {},
    run: async (store, _values, [id = '']) => {
      const { disabled_at } = await requirePartner(store, id);
      // A partner that is disabled twice keeps the time of the first.
      await store.setPartnerDisabled(id, isDisabled ? (disabled_at ?? toTime(Date.now())) : undefined);
      const state = isDisabled ? 'disabled' : 'enabled';
      return {
        value: await requirePartner(store, id),
        text: `Partner ${id} is ${state}. This takes effect on every instance within a second.`,
      };
    },
  });
}

export const disablePartner = switching(true);
export const enablePartner = switching(false);
