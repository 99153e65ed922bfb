import { lengths } from '@partner-network/contract/limits';
import type { Command } from '../command-line/command.ts';
import { plainText, required } from '../command-line/options.ts';
import type { Output } from '../command-line/output.ts';
import { keepYoungSpaceSmall } from '../command-line/young-space.ts';
import type { ExportSelection, ImportKind, Store } from '../store/port.ts';
import { onDatabase, printingLines, remarkNothing, requirePartner } from './database.ts';

function exporting(kind: ImportKind): Command {
  return printingLines(
    onDatabase({
      options: {
        ...(kind === 'brands' && { partner: required('ID', plainText(lengths.partnerId), 'whose brands') }),
      },
      run: async (store, values, _words, output) => {
        const { partner: partnerId = '' } = values as { partner?: string };
        if (kind === 'brands') await requirePartner(store, partnerId);
        await writeRecords(store, { kind, partnerId }, output);
      },
    }),
  );
}

export const exportBrands = exporting('brands');
export const exportBalances = exporting('balances');
export const exportGrants = exporting('grants');

/** A file with a part of the records looks like one with all of them: whoever made it must be told. */
async function writeRecords(store: Store, selection: ExportSelection, output: Output): Promise<void> {
  keepYoungSpaceSmall();
  const { kind, partnerId } = selection;
  let isBegun = false;
  try {
    await store.exportRecords(selection, async (lines) => {
      isBegun = true;
      await output.write(lines);
    });
  } catch (error) {
    if (isBegun) output.remark('The output is incomplete: throw it away, and export again.');
    throw error;
  }
  if (!isBegun) remarkNothing(output, kind === 'brands' ? `brands of partner ${partnerId}` : kind);
}
