/** Imports a file: opens the files beside it, shows the progress and handles signals. */
import { createHash } from 'node:crypto';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { Output } from '@partner-network/common/command-line/command';
import { createProgress, grouped } from '@partner-network/common/command-line/progress';
import { InterruptedError, OperatorError } from '@partner-network/common/errors';
import { onStop } from '@partner-network/common/process';
import { type Missing, type Store, StoreUnavailable, UncertainCommit } from '@partner-network/store/port';
import { readCsv } from '../../ingest/csv.ts';
import { hasFailed, type ImportOptions, importRecords } from '../../ingest/import.ts';
import { readJsonLines } from '../../ingest/json.ts';
import { openRejectedFile, openUndoFile } from '../../ingest/output-files.ts';
import { kinds } from '../../ingest/record-check.ts';
import { bytesOf, sizeOf, sourceName, spooled, standardInput } from './input.ts';

const newline = 0x0a;

/** What is done with the records, and what follows. */
const steps = { staged: 'staged, merging', merged: 'staged and merged, committing' };

interface Files {
  readonly file: string;
  readonly isCsv: boolean;
  readonly undoPath: string | undefined;
  readonly rejectedPath: string | undefined;
}

type Choices = Omit<ImportOptions, 'undoFile' | 'rejectedFile' | 'stop'>;

/** Reads to the end, then writes. */
export async function importFile(
  store: Store,
  { file, isCsv, undoPath, rejectedPath }: Files,
  choices: Choices,
  output: Output,
): ReturnType<typeof importRecords> {
  await using opened = new AsyncDisposableStack();
  const size = await sizeOf(file);
  const progress = opened.use(createProgress(process.stderr, 0, size));
  const remark = (text: string) => {
    progress.clear();
    output.remark(text);
  };
  const stop = new AbortController();
  const interrupted = (signal: NodeJS.Signals) =>
    new InterruptedError('Interrupted: nothing was written.', signal);
  opened.defer(onStop((signal) => stop.abort(interrupted(signal))));
  const path = file === standardInput ? undefined : file;
  const rejectedFile = rejectedPath === undefined ? undefined : openRejectedFile(rejectedPath, path);
  opened.defer(() => rejectedFile?.close());
  const undo = undoPath === undefined ? undefined : openUndoFile(undoPath);
  opened.defer(() => undo?.close());
  try {
    // A pipe can be read only once, and the text of a line that the store refuses is read again.
    const input = rejectedFile && size === undefined ? await spooled(file, opened, stop.signal) : file;
    const { bytes, sha256, endsInLine } = hashed(input, progress.bytes, stop.signal);
    const source = () => (isCsv ? readCsv(bytes(), kinds[choices.kind].schema) : readJsonLines(bytes()));
    const report = await importRecords(store, source, {
      ...choices,
      auditDetails: () => ({ sha256: sha256(), undo_file: undoPath && sourceName(undoPath) }),
      pace: size === undefined ? 'slow' : 'fast',
      ...(choices.deleteMissing && {
        deleteMissing: async (missing: Missing) => {
          progress.clear();
          await choices.deleteMissing?.(missing);
        },
      }),
      undoFile: undo?.descriptor,
      rejectedFile,
      stop: stop.signal,
      onWait: reportWaits(remark),
      onRead: progress.done,
      onStep: (step, records) => progress.step(`${grouped(records)} records ${steps[step]}`),
    });
    // A CSV record that was cut off can look complete.
    if (isCsv && endsInLine()) remark('The last line has no line break. Check that the file is complete.');
    if (!hasFailed(report, choices)) undo?.keep();
    return report;
  } catch (error) {
    if (error instanceof UncertainCommit) {
      undo?.keep();
      const kept = undoPath === undefined ? '' : ` The undo file ${undoPath} is kept: name a new one.`;
      throw new OperatorError(`${error.message} Import the file again to be sure.${kept}`, { cause: error });
    }
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreUnavailable(`${error.message} Nothing was written.`, { cause: error });
  }
}

/** Reads the input, any number of times. `sha256` and `endsInLine` are about the last time. */
function hashed(input: string, onBytes: (count: number) => void, stop: AbortSignal) {
  let hash = createHash('sha256');
  let lastByte = newline;
  const taken = (chunk: Uint8Array) => {
    hash.update(chunk);
    lastByte = chunk.at(-1) ?? lastByte;
    onBytes(chunk.length);
  };
  const bytes = () => {
    hash = createHash('sha256');
    return bytesOf(input, { taken, stop });
  };
  return { bytes, sha256: () => hash.digest('hex'), endsInLine: () => lastByte !== newline };
}

/** Returns a function to call while an import waits. It reports a wait after a second, then every 10. */
function reportWaits(remark: (text: string) => void) {
  const { waitReportMs, waitReportAgainMs, waitGapMs } = ingestBounds;
  let calledAt = Number.NEGATIVE_INFINITY;
  let reportAt = 0;
  return (what: string) => {
    const at = performance.now();
    // A new wait.
    if (at - calledAt > waitGapMs) reportAt = at + waitReportMs;
    calledAt = at;
    if (at < reportAt) return;
    reportAt = at + waitReportAgainMs;
    remark(what);
  };
}
