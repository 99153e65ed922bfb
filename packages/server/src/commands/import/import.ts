import { ingestBounds } from '../../bounds/ingest.ts';
import type { Command, Report } from '../../command-line/command.ts';
import { defaulted, flag, oneOf, optional } from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import { createProgress } from '../../command-line/progress.ts';
import { collectFaultyLines } from '../../ingest/faults.ts';
import { followRecords } from '../../ingest/follow.ts';
import { type ImportOptions, importRecords } from '../../ingest/import.ts';
import { kinds } from '../../ingest/kinds.ts';
import { personalDataPolicies } from '../../ingest/personal-data/personal-data.ts';
import { readJsonLines } from '../../ingest/read/json-lines.ts';
import type { RecordOptions } from '../../ingest/record-check.ts';
import { onInterrupt, onStop } from '../../lib/signals.ts';
import type { ImportKind, Store } from '../../store/port.ts';
import { onDatabase, partnerId, requirePartner } from '../database.ts';
import { bytesOf, sizeOf, standardInput } from './input.ts';
import { remarkFaults, remarkFormat, remarkLines, summaryOf } from './report.ts';

/** Why nothing was written, besides rejected lines. */
const stopReasons = {
  header: 'fix the header line',
  record: 'the file cannot be read beyond the last rejected line. Fix that line',
  empty: 'the file has no records, and --delete-missing would delete everything',
  declined: 'the deletions were not confirmed',
};

function importing(kind: ImportKind): Command {
  return onDatabase({
    arguments: [{ name: 'FILE', help: 'JSON Lines, or CSV if the name ends in .csv; - is standard input' }],
    options: {
      ...(kind === 'brands' && {
        partner: optional('ID', partnerId, 'owner of all brands; without it, each line needs partner_id'),
      }),
      format: optional('jsonl|csv', oneOf(['jsonl', 'csv']), 'format of FILE, whatever its name is'),
      'skip-invalid': flag('write the valid lines even if others are rejected'),
      'dry-run': flag('check all lines and write nothing'),
      'personal-data': defaulted(
        personalDataPolicies.join('|'),
        oneOf(personalDataPolicies),
        'reject',
        'what to do with e-mail addresses and with phone, card and social security numbers',
      ),
      follow: flag('read standard input until it ends, commit within 100 ms, skip rejected lines'),
    },
    purpose: ({ follow }) => (follow ? 'feed' : 'command'),
    conflicts: ({ follow, format, 'dry-run': dryRun }, [file = standardInput]) => [
      ...(follow && file !== standardInput ? ['--follow reads standard input: pass - as FILE.'] : []),
      ...(follow && dryRun ? ['--follow writes lines as they arrive: omit --dry-run.'] : []),
      // A CSV record that was cut off can look complete.
      ...(follow && format === 'csv' ? ['--follow reads JSON Lines: omit --format csv.'] : []),
    ],
    run: async (store, values, [file = ''], output) => {
      const { partner } = values as { partner?: string };
      if (partner !== undefined) await requirePartner(store, partner);
      const records = { kind, partnerId: partner, personalData: values['personal-data'] };
      if (values.follow) return follow(store, records, output);
      const { json, 'skip-invalid': skipInvalid, 'dry-run': dryRun } = values;
      const isCsv = (values.format ?? (/\.csv$/i.test(file) ? 'csv' : 'jsonl')) === 'csv';
      const shownLines = json ? ingestBounds.importReportedLines : ingestBounds.importShownLines;
      const warnings = collectFaultyLines(shownLines);
      const choices = { ...records, skipInvalid, dryRun, warn: warnings.add };
      const { stop, ...report } = await importFile(store, file, isCsv, choices, output);
      // With --json, warnings are still printed here: the document has no place for them.
      remarkLines(output, 'warning: ', warnings.report());
      if (!json) remarkLines(output, '', { ...report, rejected: report.rejected.slice(0, shownLines) });
      if (values.format === undefined && !isCsv) remarkFormat(output, report);
      const hasFailed = stop !== undefined || (report.rejected_count > 0 && !skipInvalid);
      const why = stop === undefined ? 'fix the rejected lines, or pass --skip-invalid' : stopReasons[stop];
      const failure = hasFailed ? `Nothing was written: ${why}.` : undefined;
      return { value: report, text: summaryOf(report, dryRun), failure };
    },
  });
}

export const importBrands = importing('brands');
export const importBalances = importing('balances');
export const importGrants = importing('grants');

/** Reads to the end, then writes. A terminal sees the progress, and that an interruption writes nothing. */
async function importFile(
  store: Store,
  file: string,
  isCsv: boolean,
  choices: ImportOptions,
  output: Output,
): ReturnType<typeof importRecords> {
  const size = await sizeOf(file);
  const progress = createProgress(process.stderr, 'read', size);
  const ignoreInterrupt = onInterrupt(() => {
    progress.clear();
    output.remark('Interrupted: nothing was written.');
  });
  try {
    const chunks = bytesOf(file, { taken: progress.bytes });
    // CSV is loaded only if it is used.
    const { readCsv } = isCsv ? await import('../../ingest/read/csv.ts') : {};
    const readings = readCsv?.(chunks, kinds[choices.kind].schema) ?? readJsonLines(chunks);
    return await importRecords(store, readings, {
      ...choices,
      pace: size === undefined ? 'slow' : 'fast',
      onRead: progress.done,
      onWriting: (records) => {
        progress.writing(records);
        // The embedded database blocks the event loop while it writes, so let a signal end the process.
        ignoreInterrupt();
      },
    });
  } finally {
    progress.clear();
    ignoreInterrupt();
  }
}

/** Imports until standard input ends or a signal arrives; lines that have arrived by then are committed. */
async function follow(store: Store, records: RecordOptions, output: Output): Promise<Report> {
  const stop = new AbortController();
  const ignoreStop = onStop(() => setTimeout(() => stop.abort(), ingestBounds.followCommitMs));
  try {
    const lines = readJsonLines(bytesOf(standardInput, { stop: stop.signal }));
    const report = await followRecords(store, lines, {
      ...records,
      stop,
      warn: ({ line, errors }) => remarkFaults(output, 'warning: ', line, errors),
      rejected: (line, errors) => remarkFaults(output, '', line, errors),
      waiting: (reason, forMs) => output.remark(`${reason} Retrying for up to ${forMs / 1_000} s.`),
      answering: () => output.remark('The database answers again. The import continues.'),
    });
    return { value: report, text: summaryOf(report, false) };
  } finally {
    ignoreStop();
  }
}
