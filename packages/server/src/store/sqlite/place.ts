/** Where a file is or would be, and what this user may do there. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What keeps this user from seeing whether there is a file; nothing where that can be seen. */
export function barTo(path: string): string | undefined {
  const code = codeOf(() => statSync(path));
  if (code === undefined || code === 'ENOENT') return undefined;
  if (code === 'EACCES') return `this user may not look into ${nearestSeen(path)}`;
  return code === 'ENOTDIR' ? `${nearestSeen(path)} is not a folder` : `there can be none (${code})`;
}

/** The file, or the nearest of its folders that can be seen: in that one it would be made. */
export function nearestSeen(path: string): string {
  return codeOf(() => statSync(path)) === undefined ? path : nearestSeen(dirname(path));
}

/** Who writes reads, too. What is not there is not kept from anybody. */
export function mayWrite(path: string): boolean {
  const code = codeOf(() => accessSync(path, constants.R_OK | constants.W_OK));
  return code === undefined || code === 'ENOENT';
}

export function mayRead(path: string): boolean {
  return codeOf(() => accessSync(path, constants.R_OK)) === undefined;
}

/** Of the failure, when it fails. */
function codeOf(look: () => unknown): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
