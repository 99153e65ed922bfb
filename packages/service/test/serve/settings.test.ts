import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Command } from '../../../common/src/command-line/command.ts';
import { httpUrl, Problem } from '../../../common/src/command-line/options.ts';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { doctor } from '../../../operator/src/commands/doctor.ts';
import { sandbox } from '../../../operator/src/commands/sandbox.ts';
import { serve } from '../../../operator/src/commands/serve.ts';
import { listBrands } from '../../../partner/src/commands/lists.ts';
import { describedCommands } from '../../../partner-network/src/main.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, commandLine, run } from '../../../testkit/fixtures/run.ts';

/** The sentences of a usage error, without the line that points to the help. */
function sentencesOf(stderr: string): string[] {
  return stderr.trimEnd().split('\n').slice(0, -1);
}

test('reports every bad flag, argument and variable at once, and touches nothing', async (t) => {
  const folder = temporaryFolder(t);
  const words = 'keys create stray --scope BRANDS_WRITE --expires-at tomorrow --colour red'.split(' ');
  const variables = { ENVIRONMENT: 'moon', DATABASE_URL: 'mysql://x' };
  const finished = await run([...words, '--json=yes', '--name', ''], { variables, folder });
  assertFailed(finished, 2);
  const sentences = sentencesOf(finished.stderr);
  const patterns = [
    ...[/--colour/, /--json takes no value/, /--partner is required/, /--scope must be/, /--name must have/],
    ...[/--expires-at must be/, /ENVIRONMENT must be one of production, sandbox/, /DATABASE_URL must be/],
    /argument "(stray|red)"/,
  ];
  for (const pattern of patterns) {
    assert.ok(
      sentences.some((sentence) => pattern.test(sentence)),
      `${pattern} is not in:\n${finished.stderr}`,
    );
  }
  for (const sentence of sentences) assert.match(sentence, /^\S.*\.$/);
  assert.ok(!existsSync(join(folder, 'data')));
});

const serveFlags = [
  ['port', 'PORT', ['70000', '-1', '8080.5', 'http', '']],
  ['ops-port', 'OPS_PORT', ['65536', 'x']],
  ['drain-delay', 'DRAIN_DELAY', ['-1', '1.5', '5s', '3601']],
  ['brands-rate', 'BRANDS_RATE', ['-1', '0.5', 'fast']],
  ['balances-rate', 'BALANCES_RATE', ['-1', '1e3']],
  ['log-level', 'LOG_LEVEL', ['loud', 'INFO']],
  ['public-url', 'PUBLIC_URL', ['example.com', 'https://x/y', 'https://u:p@x']],
  ['environment', 'ENVIRONMENT', ['staging', 'Production']],
  ['redis', 'REDIS_URL', ['localhost:6379', 'http://x', 'redis://x/y']],
  [
    'database',
    'DATABASE_URL',
    ['data.db', 'sqlite:', 'mysql://x', 'postgres://h/n?sslMode=verify-full', 'postgres://u:%ff@h/n'],
  ],
  ['replica', 'DATABASE_REPLICA_URLS', ['sqlite:x', 'postgres://x,mysql://x', ',']],
  ['connections', 'DATABASE_CONNECTIONS', ['0', '1001', 'many']],
  ['prepared-statements', 'PREPARED_STATEMENTS', ['true', 'ON', '1']],
] as const;

const problemsOf = (words: readonly string[], variables = {}) => parseLine(serve, words, variables).problems;

/** Asserts one problem for each pattern, in any order. */
function assertProblems(problems: readonly string[], ...patterns: RegExp[]): void {
  assert.equal(problems.length, patterns.length, problems.join('\n'));
  for (const pattern of patterns) assert.match(problems.join('\n'), pattern);
}

test('refuses each bad setting of serve by flag and by variable, all at once', () => {
  for (const index of [0, 1, 2]) {
    const given = serveFlags.map(
      ([flag, variable, values]) => [flag, variable, values[index] ?? values[0]] as const,
    );
    const flags = given.map(([flag, , value]) => `--${flag}=${value}`);
    assertProblems(problemsOf(flags), ...given.map(([flag]) => new RegExp(`^--${flag} must be`, 'm')));
    const variables = Object.fromEntries(given.map(([, variable, value]) => [variable, value]));
    const patterns = given.map(([, variable]) => new RegExp(`^${variable} (must be|is set but)`, 'm'));
    assertProblems(problemsOf([], variables), ...patterns);
  }
});

test('refuses the same port for clients and operators', () => {
  for (const more of [[], ['--host', '0.0.0.0'], ['--ops-host', '::']]) {
    assertProblems(problemsOf(['--port', '9090', ...more]), /^--port and --ops-port are both 9090\. /);
  }
  // Each interface has its own port 9090, and 0 means any free port.
  assertProblems(problemsOf(['--port', '9090', '--ops-host', '127.0.0.2']));
  assertProblems(problemsOf(['--port', '0', '--ops-port', '0']));
});

test('accepts an ordinary public address unchanged, and encodes or refuses unsafe characters', () => {
  const urls = "https://x.example http://10.0.0.1:8080/pay/v2 http://[::1]:8080 http://x/it's";
  for (const url of urls.split(' ')) {
    assert.equal(httpUrl(url), url);
    assert.equal(httpUrl(`${url}/`), url);
  }
  assert.equal(httpUrl('https://x.example/"><script>`'), 'https://x.example/%22%3E%3Cscript%3E%60');
  for (const url of ['https://x.example/{host}', 'https://{x}', `https://x.example/${keys.acme}`]) {
    assert.ok(httpUrl(url) instanceof Problem, url);
  }
});

test('does not repeat a Redis address that it refuses, which may contain a password', () => {
  const url = 'redis://user:p#secret@localhost:6379';
  const problems = problemsOf(['--redis', url], { BRANDS_RATE: 'x' });
  assertProblems(problems, /^--redis must be redis:\/\/HOST:PORT .*\.$/m, /^BRANDS_RATE must be/m);
  assert.doesNotMatch(problems.join(), /secret|user:p/);
  assert.match(parseLine(sandbox, ['--redis', url]).problems[0]!, /no flag --redis/);
});

test('refuses workers and replicas of the embedded database, and more than 16 replicas', () => {
  const replicas = Array.from({ length: 17 }, (_, index) => `postgres://replica-${index}.invalid/x`);
  const [replica] = replicas;
  const embedded = ['--database', 'sqlite:x'];
  const byVariable = (urls: string[]) => ({ DATABASE_REPLICA_URLS: urls.join() });
  assertProblems(problemsOf([...embedded, '--replica', replica!]), /^--replica needs a Postgres database\. /);
  assertProblems(problemsOf(embedded, byVariable([replica!])), /^--replica needs a Postgres database\. /);
  const workers = /^--workers needs a Postgres database\. .* one thread: about 3,000 requests per second/;
  assertProblems(problemsOf([...embedded, '--workers', '2']), workers);
  const tooMany = /^(--replica|DATABASE_REPLICA_URLS) may be given at most 16 times\./;
  assertProblems(problemsOf(replicas.flatMap((url) => ['--replica', url])), tooMany);
  assertProblems(problemsOf([], byVariable(replicas)), tooMany);
});

/** Addresses whose password could be misread as a host. */
const ambiguous = 'u:s3cret/12@h/n u:12/s3cret@h/n u:p@s3cret@h/n u:p@s3cret,x@h/n u:1?s3cret@h'.split(' ');

test('refuses a Postgres address whose password is not encoded, and does not repeat it', () => {
  for (const address of ambiguous) {
    const url = `postgres://${address}`;
    const problems = problemsOf(['--database', url, '--replica', url]);
    assertProblems(problems, /^--database must be .*%40 for @/m, /^--replica must be .*%40 for @/m);
    assert.doesNotMatch(problems.join(), /s3cret/);
  }
});

test('refuses a flag given twice or without a value, and a missing or an extra argument', async (t) => {
  const line = commandLine(t);
  for (const [words, sentence] of [
    ['partners create --name A --name B', /--name is given twice: /],
    ['partners create --name --json', /--name needs a value\./],
    ['keys revoke', /KEY_ID is missing\./],
    ['keys revoke a b', /"b"/],
    ['import balances', /FILE is missing\./],
  ] as const) {
    assertFailed(await line.run(words.split(' ')), 2, sentence);
  }
  assert.ok(!existsSync(line.databasePath));
});

test('takes a setting from its variable, and from its flag when both are given', async (t) => {
  const folder = temporaryFolder(t);
  const urls = ['by-variable.db', 'by-flag.db'].map((name) => `sqlite:${join(folder, name)}`);
  const variables = { DATABASE_URL: urls[0]!, ENVIRONMENT: 'sandbox' };
  const byVariable = await run(['migrate', '--json'], { variables });
  assert.equal(JSON.parse(byVariable.stdout).environment, 'sandbox');
  assert.deepEqual(
    [existsSync(join(folder, 'by-variable.db')), existsSync(join(folder, 'by-flag.db'))],
    [true, false],
  );
  const flags = ['--database', urls[1]!, '--environment', 'production'];
  const byFlag = await run(['migrate', '--json', ...flags], { variables });
  assert.deepEqual(JSON.parse(byFlag.stdout), {
    environment: 'production',
    from: 0,
    to: JSON.parse(byVariable.stdout).to,
  });
  assert.ok(existsSync(join(folder, 'by-flag.db')));
});

test('a good flag overrides a bad or an empty variable', () => {
  const variables = { ENVIRONMENT: '', DATABASE_URL: 'mysql://x' };
  const flags = ['--environment', 'sandbox', '--database', 'sqlite:x'];
  assert.deepEqual(problemsOf(flags, variables), []);
});

test('each variable that is set but empty is an error, except those of OpenTelemetry', () => {
  for (const { options } of [serve, doctor, sandbox, listBrands] as Command[]) {
    const variables = Object.values(options).flatMap(({ variable }) => variable ?? []);
    const empty = Object.fromEntries(variables.map((variable) => [variable, '']));
    const expected = variables
      .filter((variable) => !variable.startsWith('OTEL_'))
      .map((variable) => `${variable} is set but empty. Set it to a value, or unset it.`);
    assert.ok(expected.length > 0);
    assert.deepEqual(parseLine({ options }, [], empty).problems, expected);
  }
});

test('a secret can be in a file, whose content and path are never printed', (t) => {
  const path = join(temporaryFolder(t), 'secret');
  const read = (content: string, more: Record<string, string> = {}, words: string[] = []) => {
    writeFileSync(path, content);
    return parseLine(serve, words, { DATABASE_URL_FILE: path, ...more });
  };
  for (const end of ['', '\n', '\r\n'])
    assert.deepEqual(read(`sqlite:x${end}`).values.database, { engine: 'sqlite', path: 'x' });
  assert.deepEqual(read('mysql://x', {}, ['--database', 'sqlite:y']).problems, []);

  const problems = {
    '': 'The file in DATABASE_URL_FILE is empty.',
    '\n': 'The file in DATABASE_URL_FILE is empty.',
    'sqlite:x\n\n': 'The file in DATABASE_URL_FILE must contain one line of text.',
    'sqlite:x\0': 'The file in DATABASE_URL_FILE must contain one line of text.',
  };
  for (const [content, problem] of Object.entries(problems))
    assert.deepEqual(read(content).problems, [problem], content);
  const [wrong = ''] = read('s3cret').problems;
  assert.match(wrong, /^The content of the file in DATABASE_URL_FILE must be sqlite:PATH or /);
  assert.doesNotMatch(wrong, /s3cret/);
  for (const DATABASE_URL of ['sqlite:y', ''])
    assert.deepEqual(read('sqlite:x', { DATABASE_URL }).problems, [
      'DATABASE_URL and DATABASE_URL_FILE are both set. Unset one of them.',
    ]);
  for (const [wrongPath, code] of [
    [join(path, 's3cret'), 'ENOTDIR'],
    [`${path}-s3cret`, 'ENOENT'],
    [dirname(path), 'EISDIR'],
  ])
    assert.deepEqual(read('x', { DATABASE_URL_FILE: wrongPath! }).problems, [
      `The file in DATABASE_URL_FILE cannot be read (${code}).`,
    ]);
  assert.deepEqual(read('x', { DATABASE_URL_FILE: '' }).problems, [
    'DATABASE_URL_FILE is set but empty. Set it to a value, or unset it.',
  ]);
});

test('every command takes its secrets from files', async () => {
  const secrets =
    /^(DATABASE_URL|DATABASE_REPLICA_URLS|REDIS_URL|PARTNER_NETWORK_API_KEY|ADMIN_OIDC_CLIENT_SECRET)$/;
  const commands = (await describedCommands()).flatMap((group) => group.commands);
  for (const { name, command, help } of commands) {
    for (const { variable = '', hasFile = false } of Object.values(command.options)) {
      assert.equal(hasFile, secrets.test(variable), `${name}: ${variable}`);
      if (hasFile) assert.match(help, new RegExp(`[[ ]${variable}_FILE\\]`), name);
    }
  }
});

test('a public address is an origin, and a slash at its end is removed', () => {
  const read = (text: string) => parseLine(serve, ['--public-url', text]);
  const faults = ['ftp://x', 'https://x?y=1', 'https://x?', 'https://x/?', 'https://x#y', 'https://x/y'];
  for (const text of faults) assert.match(read(text).problems[0]!, /^--public-url must be an origin, /, text);
  for (const text of ['https://x.example', 'https://x.example/']) {
    const { values, problems } = read(text);
    assert.deepEqual([problems, values['public-url']], [[], 'https://x.example']);
  }
});

test('without --database, each environment has its own file', async (t) => {
  const folder = temporaryFolder(t);
  for (const environment of ['production', 'sandbox']) {
    const flags = environment === 'production' ? [] : ['--environment', environment];
    const { status, stderr } = await run(['migrate', ...flags], { folder });
    assert.equal(status, 0, stderr);
    assert.ok(existsSync(join(folder, 'data', `${environment}.db`)));
  }
});

test('an unknown flag is reported once, without its value', async () => {
  const meant = await run('partners create --nme x --name y --database sqlite:/nowhere/x'.split(' '));
  assert.equal(meant.status, 2);
  assert.match(meant.stderr, /^There is no flag --nme\. Did you mean --name\?\n".*lists its flags\.\n$/);
  const counted = await run(['import', 'grants', '--fast', 'file.jsonl', 'another']);
  assert.equal(counted.status, 2);
  assert.match(counted.stderr, /^There is no flag --fast\.\nUnexpected argument "another"\. .*\n".*\n$/);
});
