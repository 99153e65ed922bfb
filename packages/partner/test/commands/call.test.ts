/** The messages of a partner's command, without a process for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxAddress } from '@partner-network/contract/operations';
import { ConnectionError, PartnerNetwork, TimeoutError } from '../../../client/src/index.ts';
import type { Command } from '../../../common/src/command-line/command.ts';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { OperatorError } from '../../../common/src/errors.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { answering, answeringEach } from '../../../testkit/service/partner.ts';
import { addressVariable, explained } from '../../src/commands/call.ts';
import { listBalances, listBrands } from '../../src/commands/lists.ts';

const key = { PARTNER_NETWORK_API_KEY: keys.acme };
const flagOf = () => undefined;
const sandbox = { url: sandboxAddress, setBy: addressVariable };

test('reports all problems at once, including the variable of the key', () => {
  const { problems } = parseLine(listBalances, ['--limit', '101', '--type', 'SAVINGS'], {
    PARTNER_NETWORK_BASE_URL: 'network.example',
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(/ (must|is) /)[0]),
    ['--customer', '--type', '--limit', 'PARTNER_NETWORK_BASE_URL', 'PARTNER_NETWORK_API_KEY'],
  );
});

test('accepts no key in a flag, and says why without repeating it', () => {
  for (const words of [['--api-key', keys.acme], [`--api-key=${keys.acme}`], ['--apikey', keys.acme]]) {
    const { problems } = parseLine(listBrands, words, key);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^Set the variable PARTNER_NETWORK_API_KEY instead of --api-?key: /);
    assert.ok(!problems[0]!.includes(keys.acme));
  }
  assert.equal(parseLine(listBrands, ['--api-key', keys.acme], {}).problems.length, 1);
  const { problems } = parseLine(listBalances, ['--customer', keys.acme, '--cursor', keys.acme], key);
  assert.deepEqual(problems, [
    '--customer must not contain an API key.',
    '--cursor must not contain an API key.',
  ]);
  const withKey = ['--curl', '--base-url', `http://here/${keys.acme}`];
  assert.deepEqual(parseLine(listBrands, withKey, {}).problems, ['--base-url must not contain an API key.']);
});

test('says that a base URL without http:// must begin with it', () => {
  const { problems } = parseLine(listBrands, ['--curl', '--base-url', '127.0.0.1:8080/network/v1'], {});
  assert.match(problems.join('\n'), /^--base-url must begin with http:\/\/ or https:\/\/,.*\.$/);
});

test('refuses a key that is not a valid header value', () => {
  for (const text of [`Bearer ${keys.acme}`, `${keys.acme}\r`, `${keys.acme}\n`, '\u201ckey\u201d']) {
    const { problems } = parseLine(listBrands, [], { PARTNER_NETWORK_API_KEY: text });
    assert.deepEqual(problems.length, 1);
    assert.match(problems[0]!, /^PARTNER_NETWORK_API_KEY must be the API key only/);
  }
});

test('needs no key for --curl, and prints no JSON with it', () => {
  assert.deepEqual(parseLine(listBrands, ['--curl'], {}).problems, []);
  assert.match(
    parseLine(listBrands, ['--curl', '--json'], key).problems[0]!,
    /^--curl and --json exclude each other/,
  );
});

test('calls a sandbox on this machine by default; flags win over variables, and errors name them', () => {
  const addressOf = (words: string[], variables: Record<string, string>) =>
    parseLine(listBrands, words, { ...key, ...variables }).values['base-url'];
  const variable = { PARTNER_NETWORK_BASE_URL: 'https://network.example/network/v1/' };
  assert.deepEqual(addressOf([], {}), sandbox);
  const ofVariable = { url: 'https://network.example/network/v1', setBy: addressVariable };
  assert.deepEqual(addressOf([], variable), ofVariable);
  const ofFlag = { url: 'http://here/v1', setBy: '--base-url' };
  assert.deepEqual(addressOf(['--base-url', 'http://here/v1'], variable), ofFlag);
});

/** An output that keeps its texts. */
function recordedOutput() {
  const answers: string[] = [];
  const remarks: string[] = [];
  const all: string[] = [];
  const keep = (texts: string[]) => (text: string) => {
    texts.push(text);
    all.push(text);
  };
  const write = async (text: string) => void keep(answers)(text);
  return { answers, remarks, all, output: { answer: keep(answers), write, remark: keep(remarks) } };
}

/** Runs a command in this process. */
async function said(command: Command, ...words: string[]) {
  const recorded = recordedOutput();
  await command.run(parseLine(command, words, key).values, [], recorded.output);
  return recorded;
}

test('--all --curl prints a line for the largest page, and how to get the next', async () => {
  const { answers, remarks } = await said(listBrands, '--all', '--curl', '--base-url', "http://here/it's");
  const bearer = '"Authorization: Bearer $PARTNER_NETWORK_API_KEY"';
  assert.deepEqual(answers, [`curl -H ${bearer} 'http://here/it'\\''s/brands?limit=100'`]);
  assert.match(remarks.join(), /^This line gets one page\. If the answer has a cursor, add &cursor=/);
});

/** The message for a call that fails at this address. */
async function saidOf(address: string, setBy = addressVariable): Promise<string> {
  const network = new PartnerNetwork({ apiKey: keys.acme, baseUrl: address, maxRetries: 0 });
  const error = await network.brands.list().then(
    () => assert.fail('it did not fail'),
    (reason) => explained(reason, { url: address, setBy }, flagOf),
  );
  assert.ok(error instanceof OperatorError);
  assert.ok(!error.message.includes(keys.acme));
  return error.message;
}

test('lists all the errors of an answer, each with its flag', async (t) => {
  const category = 'INVALID_REQUEST_ERROR';
  const errors = [
    { category, code: 'VALUE_EMPTY', detail: 'customer_id is empty.', field: 'customer_id' },
    { category, code: 'GRANT_EXPIRED', detail: 'Send the grant_id of another grant.', field: 'grant_id' },
    { category, code: 'NEW_CODE', field: 'other' },
  ];
  const address = await answering(t, 400, JSON.stringify({ errors }));
  await assert.rejects(said(listBalances, '--customer', 'alice', '--base-url', address), {
    message: [
      '--customer: --customer is empty. (VALUE_EMPTY)',
      '--grant-id: Send the --grant-id of another grant. (GRANT_EXPIRED)',
      'Refused. (NEW_CODE)',
      'The service answered 400.',
    ].join('\n'),
  });
});

test('shows a bounded number of errors, each cut and on one line', async (t) => {
  const errors = Array.from({ length: 1_000 }, () => ({ code: 'X\n', detail: `a\nb${'c'.repeat(10_000)}` }));
  const lines = (await saidOf(await answering(t, 400, JSON.stringify({ errors })))).split('\n');
  assert.deepEqual([lines.length, lines[0]!.length, lines.at(-1)], [21, 500, 'The service answered 400.']);
});

test('says that another server answered, and what to check', async (t) => {
  for (const [status, body, what] of [
    [200, '<html>', 'not JSON'],
    [200, '{}', 'status 200'],
    [200, '{"brands":[null]}', 'status 200'],
    [302, '', 'status 302'],
    [403, '<html>', 'status 403'],
  ] as const) {
    const address = await answering(t, status, body);
    assert.equal(
      await saidOf(address),
      `The answer from ${address} (${what}) is not an answer of this service.\n` +
        'Check the address in PARTNER_NETWORK_BASE_URL, and any proxy between this machine and the service.',
    );
  }
  const lost = await saidOf(await answering(t, 404, ''));
  assert.match(
    lost,
    /\nPARTNER_NETWORK_BASE_URL must be the complete base URL, which ends in \/network\/v1\.$/,
  );
});

test('says why no answer arrived, and what to do', async (t) => {
  const nobody = `127.0.0.1:${await freePort()}`;
  assert.equal(
    await saidOf(`http://${nobody}`),
    `No service listens at ${nobody}. Is it running? (ECONNREFUSED)\n` +
      'Start the service, or set PARTNER_NETWORK_BASE_URL to the address of a running service.',
  );
  assert.match(
    await saidOf('http://nobody.invalid/v1'),
    /^The host nobody\.invalid cannot be found\. \(E\w+\)\n/,
  );
  const plain = (await answering(t, 200, '{}')).replace('http:', 'https:');
  assert.match(
    await saidOf(plain),
    /^127.* does not answer with TLS\. \(\w+\)\nCheck .* must begin with http:/,
  );

  const failed = (code: string) =>
    new ConnectionError('', { cause: Object.assign(new Error('it failed'), { code }) });
  const here = { url: 'https://here/network/v1', setBy: '--base-url' };
  for (const [error, address, expected] of [
    [
      failed('DEPTH_ZERO_SELF_SIGNED_CERT'),
      here,
      /^The TLS certificate of here is not trusted\. .*\n.* NODE_EXTRA_CA_CERTS /,
    ],
    [failed('ECONNRESET'), here, /^here closed the connection .*\nRun the command again\./],
    [
      failed('ENETUNREACH'),
      here,
      /^here cannot be reached\. \(ENETUNREACH\)\nCheck the address in --base-url, /,
    ],
    [
      failed('ECONNREFUSED'),
      sandbox,
      /\nStart a sandbox with "npx partner-network sandbox", or set PARTNER_\w+ /,
    ],
    [
      new TimeoutError(''),
      here,
      /^The service at https:\/\/here\/network\/v1 did not answer in time\.\nRun the /,
    ],
  ] as const) {
    assert.match((explained(error, address, flagOf) as Error).message, expected);
  }
});

test('names the flag or the variable that set the address', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  for (const address of [nobody, await answering(t, 404, ''), await answering(t, 200, '{}')]) {
    assert.match(await saidOf(address), / PARTNER_NETWORK_BASE_URL( to|,)|\nPARTNER_NETWORK_BASE_URL must/);
    const ofFlag = await saidOf(address, '--base-url');
    assert.match(ofFlag, / --base-url( to|,)|\n--base-url must/);
    assert.doesNotMatch(ofFlag, /PARTNER_NETWORK_BASE_URL/);
  }
});

test('ends the line of an incomplete document, so that the error has its own line', async (t) => {
  let requests = 0;
  const page = '{"brands":[{"id":"b1"}],"cursor":"next"}';
  const answers = () => (++requests === 1 ? ([200, page] as const) : ([403, '{"errors":[]}'] as const));
  const address = await answeringEach(t, answers);
  const { all, output } = recordedOutput();
  const { values } = parseLine(listBrands, ['--all', '--json', '--base-url', address], key);
  await assert.rejects(listBrands.run(values, [], output), OperatorError);
  assert.match(
    all.join(''),
    /\{"id":"b1"\}\nThe output is incomplete: not all pages arrived\. Run the command again\.$/,
  );
});

test('does not change an unexpected error', () => {
  const fault = new TypeError('undefined is not a function');
  assert.equal(explained(fault, sandbox, flagOf), fault);
});
