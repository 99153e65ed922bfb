import { setTimeout as wait } from 'node:timers/promises';
import { postgresBounds } from '@partner-network/common/bounds/store';
import type { Imports } from '../../port.ts';
import type { Sql } from '../../sql/statement.ts';
import type { Connection } from '../connections/connection.ts';
import { Run } from './run.ts';

/** `connect` opens a connection under a name. `rows` runs a statement on another connection. */
export function createImports(connect: (name: string) => Promise<Connection>, rows: Sql['rows']): Imports {
  return {
    runsAtOnce: Number.POSITIVE_INFINITY,
    beginImport: async (kind, options = {}) => {
      const command = options.pace === 'feed' ? 'a feed of' : 'an import of';
      const connection = await connect(`partner-network: ${command} ${kind}`);
      const run = new Run(kind, options, connection);
      const ended = new AbortController();
      if (options.onWait) watchLocks(rows, connection, options.onWait, ended.signal).catch(() => {});
      const end = async () => {
        ended.abort();
        await run.end();
      };
      try {
        await run.create();
        return { ...run, end };
      } catch (error) {
        await end();
        throw error;
      }
    },
  };
}

/** $1 is the process of a session on the server. */
const blockers = `
  select pid, application_name from pg_stat_activity where pid = any (pg_blocking_pids($1)) order by pid`;

/** Reports which sessions hold a lock that this session waits for, until the signal. */
async function watchLocks(
  rows: Sql['rows'],
  connection: Connection,
  onWait: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { processID } = connection as unknown as { processID: number };
  for (;;) {
    await wait(postgresBounds.lockWatchMs, undefined, { signal, ref: false });
    // Without an answer the import itself reports the outage.
    const found = await rows(blockers, processID).catch(() => []);
    const names = found.map(({ pid, application_name }) => `${application_name || 'a session'} (pid ${pid})`);
    if (names.length === 0 || signal.aborted) continue;
    onWait(`Waiting for a lock that is held on the database server by ${names.join(', ')}.`);
  }
}
