/** Moves partners and their keys from one database to another; every key keeps working. */
import type { Environment } from '@partner-network/contract/environments';
import { ingestBounds } from '../../bounds/ingest.ts';
import { counted } from '../../command-line/amounts.ts';
import { flag } from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import { readPartner } from '../../ingest/partners.ts';
import { readJsonLines } from '../../ingest/read/json-lines.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { MoveCounts, MovedCounts, PartnerWithKeys } from '../../store/port.ts';
import { changing, explainConflict, onDatabase, printingLines, remarkNothing } from '../database.ts';
import { bytesOf } from '../import/input.ts';
import { remarkFaults } from '../import/report.ts';

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
  arguments: [{ name: 'FILE', help: 'output of "partners export"; - is standard input' }],
  options: { 'dry-run': flag('report what would be written, and write nothing') },
  run: async (store, { 'dry-run': isDryRun }, [file = ''], output, by) => {
    const partners = await readPartners(file, store.environment, output);
    const counts = await explainConflict(
      'Nothing was written: the database, or the file itself, has a key of this file with another id or partner.',
      store.writePartnersWithKeys(partners, by, isDryRun ? 'try' : 'keep'),
    );
    const total = { partners: partners.length, keys: partners.flatMap(({ keys }) => keys).length };
    return { value: { ...total, ...counts }, text: textOf(counts, isDryRun ? 'would be ' : '') };
  },
});

function textOf({ created, changed, unchanged }: MoveCounts, mood: string): string {
  const these = ({ partners, keys }: MovedCounts) =>
    `${counted(partners, 'partner')} and ${counted(keys, 'key')}`;
  return (
    `${these(created)} ${mood}created, ${these(changed)} ${mood}changed. ` +
    `${these(unchanged)} ${mood === '' ? 'were' : 'would stay'} unchanged.`
  );
}

async function readPartners(
  file: string,
  environment: Environment,
  output: Output,
): Promise<PartnerWithKeys[]> {
  const partners: PartnerWithKeys[] = [];
  let rejected = 0;
  for await (const readings of readJsonLines(bytesOf(file))) {
    for (const reading of readings) {
      const { partner, faults } =
        'faults' in reading ? { ...reading, partner: undefined } : readPartner(reading.value, environment);
      if (faults.length === 0) partners.push(partner!);
      else if (++rejected <= ingestBounds.importShownLines) remarkFaults(output, '', reading.line, faults);
    }
  }
  if (rejected === 0) return partners;
  const remedy = 'FILE must be the output of "partners export" in the same environment.';
  throw new OperatorError(`Nothing was written: ${counted(rejected, 'line')} rejected. ${remedy}`);
}
