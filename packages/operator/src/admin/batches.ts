/**
 * Batches of records over HTTP. A batch is checked and merged as a file is by `import`, in one transaction.
 *
 *     waiting for memory --a body fits--> reading --whole--> waiting for work --a place is free--> writing
 *     waiting --2 s--> 503           reading --30 s--> 408           writing --committed--> 200, 207 or 422
 */
import { adminBounds } from '@partner-network/common/bounds/operator';
import { Unavailable } from '@partner-network/common/errors';
import { within } from '@partner-network/common/timeout';
import { adminLimits } from '@partner-network/contract/limits';
import {
  announcedBytes,
  dropBody,
  encodingOfBody,
  freePieces,
  readBody,
  requireAnnounced,
  typeOfBody,
} from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { type Refusal, refusal } from '@partner-network/http/refusal';
import {
  AccessDenied,
  type ImportRow,
  type Store,
  StoreLocked,
  UncertainCommit,
  whileLocked,
} from '@partner-network/store/port';
import { newestOf } from '../ingest/follow.ts';
import { type ImportOptions, type ImportReport, importRecords, type Source } from '../ingest/import.ts';
import { piecesOf, readJsonLines, readJsonList } from '../ingest/json.ts';
import type { Reading } from '../ingest/lines.ts';
import { rejection, shownId } from '../ingest/rejections.ts';
import { isOutage } from '../ingest/retry.ts';
import { createCapacities, type Take, type Waiter } from './capacity.ts';
import { IdleRuns } from './idle-runs.ts';
import { errorOfRejection, refusalOfBody } from './refusals.ts';

export type BatchOptions = Pick<ImportOptions, 'kind' | 'mode' | 'skipsRejected' | 'audit'>;

const lines = 'application/x-ndjson';
const list = 'application/json';
const limits = {
  bytes: adminLimits.batchBytes,
  ms: adminLimits.bodySeconds * 1_000,
  tooLarge: () => refusal('BATCH_TOO_LARGE'),
};

export class Batches {
  readonly #store: Store;
  readonly #runs: IdleRuns;
  readonly #takeMemory: Take;
  readonly #takeWork: Take;

  constructor(store: Store) {
    this.#store = store;
    this.#runs = new IdleRuns(store);
    const createCapacity = createCapacities();
    this.#takeMemory = createCapacity(adminBounds.bodiesBytes);
    this.#takeWork = createCapacity(Math.min(adminBounds.batches, store.runsAtOnce));
  }

  async send(exchange: Exchange, options: BatchOptions) {
    const type = typeOfBody(exchange);
    const isKnown = type === lines || type === list;
    if (!isKnown || !['identity', 'gzip'].includes(encodingOfBody(exchange))) {
      const types = `${lines} (one record a line) or ${list} (a list), plain or with gzip`;
      throw refusal('UNSUPPORTED_MEDIA_TYPE', { types });
    }
    requireAnnounced(exchange, limits);
    const waiter: Waiter = { leftMs: adminBounds.batchWaitMs, response: exchange.response };
    const giveMemory = await this.#takeMemory(announcedBytes(exchange, limits), waiter).catch((busy) => {
      dropBody(exchange);
      throw busy;
    });
    let body: readonly Buffer[] = [];
    try {
      body = await readBody(exchange, limits);
      const source = sourceOf(body, type);
      const giveWork = await this.#takeWork(1, waiter);
      try {
        return await this.#write(source, options);
      } finally {
        giveWork();
      }
    } finally {
      freePieces(body);
      giveMemory();
    }
  }

  async #write(source: Source, options: BatchOptions) {
    const ids: LineIds = new Map();
    let newest = '';
    const stop = new AbortController();
    const store = {
      ...this.#store,
      beginImport: async (...begin: Parameters<Store['beginImport']>) => {
        const run = await this.#runs.begin(...begin);
        const stage = (rows: readonly ImportRow[]) => {
          // A rejected line has no row: its time may be anything.
          const time = newestOf(rows);
          if (time > newest) newest = time;
          return run.stage(rows);
        };
        return { ...run, stage };
      },
    };
    const work = () =>
      importRecords(store, () => countedLines(source(), ids), {
        ...options,
        pace: 'feed',
        isRepeatable: true,
        stop: stop.signal,
      });
    const late = () => {
      stop.abort(new Unavailable('The database does not answer.'));
      return stop.signal.reason;
    };
    const report = await within(adminBounds.batchMs, this.#repeated(work), late);
    return { result: resultOf(report, ids), newest };
  }

  /** Repeats work while another command holds its lock, for 2 s, and once if a connection broke. */
  async #repeated<Result>(work: () => Promise<Result>, isRepetition = false): Promise<Result> {
    try {
      return await whileLocked(work, adminBounds.batchWaitMs);
    } catch (error) {
      const isFinal = error instanceof UncertainCommit || error instanceof AccessDenied;
      if (isFinal || !isOutage(error)) throw error;
      if (isRepetition || error instanceof StoreLocked)
        throw new Unavailable(error.message, { cause: error });
      // The connections of kept runs may all be broken.
      await this.#runs.drop();
      return this.#repeated(work, true);
    }
  }

  close(): Promise<void> {
    return this.#runs.close();
  }
}

/** The ids of lines, to name them in errors. */
type LineIds = Map<number, unknown>;

/** Passes lines on, up to the largest number, and notes their ids. */
async function* countedLines(source: AsyncIterable<readonly Reading[]>, ids: LineIds) {
  ids.clear();
  for await (const readings of source) {
    for (const reading of readings) {
      const value = 'value' in reading ? (reading.value as { readonly id?: unknown } | null) : null;
      ids.set(reading.line, value?.id);
    }
    if (ids.size > adminLimits.batchLines) throw refusal('BATCH_TOO_LARGE');
    yield readings;
  }
}

function resultOf(report: ImportReport, ids: LineIds) {
  const { read, written, unchanged, stale, deleted, rejected_count, rejected } = report;
  const errors = rejected
    .flatMap(({ line, errors }) =>
      errors.map((error) => ({ ...errorOfRejection(error), line, id: shownId(ids.get(line)) })),
    )
    .slice(0, adminLimits.batchErrors);
  const counts = { read, written, unchanged, stale, deleted, rejected_count };
  return { ...counts, ...(rejected_count > 0 && { errors }) };
}

/** `item` is the number of the item that cannot be read, if the list can be divided into items. */
function notAList(item?: number): Refusal {
  const form = 'Send one complete JSON list of records, such as [{…},{…}], or one record a line as';
  const detail = `${form} ${lines}.${item === undefined ? '' : ` Item ${item} cannot be read as JSON.`}`;
  return refusalOfBody([{ ...rejection('INVALID_JSON'), detail }]);
}

function sourceOf(body: readonly Buffer[], type: string): Source {
  if (type === list) return readJsonList(body, notAList);
  requireFewLines(body);
  return () => readJsonLines(piecesOf(body));
}

/** Blank lines for each record. They are skipped, but 16 MiB of them block the service for 10 s. */
const blankLines = 10;

function requireFewLines(body: readonly Buffer[]): void {
  const lineFeed = 10;
  let left = adminLimits.batchLines * blankLines;
  for (const piece of body) {
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) {
      if (left === 0) throw refusal('BATCH_TOO_LARGE');
      left -= 1;
    }
  }
}
