import type { Command } from '@partner-network/common/command-line/command';
import { optional } from '@partner-network/common/command-line/options';
import type { ExportSelection } from '@partner-network/store/port';
import { requirePartner } from '../operations/partners.ts';
import { onDatabase, partnerId, printingLines, remarkNothing } from './database.ts';

function exporting(kind: ExportSelection['kind']): Command {
  const exported = onDatabase({
    role: 'network_operate',
    options: {
      ...(kind === 'brands' && {
        partner: optional('ID', partnerId, 'only brands of this partner; without it, all brands'),
      }),
    },
    run: async (store, values, _words, output) => {
      const { partner } = values as { partner?: string };
      if (partner !== undefined) await requirePartner(store, partner);
      let isStarted = false;
      try {
        await store.exportRecords({ kind, partnerId: partner }, async (lines) => {
          isStarted = true;
          await output.write(lines);
        });
      } catch (error) {
        // A file with only some of the records looks complete.
        if (isStarted) output.remark('The output is incomplete. Delete it, and export again.');
        throw error;
      }
      if (!isStarted) remarkNothing(output, partner === undefined ? kind : `brands of partner ${partner}`);
    },
  });
  return printingLines(exported);
}

export const exportBrands = exporting('brands');
export const exportBalances = exporting('balances');
export const exportGrants = exporting('grants');
export const exportErasures = exporting('erasures');
