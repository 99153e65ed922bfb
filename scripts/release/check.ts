/** Refuses a release whose parts disagree, and runs the tests that `npm test` leaves out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { flag } from '../../packages/common/src/command-line/options.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { withoutHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { disagreements, lastRelease, versionOf } from './agreement.ts';
import { packageFaults, uncommittedFaults } from './artefacts.ts';
import { breaksBetween } from './compatibility.ts';
import { published, repository, root } from './repository.ts';

const about = `
Checks the version in package.json as a release. Run it when everything is committed. It reports all faults,
one sentence each, and ends with status 1 if there is a fault:
    1. everything is committed, the versions, the changelog, the lockfile and the OpenAPI document agree, and
       the version is not kept in test/releases/ yet,
    2. the API breaks no client of the last release,
    3. both packages pass publint and attw,
    4. the long tests pass: on the sources, the package and the image with its labels, and a rolling upgrade
       under load.
Run "npm test" as well: its tests of Postgres as the engine are not repeated here.`;

/** Tests that take minutes. */
const longRuns: readonly (readonly [check: string, ...words: string[]])[] = [
  ['long'],
  ['package'],
  ['image'],
  ['rolling', '--upgrade', '--restarts', '4', '--rate', '100', '--callers', '20'],
];

/** A test that was skipped, and why, as the test runner prints it. */
const skippedTest = /^ *﹣ (.*) \([\d.]+ms\) # (.*)$/gm;

/** Runs a check. The end of its output is shown only if it fails. Adds the tests that were skipped. */
async function runCheck([check, ...words]: (typeof longRuns)[number], skipped: string[]): Promise<string[]> {
  const child = spawn('npm', ['run', '--silent', 'check', '--', check, ...words], {
    cwd: root,
    // Its own group, so that a stop also ends what npm started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  wholeRun.after(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [status] = await once(child, 'close');
  for (const [, test, reason] of output.matchAll(skippedTest)) {
    skipped.push(`in "npm run check -- ${check}", "${test}": ${reason}`);
  }
  if (status === 0) return [];
  say(output.split('\n').slice(-60).join('\n'));
  return [`"npm run check -- ${[check, ...words].join(' ')}" failed: see its output above.`];
}

async function checkRelease({ quick }: { readonly quick: boolean }): Promise<boolean> {
  const version = versionOf(repository);
  const folder = temporaryFolder(wholeRun);
  const faults: string[] = [];
  const skipped: string[] = [];

  async function step(name: string, faultsOf: () => string[] | Promise<string[]>): Promise<void> {
    const startedMs = performance.now();
    say(`… ${name}`);
    const found = await Promise.resolve()
      .then(faultsOf)
      .catch((error: Error) => [`${name}: ${error.message.split('\n')[0]}`]);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    say(`${found.length === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
    faults.push(...found);
  }

  await step('everything is committed', uncommittedFaults);
  await step('versions, changelog, lockfile and API agree', () => disagreements(repository));
  const last = lastRelease(repository, version, 'openapi.json');
  if (last === undefined) skipped.push('the comparison of the API with the last release: this is the first');
  else for (const text of changesOfBeta(last)) say(`  Allowed, because it is beta: ${text}`);
  for (const name of published) {
    await step(`package ${name}: contents, publint, attw`, () => packageFaults(name, version, folder));
  }
  for (const run of longRuns) {
    const name = `npm run check -- ${run.join(' ')}`;
    if (quick) skipped.push(`"${name}", because of --quick`);
    else if (run[0] === 'rolling' && withoutHaproxy) skipped.push(`"${name}": ${withoutHaproxy}`);
    else await step(name, () => runCheck(run, skipped));
  }

  for (const text of skipped) say(`Skipped: ${text}.`);
  for (const fault of faults) print(fault);
  if (faults.length === 0) print(`${version} can be released. Build it with "npm run release:build".`);
  return faults.length === 0;
}

function changesOfBeta(last: string): string[] {
  const [old, next] = [`test/releases/${last}/openapi.json`, 'docs/openapi.json'].map((path) =>
    JSON.parse(repository.read(path)!),
  );
  return breaksBetween(old, next).flatMap(({ isOfBeta, text }) => (isOfBeta ? text : []));
}

await runProgram({
  usage: 'npm run release:check --',
  about,
  options: { quick: flag('leave out the tests that take minutes') },
  run: checkRelease,
});
