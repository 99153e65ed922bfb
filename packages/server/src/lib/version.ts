import { readFileSync } from 'node:fs';

/** Which version this is, as its package says. */
export function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
