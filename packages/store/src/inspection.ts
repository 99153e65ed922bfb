import type { Finding } from '@partner-network/common/finding';
import type { Store } from './port.ts';
import type { Stamp } from './sql/schema.ts';
import type { Sql } from './sql/statement.ts';

/** What `doctor` finds out when it opens a database. */
export interface Inspected {
  readonly finding: Finding;
  /** One finding for each replica. */
  readonly replicas: readonly Finding[];
  /** Files and folders on this machine whose disks must not be full. */
  readonly disks: readonly Place[];
  /** Absent if the database could not be opened. */
  readonly inspection?: Inspection;
}

export interface Place {
  readonly path: string;
  readonly holds: string;
}

/** A database that is open for reading only. Call one method at a time. */
export interface Inspection {
  readonly engine: 'sqlite' | 'postgres';
  readonly currentVersion: number;
  readonly rows: Sql['rows'];
  /** Undefined if the database is new. */
  stamp(): Promise<Stamp | undefined>;
  /** Whether this process has every privilege that the service with this role needs. */
  privileges(service?: 'network_serve' | 'network_admin'): Promise<Finding>;
  readonly tryWrite: Store['tryWrite'];
  /** The number of instances that serve this database. Only Postgres knows. */
  instances?(): Promise<number>;
  /** Whether the statements of the listings run, on all nodes of the database. */
  nodes(): Promise<Finding>;
  /** The last use of each key by key id, without keys that were never used. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}
