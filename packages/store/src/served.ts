/** The schema versions before and after, and, on Citus, the tables that are and are not distributed. */
export interface Migration {
  readonly from: number;
  readonly to: number;
  readonly distributed?: readonly string[];
  readonly local?: readonly string[];
}

/** Whose keys: those of partners, or those of the administrative service. */
export type KeyOwner = 'partners' | 'administration';

/** What an operator must know of a database that is open. */
export interface Served {
  /** The path of the embedded database; host and name of a Postgres database. */
  readonly location: string;
  /** What opening the database did to its schema. */
  readonly migration: Migration;
  /** When the first key expires of those that work at this time. Undefined if none expires. */
  firstExpiry(of: KeyOwner, at: string): Promise<string | undefined>;
  /**
   * Adds an entry to the audit log and rolls it back: what fails this fails every change. Rejects with
   * StoreLocked if another process holds a lock, which says nothing about changes.
   */
  tryWrite(): Promise<void>;
  /** The number of other instances that serve this database. Only Postgres knows. */
  otherInstances?(): Promise<number>;
  /**
   * Reports what happened if the files of the database are replaced or removed, and undefined if they are
   * back. Only the embedded database has files, and only `serve`, `admin` and feeds watch them.
   */
  onFileFailure?(listener: (failure: string | undefined) => void): void;
}
