/** `npm run release:verify -- FILE…`: builds the files of a release again, and compares every byte. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { print, say, wholeRun } from '../../checks/lib/program.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import {
  buildPackages,
  buildRest,
  commitHere,
  commitOf,
  lackOf,
  readStatement,
  type Statement,
  statementName,
  sumsName,
} from './build.ts';

const usage = `Usage: npm run release:verify -- FILE…

Builds the files of a release again from this commit, which must be that of the release, and compares every
byte. Exits with status 1 if a file differs, or if ${sumsName} is given and another file of the release is
not. It leaves out ${sumsName}.sig: SECURITY.md has the command for a signature.`;

/** These files are built without the image. */
const isOfPackages = (path: string) => /\.(tgz|whl)$/.test(path);

/** What to do about the difference, as far as the statement says it. A changed one may say nothing. */
function remarks(statement: string, folder: string): string[] {
  try {
    const [given, own] = [statement, join(folder, statementName)].map(readStatement);
    const commit = commitOf(given!);
    // The words of a changed statement must not get into a command.
    if (!/^[0-9a-f]{40}$/.test(commit ?? '')) return [];
    if (commit !== commitHere())
      return [`Run "git checkout ${commit} && npm ci" first: they are of that commit.`];
    const ours = originsOf(own!);
    return originsOf(given!)
      .filter((origin) => !ours.includes(origin))
      .map((origin) => `They were built with ${origin}.`);
  } catch {
    return [];
  }
}

const originsOf = ({ predicate }: Statement) =>
  predicate.buildDefinition.resolvedDependencies.map((origin) => JSON.stringify(origin));

/** Prints a line for each file. Resolves to whether all are equal. */
async function verify(paths: readonly string[]): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  await buildPackages(folder);
  if (!paths.every(isOfPackages)) buildRest(folder);
  const different = paths.filter((path) => {
    const own = join(folder, basename(path));
    const state = !existsSync(own)
      ? 'IS NOT PART OF THE RELEASE'
      : readFileSync(own).equals(readFileSync(path))
        ? 'the same'
        : 'DIFFERS';
    print(`${path}: ${state}`);
    return state !== 'the same';
  });
  const given = new Set(paths.map((path) => basename(path)));
  const missing = given.has(sumsName) ? readdirSync(folder).filter((name) => !given.has(name)) : [];
  for (const name of missing) print(`${name}: MISSING`);
  const statement = paths.find((path) => path.endsWith('.intoto.json'));
  if (statement && different.length > 0) for (const text of remarks(statement, folder)) print(text);
  return different.length + missing.length === 0;
}

const paths = process.argv.slice(2).filter((path) => basename(path) !== `${sumsName}.sig`);
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile();
const missing = paths.filter((path) => !isFile(path)).map((path) => `There is no file ${path}.`);
const lack = missing.join('\n') || lackOf(!paths.every(isOfPackages));
if (paths.length === 0 || paths.includes('--help')) {
  print(usage);
  process.exitCode = paths.length === 0 ? 2 : 0;
} else if (lack) {
  say(lack);
  process.exitCode = 1;
} else {
  try {
    process.exitCode = (await verify(paths)) ? 0 : 1;
  } finally {
    await wholeRun[Symbol.asyncDispose]();
  }
}
