/** Our own service as an operator runs it, on each engine, with little and with much data. */
import { closeSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { start } from '../../packages/testkit/fixtures/run.ts';
import type { PostgresServer } from '../../packages/testkit/servers/postgres-process.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';
import { say, wholeRun } from '../lib/program.ts';
import { onConnection, settle } from '../size/data.ts';
import { brandsIn, fillDatabase, newPartners, type Partner, type Size } from './data.ts';
import type { Listener } from './processes.ts';

export const engineNames = ['embedded', 'postgres'] as const;
export type EngineName = (typeof engineNames)[number];

/** The most that --brands-rate takes: the limit counts every request, and refuses none of the load. */
export const ratePastLoad = 10_000;

export interface Database {
  readonly url: string;
  /** Of its server, where it has one. */
  readonly pid?: number;
}

export interface Service extends Listener {
  /** Its log grows by a line a request; what is there is not read by anybody. */
  emptyLog(): void;
  /** Ends it in order: then Node keeps what it compiled, and the next start has it. */
  end(): Promise<void>;
}

export interface Services {
  readonly partners: readonly Partner[];
  /** Made and filled when it is asked for first. */
  database(engine: EngineName, size: Size): Promise<Database>;
  /** Started when it is asked for first. */
  service(engine: EngineName, size: Size): Promise<Service>;
}

export function openServices(): Services {
  const partners = newPartners();
  const folder = temporaryFolder(wholeRun);
  const server = remembered(startServer);
  const onServer = async (size: Size): Promise<Database> => {
    const { url, folder } = await server();
    await onConnection(url(), (client) => client.query(`create database ${size}`));
    return {
      url: url(size),
      pid: Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]),
    };
  };
  const database = remembered(async (engine: EngineName, size: Size): Promise<Database> => {
    const made =
      engine === 'embedded' ? { url: `sqlite:${join(folder, `${size}.db`)}` } : await onServer(size);
    say(`Making the ${size} database, ${engine}: ${brandsIn[size].toLocaleString('en')} brands.`);
    await fillDatabase(made.url, partners, brandsIn[size]);
    if (engine === 'postgres') await settle(made.url);
    return made;
  });
  const service = remembered(async (engine: EngineName, size: Size) => {
    const { url } = await database(engine, size);
    return startService(url, ratePastLoad);
  });
  return { partners, database, service };
}

/** What a call came to, for the next one with the same words. */
function remembered<Words extends string[], Result>(
  work: (...words: Words) => Promise<Result>,
): (...words: Words) => Promise<Result> {
  const results = new Map<string, Promise<Result>>();
  return (...words) => {
    const name = words.join(' ');
    const known = results.get(name) ?? work(...words);
    results.set(name, known);
    return known;
  };
}

/** All of the data is in its memory, and nothing goes on behind while it is measured. */
function startServer(): Promise<PostgresServer> {
  return startPostgres(wholeRun, {
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1d',
    autovacuum: 'off',
  });
}

/** With its log in a file, as where a collector reads it: a line a request, as is the default. */
export async function startService(database: string, brandsRate: number): Promise<Service> {
  const logFile = join(temporaryFolder(wholeRun), 'service.log');
  const log = openSync(logFile, 'a');
  const words = ['serve', '--database', database, '--port', '0', '--ops-port', '0'];
  const service = start(wholeRun, [...words, '--brands-rate', String(brandsRate)], { stdout: log });
  closeSync(log);
  const [, address = ''] = await service.says('stderr', /listening on (\S+), /);
  const { port } = new URL(address);
  return {
    pid: service.pid,
    port: Number(port),
    emptyLog: () => truncateSync(logFile),
    end: async () => {
      service.signal('SIGINT');
      const status = await service.ended;
      if (status !== 0) throw new Error(`serve ended with status ${status}.`);
    },
  };
}
