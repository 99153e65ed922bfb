import { ingestBounds } from '../../bounds/ingest.ts';
import type { Command } from '../../command-line/command.ts';
import { confirm } from '../../command-line/confirm.ts';
import { defaulted, flag, oneOf, optional, wholeNumber } from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import { createProgress } from '../../command-line/progress.ts';
import { collectFaultyLines } from '../../ingest/faults.ts';
import { type ImportOptions, importRecords } from '../../ingest/import.ts';
import { kinds } from '../../ingest/kinds.ts';
import { personalDataPolicies } from '../../ingest/personal-data/personal-data.ts';
import { readJsonLines } from '../../ingest/read/json-lines.ts';
import { onInterrupt } from '../../lib/signals.ts';
import { largestPort } from '../../serve/settings.ts';
import type { ImportKind, Missing, Store } from '../../store/port.ts';
import { changing, partnerId, requirePartner } from '../database.ts';
import { follow } from './follow.ts';
import { bytesOf, sizeOf, sourceName, standardInput } from './input.ts';
import { remarkFormat, remarkLines, summaryOf } from './report.ts';

/** Why nothing was written, besides rejected lines. */
const stopReasons = {
  header: 'fix the header line',
  record: 'the file cannot be read beyond the last rejected line. Fix that line',
  empty: 'the file has no records, so --delete-missing would delete everything. Check the file',
};

function importing(kind: ImportKind): Command {
  return changing(`import ${kind}`, {
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
        'what to do with e-mail addresses and with phone, card and social security numbers in brands',
      ),
      ...(kind !== 'grants' && {
        'delete-missing': flag('delete what the file does not contain; not with --follow'),
        yes: flag('do not ask before --delete-missing deletes more than a fifth of the records'),
      }),
      follow: flag('read standard input until it ends, commit within 100 ms, skip rejected lines'),
      'ops-port': optional('PORT', wholeNumber(0, largestPort), 'port of metrics while --follow runs'),
    },
    purpose: ({ follow }) => (follow ? 'feed' : 'command'),
    conflicts: (
      { follow, format, 'dry-run': dryRun, 'ops-port': opsPort, ...more },
      [file = standardInput],
    ) => [
      ...(follow && file !== standardInput ? ['--follow reads standard input: pass - as FILE.'] : []),
      ...(follow && dryRun ? ['--follow writes lines as they arrive: omit --dry-run.'] : []),
      // A CSV record that was cut off can look complete.
      ...(follow && format === 'csv' ? ['--follow reads JSON Lines: omit --format csv.'] : []),
      ...(follow && (more as Deletions)['delete-missing']
        ? ['--delete-missing needs a whole file: omit --follow.']
        : []),
      ...(!follow && opsPort !== undefined ? ['--ops-port needs --follow.'] : []),
    ],
    run: async (store, values, [file = ''], output, by) => {
      const { partner } = values as { partner?: string };
      const { 'delete-missing': deletesMissing = false, yes = false } = values as Deletions;
      if (partner !== undefined) await requirePartner(store, partner);
      const records = { kind, partnerId: partner, personalData: values['personal-data'] };
      const audit = { ...by, target: partner ?? kind, source: sourceName(file), startedMs: Date.now() };
      if (values.follow) return follow(store, { records, audit, opsPort: values['ops-port'] }, output);
      const { json, 'skip-invalid': skipInvalid, 'dry-run': dryRun } = values;
      const isCsv = (values.format ?? (/\.csv$/i.test(file) ? 'csv' : 'jsonl')) === 'csv';
      const shownLines = json ? ingestBounds.importReportedLines : ingestBounds.importShownLines;
      const warnings = collectFaultyLines(shownLines);
      const deleteMissing = deletesMissing ? confirmation(kind, dryRun || yes) : undefined;
      const choices = { ...records, skipInvalid, dryRun, deleteMissing, audit, warn: warnings.add };
      const { stop, ...report } = await importFile(store, file, isCsv, choices, output);
      // With --json, warnings are still printed here: the document has no place for them.
      remarkLines(output, 'warning: ', warnings.report());
      if (!json) remarkLines(output, '', { ...report, rejected: report.rejected.slice(0, shownLines) });
      if (values.format === undefined && !isCsv) remarkFormat(output, report);
      const isComplete = report.rejected_count === 0 || (skipInvalid && !deletesMissing);
      const hasFailed = stop !== undefined || !isComplete;
      const remedy = deletesMissing ? '. --delete-missing cannot skip them' : ', or pass --skip-invalid';
      const why = stop === undefined ? `fix the rejected lines${remedy}` : stopReasons[stop];
      const failure = hasFailed ? `Nothing was written: ${why}.` : undefined;
      return { value: report, text: summaryOf(report, dryRun), failure };
    },
  });
}

interface Deletions {
  readonly 'delete-missing'?: boolean;
  readonly yes?: boolean;
}

/** Asks before --delete-missing deletes more than a fifth of all balances, or of the brands of a partner. */
function confirmation(kind: ImportKind, isConfirmed: boolean) {
  return async ({ missing, stored, share }: Missing): Promise<void> => {
    const isFew = share * ingestBounds.deleteFreelyFraction <= 1;
    const ofOne =
      share - missing / stored > 0.005
        ? `, and ${Math.round(share * 100)} % of the brands of one partner`
        : '';
    await confirm(
      `This deletes ${missing} of ${stored} stored ${kind}${ofOne}: the file does not contain them.`,
      isConfirmed || isFew,
    );
  };
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
      ...(choices.deleteMissing && {
        deleteMissing: async (missing: Missing) => {
          progress.clear();
          await choices.deleteMissing?.(missing);
        },
      }),
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
