/** Packs `partner-network`, installs it as an operator does, and runs the tests of the sources against it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { packServer } from '../../packages/testkit/package/installed.ts';
import { runProgram, say, wholeRun, withDefault } from '../lib/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const allTests = 'packages/*/test/**/*.test.ts';

const about = `
Packs partner-network, installs it with npm in an empty folder, and runs tests against it: commands run in the
package, and tests that import a module of the sources get the same module of the package. Uses npm's registry
for what is not in npm's cache.`;

const options = {
  tests: withDefault('GLOB', (text) => text, allTests, 'which test files to run'),
};

async function testPackage({ tests }: { readonly tests: string }): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  const tarball = packServer(folder);
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const installedMs = performance.now();
  const install = spawnSync('npm', ['install', ...flags, tarball], { cwd: folder, stdio: 'inherit' });
  if (install.status !== 0) return false;
  say(`Installed in ${Math.round(performance.now() - installedMs)} ms.`);
  const env = {
    ...process.env,
    TEST_PACKAGE: folder,
    NODE_OPTIONS: `--import=${join(root, 'packages/testkit/package/replace-sources.ts')}`,
  };
  const words = ['scripts/tests.ts', tests];
  return spawnSync(process.execPath, words, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

await runProgram({ usage: 'npm run check -- package', about, options, run: testPackage });
