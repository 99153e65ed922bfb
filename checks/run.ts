/**
 * `npm run check -- NAME` and `npm run bench -- NAME`: longer runs than `npm test`. Without a name it lists
 * them. Words after the name are flags of the program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program in a folder beside this file, or a command for the shell, and a sentence about it. */
interface Run {
  readonly about: string;
  readonly command: string;
}

const program = (path: string, about: string): Run => ({ about, command: `node checks/${path}` });

const testing =
  'node --test --test-global-setup=packages/testkit/servers/global-setup.ts --test-timeout=240000';

const checks: Readonly<Record<string, Run>> = {
  audit: {
    about: 'Asks the registry for known vulnerabilities of our dependencies.',
    command:
      'npm audit --loglevel=warn --omit=dev --audit-level=low && npm audit --loglevel=warn --audit-level=high',
  },
  chaos: program('chaos/main.ts', 'Kills, freezes and disconnects parts under load; checks every response.'),
  citus: program(
    'citus/main.ts',
    'Runs the store, the listings and imports on a Citus cluster, with faults.',
  ),
  'client-runtimes': program('client-runtimes/main.ts', 'Runs the packed client in other runtimes.'),
  documents: {
    about: 'Runs every command of the pages for operators, some of them after real faults.',
    command: `${testing} "test/documents/operators/*.test.ts"`,
  },
  faults: {
    about: 'Runs all tests with faults of databases and networks.',
    command: `TEST_LONG=1 ${testing} --test-concurrency=2 "packages/service/test/faults/*.test.ts" test/balancer.test.ts`,
  },
  'faults-import': {
    about: 'Kills imports at a hundred moments, on both engines.',
    command: `KILLS=100 ${testing} packages/operator/test/ingest/killed.test.ts`,
  },
  fuzz: program('fuzz/main.ts', 'Sends random requests and bytes to both APIs.'),
  image: {
    about: 'Builds the image, reads it with other tools, and runs it. Needs root.',
    command:
      'rm -rf node_modules/.cache/image && npm run --silent image -- --output node_modules/.cache/image && ' +
      `TEST_IMAGE=node_modules/.cache/image ${testing} --test-concurrency=1 "test/image/*.test.ts"`,
  },
  long: {
    about: 'Runs all tests, also those that are too long for "npm test".',
    command: 'TEST_LONG=1 node scripts/tests.ts',
  },
  model: {
    about: 'Sends 100,000 events through feeds that fail; compares with a model.',
    command: `MODEL_EVENTS=100000 ${testing} packages/operator/test/ingest/model.test.ts`,
  },
  mutate: {
    about: 'Changes the code that keeps partners apart; fails if tests detect less than 90 %.',
    command:
      'node checks/lib/install-tools.ts checks/mutate && ' +
      'checks/mutate/node_modules/.bin/stryker run checks/mutate/stryker.config.mjs',
  },
  openapi: program(
    'openapi/main.ts',
    'Runs generators and other tools on the OpenAPI document of a sandbox.',
  ),
  package: program('package/main.ts', 'Packs and installs partner-network, and runs the tests against it.'),
  region: program('region/main.ts', 'Loses a region under load, fails over to the other, and goes back.'),
  release: {
    about: 'Builds a release twice, in two folders and on another day; signs it, and finds a changed byte.',
    command: `TEST_LONG=1 ${testing} test/release/build.test.ts`,
  },
  rolling: program('rolling/main.ts', 'Restarts two instances under load; fails if one request fails.'),
};

const benches: Readonly<Record<string, Run>> = {
  admin: program('bench/admin/main.ts', 'Batches over HTTP, compared with imports; memory, and partners.'),
  affinity: program('bench/affinity/main.ts', 'HAProxy that hashes on the key, compared with round robin.'),
  import: program('bench/import/main.ts', "Import speed, compared with each engine's own bulk load."),
  overload: program('bench/overload/main.ts', 'Responses at ten times the load.'),
  speed: program('bench/speed/main.ts', 'CPU time of a response, compared with bare HTTP; start and memory.'),
};

export const runs = { check: checks, bench: benches } as const;

function listOf(kind: keyof typeof runs): string {
  const names = Object.keys(runs[kind]);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${runs[kind][name]!.about}\n`);
  return `Usage: npm run ${kind} -- NAME [FLAGS]\n\n${lines.join('')}\nMost have --help.\n`;
}

async function main([kind = '', name = '', ...words]: readonly string[]): Promise<number> {
  if (kind !== 'check' && kind !== 'bench') throw new Error('The first word is check or bench.');
  if (name === '' || name === '--help') {
    process.stdout.write(listOf(kind));
    return 0;
  }
  if (!Object.hasOwn(runs[kind], name)) {
    process.stderr.write(`There is no ${kind} with the name ${name}.\n\n${listOf(kind)}`);
    return 2;
  }
  const { about, command } = runs[kind][name]!;
  // A program in this folder describes its flags. A test runner would run.
  if (words.includes('--help') && !command.startsWith('node checks/')) {
    process.stdout.write(`${about}\n\n    ${command}\n`);
    return 0;
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  const child = spawn('sh', ['-c', `${command} "$@"`, name, ...words], { cwd: root, stdio: 'inherit' });
  // The program cleans up after a signal, and ignores a second one: a terminal sends it to all processes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [status] = await once(child, 'exit');
  return status ?? 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
