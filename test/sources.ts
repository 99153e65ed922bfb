import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Every file of the repository that git does not ignore, committed or not. */
export const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

export const sources = files.filter((file) => /\.(ts|js|py|sql|lua)$/.test(file));

export const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** A document without its code blocks. */
export const proseOf = (file: string) => read(file).replaceAll(/^ *```.*?^ *```$/gms, '');

/** The pages of docs/ for a reader: tutorials, how-to guides, reference and explanation. */
export function pagesFor(reader: 'partners' | 'operators'): string[] {
  return files.filter(
    (file) => file.startsWith('docs/') && file.split('/')[2] === reader && file.endsWith('.md'),
  );
}

/** The page for a reader with this name. */
export function pageFor(reader: 'partners' | 'operators', name: string): string {
  const page = pagesFor(reader).find((file) => file.endsWith(`/${name}.md`));
  if (page === undefined) throw new Error(`There is no page ${name} for ${reader}.`);
  return page;
}

/** What a file imports: a path from the repository's root for our own file, else the package's name. */
export const importsOf = (file: string) => importsIn(file, read(file));

function importsIn(file: string, text: string): string[] {
  // Examples in doc comments import nothing.
  const code = text.replaceAll(/^ *\* .*$/gm, '');
  return [...code.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^'\s]+)'/g)].map(([, imported = '']) =>
    imported.startsWith('.') ? join(dirname(file), imported) : imported,
  );
}

/** The file that an import by name stands for. */
export const pathOf = (imported: string) =>
  imported
    .replace(/^@partner-network\/client$/, '$&/index')
    .replace(/^@partner-network\/([^/]+)\/(.*)$/, 'packages/$1/src/$2.ts');

/** Everything that a file imports, directly or not: our files, and names of packages. */
export function reachedFrom(start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    if (!/^[^:]*\.[jt]s$/.test(file) || !existsSync(join(root, file))) continue;
    const values = read(file).replaceAll(/^(import|export) type [^;]*;/gm, '');
    for (const imported of importsIn(file, values)) reached.add(pathOf(imported));
  }
  return reached;
}

/** A test is fast if nothing that it imports, directly or not, can start a process or a browser. */
export function isFast(test: string): boolean {
  return ![...reachedFrom(test)].some((file) =>
    /^(node:(child_process|cluster)|playwright-core)$/.test(file),
  );
}
