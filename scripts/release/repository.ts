/** The files of the repository. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Files {
  /** The paths that match a pattern, in order. */
  list(pattern: string): readonly string[];
  /** The content of a file, or undefined if it does not exist. */
  read(path: string): string | undefined;
}

export const repository: Files = {
  list: (pattern) => globSync(pattern, { cwd: root }).toSorted(),
  read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined),
};

export const published = ['partner-network', '@partner-network/client'] as const;
