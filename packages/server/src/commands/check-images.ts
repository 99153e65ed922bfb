import { lengths } from '@partner-network/contract/limits';
import { imagesBounds } from '../bounds/images.ts';
import { growingJson } from '../command-line/json.ts';
import { flag, plainText, required } from '../command-line/options.ts';
import type { Output } from '../command-line/output.ts';
import { createProgress } from '../command-line/progress.ts';
import { table } from '../command-line/table.ts';
import { checkBrandImages, type ImageReport } from '../images/check.ts';
import { anywhere, publicOnly } from '../images/download.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { onDatabase, requirePartner } from './database.ts';

export const checkImages = onDatabase({
  options: {
    partner: required('ID', plainText(lengths.partnerId), 'whose brands'),
    'allow-private': flag('download also from addresses that are not public'),
  },
  run: async (store, { partner, json, 'allow-private': allowPrivate }, _words, output) => {
    await requirePartner(store, partner);
    const counts = { ok: 0, faulty: 0, without_image: 0 };
    const teller = json ? asJson() : asTable(output);
    const progress = createProgress(process.stderr, 'checked');
    let checked = 0;
    try {
      for await (const report of checkBrandImages(store, partner, allowPrivate ? anywhere : publicOnly)) {
        counts[report.status] += 1;
        await teller.add(report);
        // The lines of the document are what a terminal sees of it with --json.
        if (!json) progress.done(++checked);
      }
    } finally {
      progress.clear();
    }
    await teller.end(counts);
    if (counts.faulty > 0) {
      throw new OperatorError(
        'Mend the faulty images, or give their brands another profile_image_url; then check again.',
      );
    }
  },
});

type Counts = Readonly<Record<ImageReport['status'], number>>;

/** Tells of one brand after the other, and in the end of all together. */
interface Teller {
  add(report: ImageReport): Promise<void>;
  end(counts: Counts): Promise<void>;
}

/** Not through the output: whoever stops reading still gets a status that tells of all images. */
function asJson(): Teller {
  const write = async (text: string) => void process.stdout.write(text);
  const { add, end } = growingJson(write, '{"images":[');
  return {
    add: async ({ errors, ...report }) => {
      if (report.status === 'without_image') return;
      await add([report.status === 'ok' ? report : { ...report, errors }]);
    },
    end: ({ ok, faulty, without_image }) => {
      const totals = JSON.stringify({ checked: ok + faulty, without_image, faulty });
      return end(`],${totals.slice(1)}`);
    },
  };
}

/** The faulty ones, and a line that sums up. */
function asTable(output: Output): Teller {
  const rows = [['BRAND', 'HOST', 'FORMAT', 'PIXELS', 'BYTES', 'FAULTS', 'WHAT TO DO']];
  return {
    add: async (report) => {
      if (report.status === 'faulty' && rows.length <= imagesBounds.imageShownFaults)
        rows.push(rowOf(report));
    },
    end: async ({ ok, faulty, without_image }) => {
      if (faulty > 0) output.answer(table(rows));
      const more = faulty - imagesBounds.imageShownFaults;
      if (more > 0) output.answer(`… and ${more} more faulty ones; --json lists all.`);
      const all = ok + faulty + without_image;
      output.answer(`${all} brands: ${ok} fine, ${without_image} without an image, ${faulty} faulty.`);
    },
  };
}

function rowOf({ brand_id, host, format, width, height, bytes, errors }: ImageReport): string[] {
  return [
    brand_id,
    host ?? '',
    format ?? '',
    width === undefined ? '' : `${width}x${height}`,
    String(bytes ?? ''),
    errors.map(({ code }) => code).join(', '),
    errors.map(({ detail }) => detail).join(' '),
  ];
}
