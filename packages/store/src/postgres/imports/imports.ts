import type { Imports } from '../../port.ts';
import type { Sql } from '../../sql/statement.ts';
import type { Connection } from '../connections/connection.ts';
import { Run } from './run.ts';
import { watchLocks } from './watch-locks.ts';

/** `connect` opens a connection under a name. `rows` runs a statement on another connection. */
export function createImports(connect: (name: string) => Promise<Connection>, rows: Sql['rows']): Imports {
  return {
    runsAtOnce: Number.POSITIVE_INFINITY,
    beginImport: async (kind, options = {}) => {
      const command = options.pace === 'feed' ? 'a feed of' : 'an import of';
      const connection = await connect(`partner-network: ${command} ${kind}`);
      const run = new Run(kind, options, connection);
      const stopWatching = options.onWait && watchLocks(rows, connection, options.onWait);
      const end = async () => {
        stopWatching?.();
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
