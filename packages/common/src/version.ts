import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  /** What an operator installs to send traces. */
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Our package.json. */
export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../partner-network/package.json', import.meta.url), 'utf8'));
}

export function ownVersion(): string {
  return ownManifest().version;
}
