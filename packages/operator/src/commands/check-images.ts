import { imagesBounds } from '@partner-network/common/bounds/operator';
import type { Output } from '@partner-network/common/command-line/command';
import { growingJson } from '@partner-network/common/command-line/lists';
import { flag, required } from '@partner-network/common/command-line/options';
import { createProgress } from '@partner-network/common/command-line/progress';
import { type Columns, table } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { counted } from '@partner-network/common/text';
import { checkBrandImages, type ImageReport } from '../images/check.ts';
import { anywhere, publicOnly } from '../images/download.ts';
import { requirePartner } from '../operations/partners.ts';
import { onDatabase, partnerId } from './database.ts';

export const checkImages = onDatabase({
  options: {
    partner: required('ID', partnerId, 'partner whose brands to check'),
    'allow-private': flag('also download from addresses that are not public'),
  },
  run: async ({ store, values: { partner, json, 'allow-private': allowPrivate }, output }) => {
    await requirePartner(store, partner);
    const counts = { ok: 0, faulty: 0, without_image: 0 };
    const shown: ImageReport[] = [];
    // Not `output.write`, which ends the process when the reader of a pipe stops: the exit status must still
    // report on all images.
    const document = growingJson(async (text) => void process.stdout.write(text), '{"images":[');
    using progress = createProgress(process.stderr);
    let checked = 0;
    for await (const report of checkBrandImages(store, partner, allowPrivate ? anywhere : publicOnly)) {
      counts[report.status] += 1;
      if (json) await document.add(jsonOf(report));
      else progress.done(++checked, 'checked');
      if (report.status === 'faulty' && shown.length < imagesBounds.shownFaulty) shown.push(report);
    }
    progress.clear();
    const { ok, faulty, without_image } = counts;
    const totals = JSON.stringify({ checked: ok + faulty, without_image, faulty });
    if (json) await document.end(`],${totals.slice(1)}`);
    else printFaulty(counts, shown, output);
    if (faulty > 0) {
      throw new OperatorError(
        'Fix the faulty images, or change the profile_image_url of their brands. Then check again.',
      );
    }
  },
});

function jsonOf({ errors, ...report }: ImageReport): readonly unknown[] {
  if (report.status === 'without_image') return [];
  return [report.status === 'ok' ? report : { ...report, errors }];
}

const columns: Columns<ImageReport> = [
  ['BRAND', ({ brand_id }) => brand_id, 'id'],
  ['FAULTS', ({ errors }) => errors.map(({ code }) => code).join(', '), 'state'],
  ['WHAT TO DO', ({ errors }) => errors.map(({ detail }) => detail).join(' ')],
  ['HOST', ({ host = '-' }) => host],
  ['FORMAT', ({ format = '-' }) => format, 'whole'],
  ['PIXELS', ({ width, height }) => (width === undefined ? '-' : `${width}x${height}`), 'number'],
  ['BYTES', ({ bytes = '-' }) => String(bytes), 'number'],
];

type Counts = Readonly<Record<ImageReport['status'], number>>;

function printFaulty({ ok, faulty, without_image }: Counts, shown: ImageReport[], output: Output): void {
  if (faulty > 0) output.answer(table(shown, columns));
  const more = faulty - shown.length;
  if (more > 0) output.answer(`… and ${more} more faulty images. --json lists all of them.`);
  const all = ok + faulty + without_image;
  output.answer(
    `${counted(all, 'brand')}: ${ok} valid, ${faulty} faulty, ${without_image} without an image.`,
  );
}
