/** What runs on the connections of a pool: statements and transactions. */
import { within } from '@partner-network/common/timeout';
import type { Row, Sql, Value } from '../../sql/statement.ts';
import { replayed, type Statement } from '../statements.ts';
import { begin, type Connection } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { late } from './errors.ts';
import { runPrepared } from './prepared.ts';

export type { PoolSettings } from './connection-pool.ts';

export type Rows = readonly Row[];

/** What a pool with `shares` may be used for. Its connections never run a transaction or a write. */
export type ReadPool = Pick<Pool, 'query' | 'queryAfterProgress' | 'metrics' | 'close'>;

export class Pool extends ConnectionPool implements Sql {
  #run(connection: Connection, statement: Statement, values: readonly Value[]): Promise<Rows> {
    const { name, text } = statement;
    const running: Promise<Rows> =
      this.settings.keepsSession && name !== undefined
        ? runPrepared(connection, statement, values)
        : connection.query({ text, values: values as Value[] }).then(({ rows }) => rows);
    return within(this.statementMs, running, late);
  }

  /** Calls `begun` when the statement has a connection. */
  query(statement: Statement, values: readonly Value[], begun?: () => void): Promise<Rows> {
    return this.onConnection((connection) => {
      begun?.();
      return this.#run(connection, statement, values);
    });
  }

  /** Reads how far a standby has replayed, then runs the statement; both within `timeoutMs`. */
  queryAfterProgress(
    statement: Statement,
    values: readonly Value[],
    timeoutMs: number,
  ): Promise<{ readonly progress: Rows; readonly rows: Rows }> {
    return this.onConnection((connection) => {
      const readBoth = async () => {
        const progress = await this.#run(connection, replayed, []);
        return { progress, rows: await this.#run(connection, statement, values) };
      };
      return within(timeoutMs, readBoth(), late);
    });
  }

  /** Runs the work on one connection, and commits all of it or nothing. */
  inTransaction<Result>(
    work: (connection: Connection) => Promise<Result>,
    end: 'commit' | 'rollback' = 'commit',
  ): Promise<Result> {
    return this.onConnection(async (connection) => {
      try {
        await connection.query(begin);
        const result = await work(connection);
        await connection.query(end);
        return result;
      } catch (error) {
        // If the connection is lost, the server rolls back by itself.
        await connection.query('rollback').catch(() => this.retire(connection));
        throw error;
      }
    });
  }

  /** For statements of operators' commands, which are not prepared. */
  readonly rows: Sql['rows'] = (text, ...values) => this.query({ text }, values);

  readonly transaction: Sql['transaction'] = (steps, mode = 'keep') => {
    const work = async (connection: Connection) => {
      const running = steps();
      let step = running.next();
      while (!step.done) {
        const [text, ...values] = step.value;
        step = running.next((await connection.query(text, values)).rows);
      }
      return step.value;
    };
    return this.inTransaction(work, mode === 'keep' ? 'commit' : 'rollback');
  };
}
