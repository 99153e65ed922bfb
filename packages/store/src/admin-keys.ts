/** The part of the storage port for administrative keys, which the service only finds, and for sessions. */
import type { AdminRole } from '@partner-network/contract/permissions';
import type { AnyKey, Author, Replacement, Rotated } from './accounts.ts';

export interface AdminKey extends AnyKey {
  readonly name: string;
  readonly role: AdminRole;
}

/** What a request needs of its key. */
export interface AdminKeyOnFile {
  readonly id: string;
  readonly role: AdminRole;
  readonly expiresAt: string | undefined;
  readonly isRevoked: boolean;
}

/** Sessions of the console are in cookies. Only those that were ended early are stored. */
interface Sessions {
  /** Remembers a session until `endsAt`, when it ends by itself. Forgets those that are past their end. */
  endSession(digest: Uint8Array, endsAt: string): Promise<void>;
  isSessionEnded(digest: Uint8Array): Promise<boolean>;
}

/** As for the keys of partners: each change writes an audit entry, and access only shrinks. */
export interface AdminKeys extends Sessions {
  /** Stores the author as `created_by`. */
  createAdminKey(key: AdminKey, digest: Uint8Array, by: Author): Promise<void>;
  /** An unknown key costs as much as a known one. */
  findAdminKey(digest: Uint8Array): Promise<AdminKeyOnFile | undefined>;
  findAdminKeyById(id: string): Promise<AdminKey | undefined>;
  listAdminKeys(): Promise<readonly AdminKey[]>;
  revokeAdminKey(id: string, at: string, by: Author): Promise<boolean>;
  /** As `rotateKey`: the new key has the old key's name, role and lifetime. */
  rotateAdminKey(oldId: string, replacement: Replacement, by: Author): Promise<Rotated<AdminKey> | undefined>;
}
