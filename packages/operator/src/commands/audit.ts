import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { type Output, shownJson } from '@partner-network/common/command-line/command';
import { printNewest, shownFlags, spanConflicts, timeSpan } from '@partner-network/common/command-line/lists';
import { addedIn, flag, optional, plainText } from '@partner-network/common/command-line/options';
import type { Columns } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { onStop } from '@partner-network/common/process';
import { counted, textOf } from '@partner-network/common/text';
import { lengths } from '@partner-network/contract/limits';
import { toFollow } from '@partner-network/store/address';
import type { NumberedEntry, Store } from '@partner-network/store/port';
import { createRetry } from '../ingest/retry.ts';
import { actorsOf, keyNames, listNamedAudit, type NamedEntry } from '../operations/audit.ts';
import {
  type AuditCopy,
  type Difference,
  firstDifference,
  lineAfter,
  positionAfter,
  readCopy,
} from '../operations/audit-copy.ts';
import { onDatabase } from './database.ts';
import { bytesOf } from './import/input.ts';

const file = plainText(commandLineBounds.pathCharacters);

type Entry = NamedEntry & NumberedEntry;

export const listAudit = onDatabase({
  options: {
    // Not the setting of the other commands: here it filters, and the variable does not.
    actor: optional(
      'NAME',
      plainText(commandLineBounds.actorCharacters),
      'only changes by this actor, person or key with this name',
    ),
    action: optional('COMMAND', plainText(64), 'only changes by this command, such as "keys revoke"'),
    target: optional(
      'ID',
      plainText(lengths.grantId),
      'only changes of this key or grant, or of this partner or customer with its keys and grants',
    ),
    ...timeSpan('changes'),
    ...shownFlags('changes', '0.1.0'),
    ...addedIn('0.2.0', {
      follow: flag(
        'print changes from now on as they come, one JSON document a line; with --since, from there',
      ),
    }),
    ...addedIn('0.3.0', {
      digest: flag('with --follow: add a SHA-256 to each line that covers the lines before it'),
      after: optional(
        'FILE',
        file,
        'with --digest: continue the chain of this copy; an empty one gets the whole log',
      ),
    }),
  },
  conflicts: (values) => [
    ...spanConflicts(values),
    ...digestConflicts(values),
    ...(values.follow && values.until !== undefined ? ['--follow has no end: leave out --until.'] : []),
  ],
  opening: ({ follow }) => (follow ? toFollow : {}),
  run: async ({ store, values, output }) => {
    const { actor, action, target, since, until } = values;
    if (values.follow) return follow(store, values, output);
    const list = (after: Entry | undefined, limit: number) =>
      listNamedAudit(store, { actor, actions: [action], target, since, until, after, limit });
    await printNewest('changes', list, values, columns, output, recordOf);
  },
});

/** Compares a copy with the database. */
export const verifyAudit = onDatabase({
  arguments: [{ name: 'FILE', help: 'output of "audit list --follow --digest", or - for standard input' }],
  run: async ({ store, words }) => {
    const copy = await readCopy(bytesOf(words[0]!));
    const { size } = copy.entries;
    if (size === 0 && copy.brokenLine === undefined)
      throw new OperatorError('The file holds no entry that "audit list --follow --digest" printed.');
    const first_difference = await firstDifference(store, copy);
    const failure = first_difference && sentenceOf(first_difference);
    const torn = copy.tornLines === 0 ? '' : ` Skipped ${counted(copy.tornLines, 'line')} that was cut off.`;
    const read = `Read ${size} ${size === 1 ? 'entry' : 'entries'} of the copy.${torn}`;
    const value = { entries: size, first_difference };
    if (failure !== undefined) return { value, text: read, failure };
    const end = `The digest of the last entry is ${copy.digest}.`;
    const text = `${read} The database has all of them, unchanged. ${end}`;
    return { value: { ...value, last_digest: copy.digest }, text };
  },
});

function sentenceOf({ kind, line, seq }: Difference): string {
  const which = `The first difference is at ${line === undefined ? `entry ${seq}` : `line ${line}`}`;
  return `${which} (${kind}): ${meanings[kind]}.`;
}

const meanings: Readonly<Record<Difference['kind'], string>> = {
  'broken chain': 'its digest does not follow from the lines before it, so the file was changed',
  missing: 'the copy has it, the database does not',
  changed: 'the database has another content',
  reordered: 'the database has here the content of another entry of the copy',
  added:
    'the database has it, the copy does not. If the copy was stopped just then, continue it with --after',
};

/** The number of an entry is only for paging, and for a copy. */
const recordOf = ({ seq: _seq, ...entry }: Entry) => entry;

interface Following extends Filters {
  readonly follow: boolean;
  readonly digest: boolean;
  readonly after?: string | undefined;
}

function digestConflicts({ follow, digest, after, since, actor, action, target }: Following): string[] {
  const isFiltered = (actor ?? action ?? target) !== undefined;
  return [
    ...(digest && !follow ? ['--digest is for lines that follow the log: add --follow.'] : []),
    ...(digest && isFiltered
      ? ['--digest proves the whole log: leave out --actor, --action and --target.']
      : []),
    ...(after !== undefined && !digest ? ['--after continues a chain of digests: add --digest.'] : []),
    ...(after !== undefined && since !== undefined
      ? ['--after begins where the copy ends: leave out --since.']
      : []),
  ];
}

type Filters = Readonly<Partial<Record<'actor' | 'action' | 'target' | 'since', string | undefined>>>;

/** Prints entries until a signal arrives. A lost database is waited for. */
async function follow(store: Store, values: Following, output: Output): Promise<void> {
  const { since, actor, action, target, digest, after } = values;
  const stop = new AbortController();
  const removeListener = onStop(() => stop.abort());
  const retry = createRetry({ stop, report: output.remark, what: 'The command' });
  try {
    const actors = actor === undefined ? undefined : actorsOf(actor, await retry(() => keyNames(store)));
    const isWanted = (entry: Entry) =>
      actors?.includes(entry.actor) !== false &&
      (action ?? entry.action) === entry.action &&
      (target === undefined ||
        [entry.target, entry.details.partner_id, entry.details.customer_id].includes(target));
    // A chain holds no entry from before its start, also where a transaction commits it later.
    const start = async () => ({ ...(await store.auditPosition(since)), ...(digest && { missing: [] }) });
    const copy = after === undefined ? undefined : await copyToContinue(after);
    if (copy?.endsInsideLine) await output.write('\n');
    let last = copy?.digest ?? '';
    const lineOf = (entry: Entry) => {
      if (!digest) return JSON.stringify(recordOf(entry));
      const line = lineAfter(last, entry);
      last = line.digest;
      return line.text;
    };
    let position = copy === undefined ? await retry(start) : positionAfter(copy);
    while (!stop.signal.aborted) {
      const read = await retry(() => store.followAudit(position, commandLineBounds.listPage));
      position = read.position;
      const lines = read.entries.filter(isWanted).map((entry) => `${lineOf(entry)}\n`);
      if (lines.length > 0) await output.write(shownJson(lines.join('')));
      if (read.entries.length > 0) continue;
      await wait(commandLineBounds.followPollMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  } catch (error) {
    // Nothing was left out: an entry that was not printed is there for the next start.
    if (!stop.signal.aborted) throw error;
  } finally {
    removeListener();
  }
}

/** A copy that does not exist is empty: the service manager creates it. */
async function copyToContinue(file: string): Promise<AuditCopy> {
  const copy = await readCopy(existsSync(file) ? bytesOf(file) : Readable.from([]));
  if (copy.brokenLine === undefined) return copy;
  throw new OperatorError(
    `Line ${copy.brokenLine} of ${file} does not continue its chain. Keep the file, and begin another one.`,
  );
}

const columns: Columns<Entry> = [
  ['TIME', ({ at }) => at, 'time'],
  ['ACTION', ({ action }) => action, 'whole'],
  ['REASON', ({ details: { reason = '-' } }) => textOf(reason)],
  ['TARGET', ({ target }) => target, 'id'],
  ['ACTOR', ({ actor, actor_name: name }) => (name === undefined ? actor : `${name} (${actor})`)],
  ['DETAILS', ({ details: { reason: _, ...details } }) => JSON.stringify(details)],
  ['DB USER', ({ db_user = '-' }) => db_user],
];
