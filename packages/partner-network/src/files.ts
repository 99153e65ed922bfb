/** The files for operators: those of the package in its folder `share`, or the same of a checkout. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command, printReport } from '@partner-network/common/command-line/command';
import { flag } from '@partner-network/common/command-line/options';
import { type Columns, table } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { suggest } from '@partner-network/common/text';

/** By their kinds, because a checkout may have others, such as settings with passwords. */
export const patterns = [
  'deploy/Containerfile',
  'deploy/**/*.{service,socket,timer,yaml,yml,cfg,md}',
  'docs/*/operators/*.{md,cfg,yml,json,ts,py}',
  'docs/{glossary,reference/versioning}.md',
  'docs/{openapi,admin-openapi}.json',
  'CHANGELOG.md',
  'SECURITY.md',
];

/** What only the package has: the SBOM and the licenses of what is in it. */
export const built = ['partner-network.cdx.json', 'third-party-notices.txt'] as const;

const folder = new URL(import.meta.url.endsWith('.ts') ? '../../../' : '../../../../share/', import.meta.url);

interface OwnFile {
  readonly name: string;
  readonly about: string;
  readonly path: string;
}

function ownFiles(): OwnFile[] {
  const root = fileURLToPath(folder);
  return globSync([...patterns, ...built], { cwd: root })
    .toSorted()
    .map((name) => ({ name, about: aboutOf(join(root, name)), path: join(root, name) }));
}

/** The first heading or the first sentence of a comment. */
function aboutOf(path: string): string {
  const first = /^(?:#+|\/\*\*\s*\*?|"""|\/\/)\s*(\w.*?)(?:[.:](?: |$)| \*\/|$)/m;
  return first.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
}

const columns: Columns<OwnFile> = [
  ['NAME', ({ name }) => name, 'whole'],
  ['ABOUT', ({ about }) => about],
];

export const printFiles = command({
  arguments: [
    {
      name: 'NAME',
      help: 'the file to print, by the end of its name, such as haproxy.cfg',
      isOptional: true,
    },
  ],
  options: { json: flag('print one JSON document: the list, also with the path of each file') },
  conflicts: ({ json }, [name]) =>
    json && name !== undefined ? ['Leave out --json: NAME prints a file.'] : [],
  run: async ({ json }, [asked], output) => {
    const all = ownFiles();
    if (asked === undefined) return printReport({ value: all, text: table(all, columns) }, json, output);
    const found = all.filter(({ name }) => `/${name}`.endsWith(`/${asked}`));
    const [file] = found;
    if (found.length === 1) return output.write(readFileSync(file!.path, 'utf8'));
    throw new OperatorError(file === undefined ? unknown(asked, all) : severalOf(found));
  },
});

function unknown(asked: string, all: readonly OwnFile[]): string {
  const names = all.flatMap(({ name }) => [name, name.split('/').at(-1)!]);
  const meant = suggest(asked, names);
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `There is no file "${asked}".${guess} "partner-network files" lists all files.`;
}

function severalOf(found: readonly OwnFile[]): string {
  return `Several files have this name. Use one of: ${found.map(({ name }) => name).join(', ')}.`;
}
