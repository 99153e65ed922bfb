/**
 * Keeps import runs for the next batch. On Postgres, a batch of one line takes 11 ms with a kept run, and
 * 60 ms with a new connection and new temporary tables.
 */
import { adminBounds } from '@partner-network/common/bounds/operator';
import {
  commits,
  type ImportBegin,
  type ImportKind,
  type ImportRun,
  type Imports,
} from '@partner-network/store/port';

interface Idle {
  readonly kind: ImportKind;
  readonly run: ImportRun;
  readonly timer: NodeJS.Timeout;
}

export class IdleRuns {
  readonly #store: Imports;
  readonly #idle = new Set<Idle>();
  #isClosed = false;

  constructor(store: Imports) {
    this.#store = store;
  }

  /** A run that goes back after a commit, and ends after anything else. */
  async begin(kind: ImportKind, options?: ImportBegin): Promise<ImportRun> {
    const kept = [...this.#idle].findLast((idle) => idle.kind === kind);
    if (kept !== undefined) this.#take(kept);
    const run = kept?.run ?? (await this.#store.beginImport(kind, options));
    let isCommitted = false;
    return {
      ...run,
      write: async (write) => {
        const result = await run.write(write);
        isCommitted = commits(write, result.rejected.length);
        return result;
      },
      end: async () => {
        if (isCommitted && this.#store.runsAtOnce > 1 && !this.#isClosed) this.#keep(kind, run);
        else await run.end();
      },
    };
  }

  #keep(kind: ImportKind, run: ImportRun): void {
    const timer = setTimeout(() => void this.#end(idle), adminBounds.idleRunMs).unref();
    const idle = { kind, run, timer };
    this.#idle.add(idle);
  }

  #take(idle: Idle): void {
    clearTimeout(idle.timer);
    this.#idle.delete(idle);
  }

  /** Ends a run. Ignores the error of a connection that is lost. */
  async #end(idle: Idle): Promise<void> {
    this.#take(idle);
    await idle.run.end().catch(() => {});
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.drop();
  }

  /** Ends all runs that are kept. */
  async drop(): Promise<void> {
    await Promise.all([...this.#idle].map((idle) => this.#end(idle)));
  }
}
