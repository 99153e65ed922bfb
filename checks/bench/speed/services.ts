/** Our service as an operator runs it: on each engine, with 10,000 and with 1,000,000 brands. */
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { onConnection, startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { say, wholeRun } from '../../lib/program.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { startService as startServe } from '../lib/service.ts';

export const engineNames = ['embedded', 'postgres'] as const;
export type EngineName = (typeof engineNames)[number];

/** A partner may send at most 10,000 requests a second, less than the load; four together may send more. */
export const partnerCount = 4;
const customersOfPartner = 64;

/** Brands of all partners together, shared equally. */
export const brandsIn = { small: 10_000, large: 1_000_000 } as const;
export type Size = keyof typeof brandsIn;

/** The highest --brands-rate: the limiter counts every request, and the load stays below it. */
export const ratePastLoad = 10_000;

export interface Database {
  readonly url: string;
  /** The process id of its server; undefined for the embedded database. */
  readonly pid?: number;
}

export type Service = Awaited<ReturnType<typeof startService>>;
export type Services = ReturnType<typeof openServices>;

/** Databases and services are made on first use. */
export function openServices() {
  const partners = newPartners(partnerCount, customersOfPartner);
  const folder = temporaryFolder(wholeRun);
  const server = once(startServer);
  const onServer = async (size: Size): Promise<Database> => {
    const { url, pid } = await server();
    await onConnection(url(), (client) => client.query(`create database ${size}`));
    return { url: url(size), pid: pid() };
  };
  const database = once(async (engine: EngineName, size: Size): Promise<Database> => {
    const made =
      engine === 'embedded' ? { url: `sqlite:${join(folder, `${size}.db`)}` } : await onServer(size);
    say(`Making the ${size} database, ${engine}: ${brandsIn[size].toLocaleString('en')} brands.`);
    await fillDatabase(made.url, partners, brandsIn[size]);
    if (engine === 'postgres') await onConnection(made.url, (client) => client.query('vacuum (analyze)'));
    return made;
  });
  const service = once(async (engine: EngineName, size: Size) =>
    startService((await database(engine, size)).url, ratePastLoad),
  );
  return { partners, database, service };
}

/** Does the work once for each combination of arguments. */
function once<Words extends string[], Result>(
  work: (...words: Words) => Promise<Result>,
): (...words: Words) => Promise<Result> {
  const results = new Map<string, Promise<Result>>();
  return (...words) => {
    const name = words.join(' ');
    const result = results.get(name) ?? work(...words);
    results.set(name, result);
    return result;
  };
}

/** All data fits into its memory, and no vacuum or checkpoint runs during the measurement. */
function startServer() {
  return startPostgres(wholeRun, {
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1d',
    autovacuum: 'off',
  });
}

/** Logs a line for each request to a file, as by default in production. */
export async function startService(database: string, brandsRate: number) {
  const logFile = join(temporaryFolder(wholeRun), 'service.log');
  const flags = ['--brands-rate', String(brandsRate)];
  const { pid, port, signal, ended } = await startServe(database, flags, logFile);
  return {
    pid,
    port,
    /** The log grows by a line for each request. */
    emptyLog: () => truncateSync(logFile),
    /** Stops it with SIGINT: after a clean exit, Node keeps the compiled code for the next start. */
    end: async () => {
      signal('SIGINT');
      const status = await ended;
      if (status !== 0) throw new Error(`serve ended with status ${status}.`);
    },
  };
}
