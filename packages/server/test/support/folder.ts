import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';

export function temporaryFolder(t: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
