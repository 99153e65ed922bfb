import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ingestBounds } from '../../../bounds/ingest.ts';
import type { ImportCounts, ImportKind, ImportRun } from '../../port.ts';
import { translated } from '../engine.ts';
import type { StagedRows } from './writes.ts';

/** What an import's rows are given to: a connection of this thread, or another thread with its own. */
export interface ImportWriter {
  /** Resolves when there is room for more; a failure may be told with those. */
  stage(rows: StagedRows): Promise<void>;
  write: ImportRun['write'];
  end(): Promise<void>;
}

export interface ThreadData {
  readonly path: string;
  readonly kind: ImportKind;
}

export type Order =
  /** As one text: to copy thousands of values into a thread takes twice as long. */
  { readonly rows: string } | { readonly mode: 'keep' | 'try' } | 'end';

export type Outcome =
  | { readonly counts?: ImportCounts }
  | { readonly fault: { readonly message: string; readonly errcode: number | undefined } };

interface Asked {
  readonly characters: number;
  readonly outcome: PromiseWithResolvers<ImportCounts | undefined>;
}

/** Writes in a thread of its own, with a connection of its own, while this one reads and checks. */
export function startImportThread(path: string, kind: ImportKind): ImportWriter {
  const workerData: ThreadData = { path, kind };
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
  const ended = once(thread, 'exit').catch(() => {});
  /** Those who wait for the outcome of what they gave, in the order in which it is written. */
  const waiting: Asked[] = [];
  /** Of the rows that are given and not written. */
  let charactersAhead = 0;
  let failure: unknown;

  function succeed(counts: ImportCounts | undefined): void {
    const { characters, outcome } = waiting.shift()!;
    charactersAhead -= characters;
    outcome.resolve(counts);
  }

  function fail(error: unknown): void {
    failure ??= error;
    for (const { outcome } of waiting.splice(0)) outcome.reject(failure);
  }

  thread.on('message', (outcome: Outcome) => {
    if ('fault' in outcome) fail(translated(Object.assign(new Error(outcome.fault.message), outcome.fault)));
    else succeed(outcome.counts);
  });
  thread.on('error', (error) => fail(translated(error)));
  thread.on('exit', () => fail(new Error('The thread that writes has ended.')));

  function give(order: Order, characters = 0): Promise<ImportCounts | undefined> {
    if (failure !== undefined) throw failure;
    const outcome = Promise.withResolvers<ImportCounts | undefined>();
    // Who gave rows may not wait for them any more; the next who gives something is told.
    outcome.promise.catch(() => {});
    waiting.push({ characters, outcome });
    charactersAhead += characters;
    thread.postMessage(order);
    return outcome.promise;
  }

  return {
    stage: async (rows) => {
      const text = JSON.stringify(rows);
      give({ rows: text }, text.length);
      while (charactersAhead >= ingestBounds.importAheadCharacters) await waiting[0]!.outcome.promise;
    },
    write: async (mode) => (await give({ mode }))!,
    end: async () => {
      thread.postMessage('end' satisfies Order);
      await ended;
    },
  };
}
