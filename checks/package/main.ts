/** Packs `partner-network`, installs it as an operator does, and runs the tests that start it. */
import { spawnSync } from 'node:child_process';
import { optional } from '../../packages/common/src/command-line/options.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { packServer } from '../../packages/testkit/package/installed.ts';
import { reachedFrom, root, sources } from '../../test/sources.ts';
import { runProgram, say, wholeRun } from '../lib/program.ts';

const about = `
Packs partner-network, installs it with npm in an empty folder, without a registry, and runs the tests of the
packages that run commands: they run those of the package. A test of a module still tests the source.`;

const options = {
  tests: optional('GLOB', (text) => text, 'which test files to run, instead of all that run commands'),
};

/** The tests of the packages that import what runs commands. */
function testsOfCommands(): string[] {
  const tests = sources.filter((file) => /^packages\/[\w-]+\/test\/.*\.test\.ts$/.test(file));
  return tests.filter((file) => reachedFrom(file).has('packages/testkit/fixtures/run.ts'));
}

async function testPackage({ tests }: { readonly tests: string | undefined }): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  const tarball = packServer(folder);
  const flags = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const installedMs = performance.now();
  const install = spawnSync('npm', ['install', ...flags, tarball], { cwd: folder, stdio: 'inherit' });
  if (install.status !== 0) return false;
  say(`Installed in ${Math.round(performance.now() - installedMs)} ms.`);
  const words = ['scripts/tests.ts', ...(tests === undefined ? testsOfCommands() : [tests])];
  const env = { ...process.env, TEST_PACKAGE: folder };
  return spawnSync(process.execPath, words, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

await runProgram({ usage: 'npm run check -- package', about, options, run: testPackage });
