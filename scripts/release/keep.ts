/** Keeps in test/releases/ what later versions are tested against. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { pack, packServer, unpack } from '../../packages/testkit/package/installed.ts';
import { placePackage } from '../../packages/testkit/releases/releases.ts';
import { migrationDigests, versionOf } from './agreement.ts';
import { keepDatabases } from './databases.ts';
import { repository, root } from './repository.ts';

const about = `
Writes test/releases/VERSION for the version in package.json: the OpenAPI document, the SHA-256 of each
migration, the package without the library of the page at /docs, and databases that the package makes on
both engines. Databases contain random keys and times, so they are kept if they exist and the migrations
are the same. Delete the folder to make everything again.`;

const library = 'dist/packages/service/assets/reference/library.js.br';

/** Packs the service without the library, which is 0.9 of 1.2 MB and which no later version runs. */
export function packWithoutLibrary(into: string): string {
  const folder = unpack(packServer(into), join(into, 'package'));
  rmSync(join(folder, library));
  return pack(into, folder, '--ignore-scripts');
}

async function keep(): Promise<boolean> {
  const version = versionOf(repository);
  const tags = spawnSync('git', ['tag', '--list', `v${version}`], { cwd: root, encoding: 'utf8' });
  if (tags.stdout.trim() !== '') {
    say(`${version} is released: the tag v${version} exists. Raise the version first.`);
    return false;
  }
  const folder = join(root, 'test/releases', version);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, 'docs/openapi.json'), join(folder, 'openapi.json'));

  say('Packing the service.');
  const packed = packWithoutLibrary(temporaryFolder(wholeRun));
  copyFileSync(packed, join(folder, `partner-network-${version}.tgz`));

  const [digests, file] = [
    `${JSON.stringify(migrationDigests(repository), null, 2)}\n`,
    join(folder, 'migrations.json'),
  ];
  const names = ['sqlite.db', 'sqlite.db-receipts', 'postgres.sql'].map((name) => join(folder, `${name}.gz`));
  const isSame = existsSync(file) && readFileSync(file, 'utf8') === digests;
  if (isSame && names.every((name) => existsSync(name))) {
    say('The migrations are the same: the databases are kept.');
  } else {
    say('Making the databases, with the package: about 20 seconds.');
    await keepDatabases(placePackage(wholeRun, packed), folder);
    writeFileSync(file, digests);
  }
  print(`test/releases/${version} is complete. Commit it, and run "npm run release:check".`);
  return true;
}

if (import.meta.main) await runProgram({ usage: 'npm run release:keep --', about, options: {}, run: keep });
