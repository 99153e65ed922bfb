import { setTimeout as wait } from 'node:timers/promises';
import { ingestBounds } from '../bounds/ingest.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { StoreUnavailable } from '../store/port.ts';

export interface PatienceOptions {
  /** Aborted when it is to end: then the database is not waited for much longer. */
  readonly stop: AbortController;
  /** Told when the database is away, and for how long it is waited for. */
  waiting(reason: string, forMs: number): void;
  /** Told when it is back. */
  answering(): void;
  readonly patienceMs?: number;
  /** How much of it is left from then on. */
  readonly stoppedMs?: number;
}

/** Does some work on the database again and again, until that answers or patience is over. */
export type Patience = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** For a feed, which has nobody to give back to what it was sent. All of its work shares one outage. */
export function createPatience(options: PatienceOptions): Patience {
  const { waiting, answering } = options;
  const { patienceMs = ingestBounds.followPatienceMs, stoppedMs = ingestBounds.followStoppedMs } = options;
  const { signal } = options.stop;
  let stoppedAt = 0;
  let troubled = 0;
  signal.addEventListener('abort', () => {
    stoppedAt = Date.now();
  });

  function patienceLeft(): number {
    if (!signal.aborted) return patienceMs;
    // There is always time to try once.
    const left = Math.max(stoppedAt + stoppedMs - Date.now(), ingestBounds.followRetryMs);
    return Math.min(left, patienceMs);
  }

  return async (work) => {
    const over = new AbortController();
    const forMs = patienceLeft();
    const timers = [setTimeout(() => over.abort(), forMs)];
    const hurry = () => timers.push(setTimeout(() => over.abort(), patienceLeft()));
    signal.addEventListener('abort', hurry);
    let isTroubled = false;
    const tellTrouble = ({ message }: Error) => {
      if (!isTroubled) troubled += 1;
      if (!isTroubled && troubled === 1) waiting(message, forMs);
      isTroubled = true;
    };
    try {
      const result = await insist(work, over.signal, tellTrouble);
      if (isTroubled && troubled === 1) answering();
      return result;
    } finally {
      if (isTroubled) troubled -= 1;
      signal.removeEventListener('abort', hurry);
      for (const timer of timers) clearTimeout(timer);
    }
  };
}

async function insist<Result>(
  work: () => Promise<Result>,
  over: AbortSignal,
  tellTrouble: (error: Error) => void,
): Promise<Result> {
  // A frozen server does not even fail.
  const silence = new Promise<never>((_resolve, reject) => {
    over.addEventListener('abort', () => reject(new StoreUnavailable('The database does not answer.')));
  });
  silence.catch(() => {});
  for (;;) {
    try {
      return await Promise.race([work(), silence]);
    } catch (error) {
      if (!isOfStore(error) || over.aborted) throw error;
      tellTrouble(error);
      const isTimeLeft = await wait(ingestBounds.followRetryMs, true, { signal: over }).catch(() => false);
      if (!isTimeLeft) throw error;
    }
  }
}

/** What may pass. A server that cannot be reached when a run begins is an operator's fault anywhere else. */
export function isOfStore(error: unknown): error is Error {
  return error instanceof StoreUnavailable || error instanceof OperatorError;
}
