/** The files of the repository, and the packages that `npm pack` makes of them. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
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

/** Packs a workspace, or a folder without its scripts. Returns the path of the file. */
export function pack(what: (typeof published)[number] | { readonly folder: string }, into: string): string {
  const destination = mkdtempSync(join(into, 'pack-'));
  const source = typeof what === 'string' ? ['-w', what] : [what.folder, '--ignore-scripts'];
  const words = ['pack', ...source, '--pack-destination', destination, '--loglevel=error'];
  execFileSync('npm', words, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(destination, readdirSync(destination)[0]!);
}
