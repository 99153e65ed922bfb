import { resolve } from 'node:path';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import { confirm } from '@partner-network/common/command-line/changes';
import type { Command } from '@partner-network/common/command-line/command';
import {
  addedIn,
  defaulted,
  flag,
  oneOf,
  optional,
  Problem,
  plainText,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { hostName, largestPort } from '@partner-network/service/settings';
import { toFollow, toTry } from '@partner-network/store/address';
import type { ImportKind, ImportWrite, Missing } from '@partner-network/store/port';
import { hasFailed } from '../../ingest/import.ts';
import { personalDataPolicies } from '../../ingest/personal-data.ts';
import { collectRejectedLines } from '../../ingest/rejections.ts';
import { requirePartner } from '../../operations/partners.ts';
import { changing, partnerId } from '../database.ts';
import { importFile } from './file.ts';
import { follow } from './follow.ts';
import { sourceName, standardInput } from './input.ts';
import { remarkFormat, remarkLines, remarkStale, reportOf } from './report.ts';

const anyPath = plainText(commandLineBounds.pathCharacters);
const path = (text: string) =>
  text === standardInput ? new Problem('must be the path of a file.') : anyPath(text);

/** Why nothing was written, besides rejected lines. */
const stopReasons = {
  header: 'fix the header line',
  record: 'the file cannot be read beyond the last rejected line. Fix that line',
  empty: 'the file has no records, so --delete-missing would delete everything. Check the file',
};

/** Without a flag, only programs on this machine can read the metrics of a feed. */
const opsHost = '127.0.0.1';

/** The flags that a kind does not have. */
const absent: Readonly<Record<ImportKind, readonly string[]>> = {
  brands: [],
  balances: ['partner'],
  grants: ['partner', 'delete-missing', 'yes'],
};

function optionsOf(kind: ImportKind) {
  const personal = 'what to do with e-mail addresses and with phone, card and social security numbers';
  // For grants, these flags are refused with advice.
  const help = (text: string) => (kind === 'grants' ? 'not for grants: consent only shrinks' : text);
  const options = {
    partner: optional('ID', partnerId, 'owner of all brands; without it, each line needs partner_id'),
    format: optional('jsonl|csv', oneOf(['jsonl', 'csv']), 'format of FILE, whatever its name is'),
    'skip-invalid': flag('write the valid lines even if others are rejected'),
    'dry-run': flag('check all lines and write nothing'),
    'personal-data': defaulted(
      personalDataPolicies.join('|'),
      oneOf(personalDataPolicies),
      'reject',
      kind === 'brands' ? personal : `no effect: ${kind} have no fields with free text`,
    ),
    'delete-missing': flag('delete what the file does not contain; not with --follow'),
    yes: flag('do not ask before --delete-missing deletes more than a fifth of the records'),
    ...addedIn('0.2.0', {
      overwrite: flag(help('replace newer records too: for an undo file, or a file with older times')),
      'undo-file': optional('PATH', path, help('new file that takes this import back with --overwrite')),
      'rejected-file': optional('PATH', path, 'file that gets the rejected lines, at its end'),
    }),
    follow: flag('read standard input until it ends, commit within 100 ms, skip rejected lines'),
    'ops-port': optional('PORT', wholeNumber(0, largestPort), 'port of metrics while --follow runs'),
    ...addedIn('0.3.0', {
      'ops-host': defaulted('HOST', hostName, opsHost, 'address of metrics while --follow runs'),
    }),
  };
  const own = Object.entries(options).filter(([name]) => !absent[kind].includes(name));
  return Object.fromEntries(own) as typeof options;
}

type Flags = Values<ReturnType<typeof optionsOf>>;

function importing(kind: ImportKind): Command {
  return changing(`import ${kind}`, {
    role: 'network_import',
    arguments: [{ name: 'FILE', help: 'JSON Lines, CSV if its name ends in .csv, or - for standard input' }],
    options: optionsOf(kind),
    // It retries by itself if another command locks the database.
    opening: ({ 'dry-run': dryRun }) => (dryRun ? toTry : toFollow),
    conflicts: (flags, [file = standardInput]) => conflictsOf(kind, flags, file),
    run: async ({ store, values, words: [file = ''], output, by }) => {
      const { partner, json, overwrite, 'delete-missing': deletesMissing } = values;
      const { 'dry-run': dryRun, 'rejected-file': rejectedPath } = values;
      if (partner !== undefined) await requirePartner(store, partner);
      const records = { kind, partnerId: partner, personalData: values['personal-data'] };
      const details = overwrite ? { overwrite } : {};
      const source = { source: sourceName(file), startedMs: Date.now() };
      const audit = { ...by, details, target: partner ?? kind, ...source };
      const feed = { records, audit, rejectedPath, opsPort: values['ops-port'], opsHost: values['ops-host'] };
      if (values.follow) return follow(store, feed, output);
      const isCsv = (values.format ?? (/\.csv$/i.test(file) ? 'csv' : 'jsonl')) === 'csv';
      const shownLines = json ? ingestBounds.importReportedLines : ingestBounds.importShownLines;
      const warnings = collectRejectedLines(shownLines);
      const deleteMissing = deletesMissing ? confirmation(kind, dryRun || values.yes) : undefined;
      // What a file does not contain is known only if all of it is valid.
      const skipsRejected = values['skip-invalid'] && !deletesMissing;
      const mode: ImportWrite['mode'] = dryRun ? 'try' : 'keep';
      const choices = { ...records, mode, skipsRejected, deleteMissing, overwrites: overwrite, audit };
      const files = { file, isCsv, undoPath: values['undo-file'], rejectedPath };
      const { stop, ...report } = await importFile(store, files, { ...choices, warn: warnings.add }, output);
      // With --json, warnings are still printed here: the document has no place for them.
      remarkLines(output, 'warning: ', warnings.report());
      if (!json) remarkLines(output, '', { ...report, rejected: report.rejected.slice(0, shownLines) });
      if (values.format === undefined && !isCsv) remarkFormat(output, report);
      if (kind !== 'grants') remarkStale(output, report, overwrite);
      // An empty file is often a mistake of the program that made it.
      if (stop === undefined && report.read === 0) output.remark('The input has no records.');
      const failure = hasFailed({ ...report, stop }, choices) ? failureOf(stop, deletesMissing) : undefined;
      return { ...reportOf(report, dryRun), failure };
    },
  });
}

export const importBrands = importing('brands');
export const importBalances = importing('balances');
export const importGrants = importing('grants');

function failureOf(stop: keyof typeof stopReasons | undefined, deletesMissing: boolean): string {
  const remedy = deletesMissing ? '. --delete-missing cannot skip them' : ', or pass --skip-invalid';
  const why = stop === undefined ? `fix the rejected lines${remedy}` : stopReasons[stop];
  return `Nothing was written: ${why}.`;
}

function conflictsOf(kind: ImportKind, flags: Flags, file: string): string[] {
  const { follow, overwrite, 'dry-run': dryRun, 'undo-file': undo = '', 'rejected-file': rejected } = flags;
  const hasUndo = undo !== '';
  const rules: readonly [isBroken: boolean, sentence: string][] = [
    [follow && file !== standardInput, '--follow reads standard input: pass - as FILE.'],
    [follow && dryRun, '--follow writes lines as they arrive: omit --dry-run.'],
    // A CSV record that was cut off can look complete.
    [follow && flags.format === 'csv', '--follow reads JSON Lines: omit --format csv.'],
    [follow && flags['delete-missing'], '--delete-missing needs a whole file: omit --follow.'],
    [follow && overwrite, '--overwrite needs a whole file: omit --follow.'],
    [hasUndo && kind === 'grants', `--undo-file cannot be used: ${grantsShrink}`],
    [hasUndo && dryRun, '--undo-file needs an import that writes: omit --dry-run.'],
    [hasUndo && follow, '--undo-file needs a whole file: make an export before the feed begins.'],
    [/\.csv$/i.test(undo), '--undo-file is written as JSON Lines: use a name that does not end in .csv.'],
    [
      hasUndo && rejected !== undefined && resolve(undo) === resolve(rejected),
      '--undo-file and --rejected-file name the same file: name two files.',
    ],
    [overwrite && kind === 'grants', `--overwrite cannot be used: ${grantsShrink}`],
    [!follow && flags['ops-port'] !== undefined, '--ops-port needs --follow.'],
    [flags['ops-host'] !== opsHost && flags['ops-port'] === undefined, '--ops-host needs --ops-port.'],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, sentence]) => sentence);
}

const grantsShrink =
  'consent only shrinks. To take grants back, import a file with their ids and the status REVOKED.';

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
