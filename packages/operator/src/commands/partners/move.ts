/** Moves partners and their keys from one database to another; every key keeps working. */

import { flag } from '@partner-network/common/command-line/options';
import { counted } from '@partner-network/common/text';
import type { MoveCounts, MovedCounts } from '@partner-network/store/port';
import { readPartner } from '../../ingest/exported.ts';
import { changing, explainConflict, onDatabase, printingLines, remarkNothing } from '../database.ts';
import { readWholeFile } from '../import/whole-file.ts';

export const exportPartners = printingLines(
  onDatabase({
    options: {},
    run: async (store, _values, _words, output) => {
      const partners = await store.partnersWithKeys();
      if (partners.length === 0) remarkNothing(output, 'partners');
      for (const partner of partners)
        await output.write(`${JSON.stringify({ environment: store.environment, ...partner })}\n`);
    },
  }),
);

export const importPartners = changing('partners import', {
  arguments: [{ name: 'FILE', help: 'output of "partners export", or - for standard input' }],
  options: { 'dry-run': flag('report what would be written, and write nothing') },
  run: async (store, { 'dry-run': isDryRun }, [file = ''], output, by) => {
    const remedy = 'FILE must be the output of "partners export" in the same environment.';
    const read = (value: unknown) => readPartner(value, store.environment);
    const partners = await readWholeFile(file, output, read, remedy);
    const counts = await explainConflict(
      'Nothing was written: the database, or the file itself, has a key of this file with another id or partner.',
      store.writePartnersWithKeys(partners, by, isDryRun ? 'try' : 'keep'),
    );
    const total = { partners: partners.length, keys: partners.flatMap(({ keys }) => keys).length };
    return { value: { ...total, ...counts }, text: textOf(counts, isDryRun ? 'would be ' : '') };
  },
});

const unwidened = 'other scopes or a later expiry, which a stored key never gets. --json lists them.';

function textOf({ created, changed, unchanged, not_applied: kept }: MoveCounts, mood: string): string {
  const these = ({ partners, keys }: MovedCounts) =>
    `${counted(partners, 'partner')} and ${counted(keys, 'key')}`;
  return (
    `${these(created)} ${mood}created, ${these(changed)} ${mood}changed. ` +
    `${these(unchanged)} ${mood === '' ? 'were' : 'would stay'} unchanged.` +
    (kept.length === 0 ? '' : ` Not applied to ${counted(kept.length, 'key')}: ${unwidened}`)
  );
}
