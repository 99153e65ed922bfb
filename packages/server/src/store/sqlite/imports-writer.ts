import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { bounds } from '../../bounds.ts';
import type { ImportCounts, ImportKind } from '../port.ts';
import { translated } from './engine.ts';
import type { ImportWriter } from './imports.ts';

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

/** Writes in a thread of its own, with a connection of its own, while this one reads and checks. */
export function startImportThread(path: string, kind: ImportKind): ImportWriter {
  const workerData: ThreadData = { path, kind };
  const thread = new Worker(new URL('./imports-thread.ts', import.meta.url), { workerData });
  const ended = once(thread, 'exit').catch(() => {});
  /** Those who wait for the outcome of what they gave, in the order in which it is written. */
  const waiting: PromiseWithResolvers<ImportCounts | undefined>[] = [];
  let failure: unknown;

  function fail(error: unknown): void {
    failure ??= error;
    for (const asked of waiting.splice(0)) asked.reject(failure);
  }

  thread.on('message', (outcome: Outcome) => {
    if ('fault' in outcome) fail(translated(Object.assign(new Error(outcome.fault.message), outcome.fault)));
    else waiting.shift()?.resolve(outcome.counts);
  });
  thread.on('error', (error) => fail(translated(error)));
  thread.on('exit', () => fail(new Error('The thread that writes has ended.')));

  function give(order: Order): Promise<ImportCounts | undefined> {
    const asked = Promise.withResolvers<ImportCounts | undefined>();
    // Who gave rows may not wait for them any more; the next who gives something is told.
    asked.promise.catch(() => {});
    if (failure === undefined) {
      waiting.push(asked);
      thread.postMessage(order);
    } else asked.reject(failure);
    return asked.promise;
  }

  return {
    stage: async (rows) => {
      const taken = give({ rows: JSON.stringify(rows) });
      if (failure !== undefined) await taken;
      if (waiting.length >= bounds.importBatchesAhead) await waiting[0]!.promise;
    },
    write: async (mode) => (await give({ mode }))!,
    end: async () => {
      thread.postMessage('end' satisfies Order);
      await ended;
    },
  };
}
