import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { exitUsage } from '../../../common/src/command-line/command.ts';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { OperatorError } from '../../../common/src/errors.ts';
import {
  promiseNames,
  scenarioNames,
  scenarios,
  type Verdict,
} from '../../../service/src/rehearsals/scenarios.ts';
import { temporaryFolder, until } from '../../../testkit/fixtures/lifetime.ts';
import { run, start } from '../../../testkit/fixtures/run.ts';
import { rehearse } from '../../src/rehearse/rehearse.ts';

const client = pathToFileURL(join(import.meta.dirname, '../../../client/src/index.ts')).href;

/** A partner's program: a plain loop of the client. */
const loop = `import { PartnerNetwork } from '${client}';
const {
  PARTNER_NETWORK_API_KEY: apiKey, PARTNER_NETWORK_BASE_URL: baseUrl,
  PARTNER_NETWORK_CUSTOMER_ID: customer_id, PARTNER_NETWORK_GRANT_ID: grant_id,
} = process.env;
const network = new PartnerNetwork({ apiKey, baseUrl });
const list = network.balances.list({ customer_id, grant_id, type: 'CHECKING', limit: 100 });
for await (const { id } of list) if (id === undefined) throw new Error('a record without an id');
`;

/** The loop of docs/how-to/partners/pagination.md, with a timeout. It ends at the first error. */
const shellLoop = `cursor=
while
  page=$(curl -s -m 2 -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" \\
    "$PARTNER_NETWORK_BASE_URL/brands?limit=50$cursor")
  next=$(echo "$page" | sed -n 's/.*"cursor":"\\([^"]*\\)"}$/\\1/p')
  [ -n "$next" ]
do cursor="&cursor=$next"; done
echo first
echo "key $PARTNER_NETWORK_API_KEY"
exit 7`;

const needsCurl = { skip: spawnSync('curl', ['--version']).status !== 0 && 'needs curl' };
const withPath = { variables: { PATH: process.env.PATH ?? '' } };

test('exits 0 if the program keeps every promise, and prints a table', async (t) => {
  const program = join(temporaryFolder(t), 'loop.mjs');
  writeFileSync(program, loop);
  const names = ['server-error', 'grant-revoked'];
  const chosen = names.flatMap((name) => ['--scenario', name]);
  const words = ['rehearse', '--listing', 'balances', ...chosen, '--', process.execPath, program];
  const { status, stdout, stderr } = await run(words);
  assert.equal(status, 0, stdout + stderr);
  const rows = stdout.trimEnd().split('\n');
  assert.match(rows[0]!, /^SCENARIO +RESULT +REQUESTS +SECONDS$/);
  assert.deepEqual(
    rows.slice(1, -2).map((row) => row.split(/ +/).slice(0, 2)),
    names.map((name) => [name, 'passed']),
  );
  assert.equal(rows.at(-2), 'Passed: 2 of 2 scenarios.');
  assert.match(
    rows.at(-1)!,
    /^Records were not compared: write \{"records":N\} .* REHEARSAL_RESULT names\.$/,
  );
});

test('exits 1 if promises are not kept, with JSON, JUnit and the end of the output', needsCurl, async (t) => {
  const junit = join(temporaryFolder(t), 'report.xml');
  const { status, stdout, stderr } = await run(
    ['rehearse', '--json', '--verbose', '--junit', junit, '--', 'sh', '-c', shellLoop],
    withPath,
  );
  assert.equal(status, 1, stderr);
  const report = JSON.parse(stdout);
  assert.deepEqual(Object.keys(report), ['listing', 'scenarios']);
  assert.equal(report.listing, 'brands');
  const failed: string[] = [];
  for (const { scenario, passed, promises, ...others } of report.scenarios) {
    assert.deepEqual(others, {});
    assert.deepEqual(
      promises.map(({ name }: { name: string }) => name),
      promiseNames,
    );
    assert.equal(
      passed,
      !promises.some(({ verdict }: { verdict: string }) => verdict === 'broken'),
      'no promise is pending',
    );
    if (!passed) failed.push(scenario);
  }
  assert.equal(report.scenarios.length, scenarioNames.length - 1, 'grant-revoked is left out for brands');
  // It keeps its key, stops at errors and ignores new fields. It does not retry.
  const expected = 'rate-limited unavailable server-error bad-gateway torn stalled expired-cursor';
  assert.deepEqual(failed, expected.split(' '));

  const xml = readFileSync(junit, 'utf8');
  assert.match(xml, /tests="13" failures="7" skipped="0"/);
  assert.match(xml, /classname="rehearse.brands" name="steady" time="[\d.]+"\/>/);
  assert.match(xml, /name="torn" time="[\d.]+"><failure message="broken: reached-the-last-page\. /);
  assert.match(stderr, /^torn: the command exited with status 7 and printed last:\nfirst\nkey \[key\]$/m);
  assert.match(stderr, /^Failed: 7 of 13 scenarios\. .* --verbose --scenario rate-limited\.$/m);
});

/** A plain loop that counts records again after INVALID_CURSOR, and waits if the sandbox is overloaded. */
const countingLoop = `const { PARTNER_NETWORK_API_KEY: key, PARTNER_NETWORK_BASE_URL: base } = process.env;
let [records, cursor] = [0, ''];
for (;;) {
  const headers = { authorization: 'Bearer ' + key };
  const response = await fetch(base + '/brands?limit=100' + cursor, { headers });
  const seconds = response.headers.get('retry-after');
  if (seconds) { await new Promise((done) => setTimeout(done, 1_050 * seconds)); continue; }
  const page = await response.json();
  if (page.errors?.[0].code === 'INVALID_CURSOR') { cursor = ''; continue; }
  records += page.brands?.length ?? 0;
  if (page.cursor === undefined) break;
  cursor = '&cursor=' + page.cursor;
}
(await import('node:fs')).writeFileSync(process.env.REHEARSAL_RESULT, JSON.stringify({ records }));
console.log('before');
throw Object.assign(new Error('the last line'), { field: 1 });`;

test('a program that counts records again after a restarted walk breaks a promise', async () => {
  const names = ['steady', 'expired-cursor', 'key-revoked'];
  const chosen = names.flatMap((name) => ['--scenario', name]);
  const words = ['rehearse', ...chosen, '--json', '--', process.execPath, '--input-type=module', '-e'];
  const { status, stdout, stderr } = await run([...words, countingLoop]);
  assert.equal(status, 1, stderr);
  const reasons = names.map((name) => {
    const { promises } = JSON.parse(stdout).scenarios.find((one: Verdict) => one.scenario === name);
    const { verdict, reason } = promises.at(-1);
    return [name, verdict, reason];
  });
  assert.deepEqual(reasons, [
    ['steady', 'kept', 'The program counted 350 records, and the walk had 350.'],
    ['expired-cursor', 'broken', 'The program counted 550 records, and the walk had 350.'],
    ['key-revoked', 'kept', 'The program counted 100 records, and the walk had 100.'],
  ]);
  // Of the output, the line with the message. Without the stack, the fields and the version of Node.
  assert.match(
    stderr,
    /^expired-cursor: .* status 1 and printed last:\nError: the last line\nFailed: 1 of 3/m,
  );
});

/** Runs the command in this process. Resolves to what it printed, or rejects with its error. */
async function inside(words: readonly string[], remark = (_: string) => {}): Promise<string> {
  const { values, arguments: program, problems } = parseLine(rehearse, ['--scenario', 'steady', ...words]);
  if (problems.length > 0) throw new OperatorError(problems.join(' '), { exitStatus: exitUsage });
  let printed = '';
  const answer = (text: string) => {
    printed += text;
  };
  await rehearse.run(values, program, { answer, write: async (text) => answer(text), remark });
  return printed;
}

test('exits 3 if the program cannot be started or sends no request, and says what it must read', async () => {
  await assert.rejects(inside(['--', 'no-such-program']), {
    exitStatus: 3,
    message: /^Cannot start "no-such-program": spawn no-such-program ENOENT\. Check its name/,
  });
  await assert.rejects(inside(['--', import.meta.filename]), {
    exitStatus: 3,
    message: /EACCES\. Check its name, or give its path\./,
  });
  // The file of another key would be a second setting, and compiled code is kept for the command alone.
  process.env.PARTNER_NETWORK_API_KEY_FILE = 'file';
  const { NODE_COMPILE_CACHE: cache = '' } = process.env;
  process.env.NODE_COMPILE_CACHE = '/dev/null/cache';
  const names = '{ PARTNER_NETWORK_API_KEY_FILE: a, NODE_COMPILE_CACHE: b }';
  const program = `const ${names} = process.env; console.log("done", a, b)`;
  await assert.rejects(inside(['--', process.execPath, '-e', program]), {
    exitStatus: 3,
    message: [
      'No request with the key arrived at the base URL: the command exited with status 0 and printed last:',
      'done undefined undefined',
      'It must use PARTNER_NETWORK_BASE_URL, PARTNER_NETWORK_API_KEY, and add paths such as /brands to the whole base URL.',
    ].join('\n'),
  });
  delete process.env.PARTNER_NETWORK_API_KEY_FILE;
  process.env.NODE_COMPILE_CACHE = cache;
});

test('on a terminal it says how each scenario ended, as soon as it ends', async (t) => {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  t.after(() => {
    process.stderr.isTTY = isTTY;
  });
  const said: string[] = [];
  const program = `const { PARTNER_NETWORK_API_KEY: key, PARTNER_NETWORK_BASE_URL: base } = process.env;
    await fetch(base + '/brands', { headers: { authorization: 'Bearer ' + key } });`;
  const words = ['--', process.execPath, '--input-type=module', '-e', program];
  await assert.rejects(
    inside(words, (text) => said.push(text)),
    { message: /^Failed: 1 of 1 scenarios\./ },
  );
  assert.equal(said[0], 'steady: failed.');
});

for (const [words, message] of [
  [['--scenario', 'rate-limit', '--', 'true'], /--scenario must be one of .*\. Did you mean rate-limited\?/],
  [['--scenario', 'grant-revoked', '--', 'true'], /--scenario grant-revoked needs --listing balances\./],
  [['--timeout', '0', '--', 'true'], /--timeout must be a whole number from 1 to 3600\./],
  [['node', 'loop.js'], /Unexpected argument "node"\. Put -- before the command to run\./],
  [['--'], /COMMAND is missing after --\./],
  [['--json'], /--json and --junit need a command after --\./],
  [['--junit', '/nowhere/report.xml', '--', 'true'], /Cannot write the report: ENOENT/],
] as const) {
  test(`exits 2 for bad usage, and says what was meant: ${words.join(' ')}`, async () => {
    await assert.rejects(inside(words), { exitStatus: 2, message });
  });
}

test('--list prints every scenario, also as JSON', async () => {
  const all = ['--listing', 'balances', ...scenarioNames.flatMap((name) => ['--scenario', name])];
  assert.deepEqual(JSON.parse(await inside(['--list', '--json', ...all])), {
    scenarios: scenarioNames.map((name) => ({ name, ...scenarios[name] })),
  });
  const rows = (await inside(['--list', ...all])).trimEnd().split('\n').slice(1);
  assert.deepEqual(
    rows.map((row) => row.split(' ')[0]),
    scenarioNames,
  );
});

/** A program that sends a request, starts another one, and does not end. */
const endless = `fetch(process.env.PARTNER_NETWORK_BASE_URL + '/brands', {
  headers: { authorization: 'Bearer ' + process.env.PARTNER_NETWORK_API_KEY } });
const { spawn } = await import('node:child_process');
const { pid } = spawn('sleep', ['600']);
await import('node:fs').then(({ writeFileSync }) => writeFileSync(process.env.PIDS, process.pid + ' ' + pid));
setInterval(() => {}, 1000);`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that ended and was not waited for still has its number.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const leftFolders = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('partner-'));

/** Rehearses the endless program until it has started the other one. */
async function startEndless(t: TestContext, ...flags: string[]) {
  const folder = temporaryFolder(t);
  const pids = join(folder, 'pids');
  const words = ['rehearse', '--scenario', 'steady', ...flags, '--', process.execPath];
  const command = start(t, [...words, '--input-type=module', '-e', endless], {
    variables: { ...withPath.variables, PIDS: pids, TMPDIR: folder },
  });
  await until(20_000, () => existsSync(pids) && readFileSync(pids, 'utf8').includes(' '));
  const started = readFileSync(pids, 'utf8').split(' ').map(Number);
  return { command, folder, started };
}

test('kills the program with what it started when --timeout is over', async (t) => {
  const { command, folder, started } = await startEndless(t, '--timeout', '4');
  assert.equal(await command.ended, 1);
  const { stdout, stderr } = command.texts();
  assert.match(stdout, /^steady +failed +1 /m);
  assert.match(stderr, /^steady: the command was killed because of --timeout and printed nothing\.$/m);
  assert.deepEqual(started.map(isRunning), [false, false]);
  assert.deepEqual(leftFolders(folder), []);
});

test('Ctrl-C kills the program and removes the sandbox', async (t) => {
  const { command, folder, started } = await startEndless(t);
  assert.deepEqual(started.map(isRunning), [true, true]);
  command.signal('SIGINT');
  assert.equal(await command.ended, 130);
  await until(20_000, () => !started.some(isRunning));
  assert.deepEqual(leftFolders(folder), []);
});

test('without a command it prints base URLs and variables that work, until Ctrl-C', async (t) => {
  const folder = temporaryFolder(t);
  const command = start(t, ['rehearse', '--listing', 'balances'], { variables: { TMPDIR: folder } });
  const [text] = await command.says('stdout', /^[\s\S]*Press Ctrl-C to stop\./);
  for (const name of scenarioNames)
    assert.match(text, new RegExp(`^${name} +http://\\S+/rehearsals/${name}/`, 'm'));
  for (const name of ['API_KEY', 'CUSTOMER_ID', 'GRANT_ID'])
    assert.match(text, new RegExp(`^PARTNER_NETWORK_${name}=\\S+$`, 'm'));
  const [, key] = /^PARTNER_NETWORK_API_KEY=(\S+)$/m.exec(text) ?? [];
  const answerTo = async (url = '') =>
    JSON.parse(await (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).text());
  const [, baseUrl] = /^rate-limited +(\S+)$/m.exec(text) ?? [];
  const query = '?customer_id=CUSTOMER_REHEARSAL&type=CHECKING';
  assert.equal((await answerTo(`${baseUrl}/balances${query}`)).balances.length, 50);
  const verdict = await answerTo(/ at (http:\S+), with the key\.$/m.exec(text)?.[1]);
  assert.deepEqual([verdict.scenario, verdict.run], ['redirect', 'default']);
  command.signal('SIGINT');
  assert.equal(await command.ended, 0);
  assert.deepEqual(leftFolders(folder), []);
});
