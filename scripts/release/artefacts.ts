/** Checks the packages that a release publishes, as they are built from this tree. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from '../../checks/lib/install-tools.ts';
import { clientFiles } from '../../packages/service/src/site/clients.ts';
import { packServer } from '../../packages/testkit/package/installed.ts';
import { type published, root } from './repository.ts';

/** Packages and the image are built from all files, also from those that no commit has. */
export function uncommittedFaults(folder = root): string[] {
  const words = ['status', '--porcelain', '--untracked-files=all'];
  const files = execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trimEnd().split('\n');
  return files.filter(Boolean).map((line) => `${line.slice(3)} is not committed: commit or remove it.`);
}

const [client] = clientFiles();

/** Packs a package and lints it. */
export async function packageFaults(
  name: (typeof published)[number],
  version: string,
  folder: string,
): Promise<string[]> {
  installTools('scripts/release/tools');
  const { checkTypes, lintPackage } = await import('./tools/package.js');
  const file = name === 'partner-network' ? packServer(folder) : join(folder, client!.name);
  if (name === '@partner-network/client') writeFileSync(file, await client!.content());
  const manifest = execFileSync('tar', ['-xOzf', file, 'package/package.json'], { encoding: 'utf8' });
  const { name: packed, version: found, exports } = JSON.parse(manifest);
  const bytes = new Uint8Array(readFileSync(file));
  const lint = await lintPackage(bytes);
  const types = await checkTypes(bytes);
  const hasTypes = Object.keys(types.files).length > 0;
  return [
    ...(packed === name && found === version
      ? []
      : [`The package ${name} says that it is ${packed} ${found}, not ${version}.`]),
    ...(exports['.'] !== undefined && !hasTypes ? [`The package ${name} has no types.`] : []),
    ...lint.map((message) => `publint on ${name}: ${JSON.stringify(message)}.`),
    ...types.problems.map((problem) => `attw on ${name}: ${JSON.stringify(problem)}.`),
  ];
}
