/** Keeps import runs for the next batch: a connection and its temporary tables take longer than a line. */
import { adminBounds } from '@partner-network/common/bounds/serve';
import type { ImportBegin, ImportKind, ImportRun, Imports } from '@partner-network/store/port';

type Borrowed = ImportRun & {
  /** Whether another batch used it before. Its connection may have broken since. */
  readonly isUsed: boolean;
};

interface Idle {
  readonly run: ImportRun;
  readonly timer: NodeJS.Timeout;
}

export class IdleRuns {
  readonly #store: Imports;
  readonly #idle: Record<ImportKind, Idle[]> = { brands: [], balances: [], grants: [] };
  #isClosed = false;

  constructor(store: Imports) {
    this.#store = store;
  }

  /** A run that goes back after a commit, and ends after anything else. */
  async begin(kind: ImportKind, options?: ImportBegin): Promise<Borrowed> {
    const kept = this.#idle[kind].pop();
    clearTimeout(kept?.timer);
    const run = kept?.run ?? (await this.#store.beginImport(kind, options));
    let isCommitted = false;
    return {
      ...run,
      isUsed: kept !== undefined,
      stage: (rows) => {
        isCommitted = false;
        return run.stage(rows);
      },
      write: async (write) => {
        const result = await run.write(write);
        isCommitted = write.mode === 'keep' && (result.rejected.length === 0 || write.skipsRejected === true);
        return result;
      },
      end: async () => {
        if (isCommitted && this.#store.runsAtOnce > 1 && !this.#isClosed) this.#keep(kind, run);
        else await run.end();
      },
    };
  }

  #keep(kind: ImportKind, run: ImportRun): void {
    const idle: Idle = { run, timer: setTimeout(() => this.#drop(kind, idle), adminBounds.idleRunMs) };
    idle.timer.unref();
    this.#idle[kind].push(idle);
  }

  #drop(kind: ImportKind, idle: Idle): void {
    this.#idle[kind] = this.#idle[kind].filter((other) => other !== idle);
    void idle.run.end().catch(() => {});
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.drop();
  }

  /** Ends all runs that are kept. */
  async drop(): Promise<void> {
    const all = Object.values(this.#idle).flatMap((idle) => idle.splice(0));
    for (const { timer } of all) clearTimeout(timer);
    // Fails if the connection of the run is lost.
    await Promise.all(all.map(({ run }) => run.end().catch(() => {})));
  }
}
