import { lengths } from '@partner-network/contract/limits';
import { type Command, tell } from '../command-line/command.ts';
import { optional, plainText, required } from '../command-line/options.ts';
import { table } from '../command-line/table.ts';
import { newId } from '../lib/ids.ts';
import { toTime } from '../lib/times.ts';
import { explainConflict, onDatabase, requirePartner } from './database.ts';

export const createPartner = onDatabase({
  options: {
    name: required('NAME', plainText(lengths.partnerName), 'what the partner is called'),
    id: optional('ID', plainText(lengths.partnerId), 'its id; issued when left out'),
  },
  purpose: 'create',
  run: async (store, values, _words, output) => {
    const id = values.id ?? newId('PARTNER');
    const partner = { id, name: values.name, created_at: toTime(Date.now()) };
    await explainConflict(`Partner ${id}`, store.createPartner(partner));
    tell(output, values.json, partner, () => `Created partner ${id} (${partner.name}).`);
  },
});

export const listPartners = onDatabase({
  options: {},
  run: async (store, values, _words, output) => {
    const partners = await store.listPartners();
    tell(output, values.json, partners, () =>
      partners.length === 0
        ? 'No partners yet: "partner-network partners create --name NAME" makes one.'
        : table([
            ['ID', 'NAME', 'CREATED', 'STATUS'],
            ...partners.map(({ id, name, created_at, disabled_at }) => [
              id,
              name,
              created_at,
              disabled_at === undefined ? 'enabled' : `disabled ${disabled_at}`,
            ]),
          ]),
    );
  },
});

function switching(isDisabled: boolean): Command {
  return onDatabase({
    arguments: [{ name: 'ID', help: 'the partner' }],
    options: {},
    run: async (store, values, [id = ''], output) => {
      const { disabled_at } = await requirePartner(store, id);
      // Disabling twice keeps the time of the first.
      await store.setPartnerDisabled(id, isDisabled ? (disabled_at ?? toTime(Date.now())) : undefined);
      const partner = await requirePartner(store, id);
      const state = isDisabled ? 'disabled' : 'enabled';
      tell(
        output,
        values.json,
        partner,
        () => `Partner ${id} is ${state}; this takes effect everywhere within a second.`,
      );
    },
  });
}

export const disablePartner = switching(true);
export const enablePartner = switching(false);
