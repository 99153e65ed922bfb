/** Keeps in test/releases/ what later versions are tested against. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { placePackage } from '../../packages/testkit/releases/releases.ts';
import { keptFaults, migrationDigests, numberFaults, versionOf } from './agreement.ts';
import { commitHere, releaseFaults, statementName, sumsName } from './build.ts';
import { repository, root } from './repository.ts';

const about = `
Writes test/releases/VERSION for the version in package.json, after "npm run release:build": the OpenAPI
document, the SHA-256 of each migration, the package, the commit and sums of all files that were built, and
databases that the package makes on both engines. It never changes a version that is kept.`;

async function keep(): Promise<boolean> {
  const version = versionOf(repository);
  const built = join(root, 'release');
  const [problem] = [
    ...numberFaults(version),
    ...keptFaults(repository, version),
    ...releaseFaults(built, commitHere()),
  ];
  if (problem !== undefined) {
    say(problem);
    return false;
  }
  const folder = join(root, 'test/releases', version);
  mkdirSync(folder);
  copyFileSync(join(root, 'docs/openapi.json'), join(folder, 'openapi.json'));
  writeFileSync(
    join(folder, 'migrations.json'),
    `${JSON.stringify(migrationDigests(repository), null, 2)}\n`,
  );
  const packed = `partner-network-${version}.tgz`;
  for (const name of [packed, statementName, sumsName]) copyFileSync(join(built, name), join(folder, name));
  say('Making the databases, with the package: about 20 seconds.');
  // Not for --help: it starts servers as tests do, and Node would print a summary of tests.
  const { keepDatabases } = await import('./databases.ts');
  await keepDatabases(placePackage(wholeRun, join(folder, packed)), folder);
  print(`test/releases/${version} is complete. Commit it.`);
  return true;
}

await runProgram({ usage: 'npm run release:keep --', about, options: {}, run: keep });
