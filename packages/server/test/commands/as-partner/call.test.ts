/** What a partner's command says, without a process for each sentence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartnerNetwork } from '@partner-network/client';
import { sandboxAddress } from '@partner-network/contract/operations';
import { keys } from '../../../../testkit/fixtures/fixture.ts';
import { answering, answeringEach } from '../../../../testkit/fixtures/partner.ts';
import { freePort } from '../../../../testkit/servers/free-port.ts';
import { commandLineBounds } from '../../../src/bounds/command-line.ts';
import type { Command } from '../../../src/command-line/command.ts';
import { parseLine } from '../../../src/command-line/parse.ts';
import { listBalances } from '../../../src/commands/as-partner/balances-list.ts';
import { listBrands } from '../../../src/commands/as-partner/brands-list.ts';
import { explained } from '../../../src/commands/as-partner/errors.ts';
import { createWaitingRemark } from '../../../src/commands/as-partner/listing.ts';
import { type Address, addressVariable } from '../../../src/commands/as-partner/settings.ts';
import { OperatorError } from '../../../src/lib/operator-error.ts';

const key = { PARTNER_NETWORK_API_KEY: keys.acme };
const flagOf = () => undefined;
const sandbox = { url: sandboxAddress, setBy: addressVariable };

test('says all that is wrong at once, the variable of the key included', () => {
  const { problems } = parseLine(listBalances, ['--limit', '101', '--type', 'SAVINGS'], {
    PARTNER_NETWORK_BASE_URL: 'network.example',
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(/ (must|is) /)[0]),
    ['--customer', '--type', '--limit', 'PARTNER_NETWORK_BASE_URL', 'PARTNER_NETWORK_API_KEY'],
  );
});

test('takes no key as a flag, whatever its form, and says why without repeating it', () => {
  for (const words of [['--api-key', keys.acme], [`--api-key=${keys.acme}`], ['--apikey', keys.acme]]) {
    const { problems } = parseLine(listBrands, words, key);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^Set PARTNER_NETWORK_API_KEY instead of --api-?key: /);
    assert.ok(!problems[0]!.includes(keys.acme));
  }
  assert.equal(parseLine(listBrands, ['--api-key', keys.acme], {}).problems.length, 1);
  const { problems } = parseLine(listBalances, ['--customer', keys.acme, '--cursor', keys.acme], key);
  assert.deepEqual(problems, ['--customer must not hold an API key.', '--cursor must not hold an API key.']);
});

test('takes no key with something around it, which no header could hold', () => {
  for (const text of [`Bearer ${keys.acme}`, `${keys.acme}\r`, `${keys.acme}\n`, '\u201ckey\u201d']) {
    const { problems } = parseLine(listBrands, [], { PARTNER_NETWORK_API_KEY: text });
    assert.deepEqual(problems.length, 1);
    assert.match(problems[0]!, /^PARTNER_NETWORK_API_KEY must be the API key alone/);
  }
});

test('needs no key for --curl, and prints no JSON with it', () => {
  assert.deepEqual(parseLine(listBrands, ['--curl'], {}).problems, []);
  assert.match(
    parseLine(listBrands, ['--curl', '--json'], key).problems[0]!,
    /^--curl .* leave one of them out/,
  );
});

test('asks a sandbox on this machine unless it is told otherwise, flags before variables', () => {
  const addressOf = (words: string[], variables: Record<string, string>) =>
    (parseLine(listBrands, words, { ...key, ...variables }).values['base-url'] as Address).url;
  const variable = { PARTNER_NETWORK_BASE_URL: 'https://network.example/network/v1/' };
  assert.equal(addressOf([], {}), sandboxAddress);
  assert.equal(addressOf([], variable), 'https://network.example/network/v1');
  assert.equal(addressOf(['--base-url', 'http://here/v1'], variable), 'http://here/v1');
});

/** An output that keeps what is said, and a command that is run in this process. */
async function said(command: Command, ...words: string[]): Promise<{ answers: string[]; remarks: string[] }> {
  const [answers, remarks]: string[][] = [[], []];
  const output = {
    answer: (text: string) => answers!.push(text),
    write: async (text: string) => void answers!.push(text),
    remark: (text: string) => remarks!.push(text),
  };
  await command.run(parseLine(command, words, key).values, [], output);
  return { answers: answers!, remarks: remarks! };
}

test('--curl of all is a line for the largest page, and a remark on how to go on', async () => {
  const { answers, remarks } = await said(listBrands, '--all', '--curl', '--base-url', "http://here/it's");
  const bearer = '"Authorization: Bearer $PARTNER_NETWORK_API_KEY"';
  assert.deepEqual(answers, [`curl -H ${bearer} 'http://here/it'\\''s/brands?limit=100'`]);
  assert.match(remarks.join(), /^That is one page\. While an answer has a cursor, add &cursor=/);
});

/** What is said of a call that fails there. */
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
    { category, code: 'NEW_CODE', field: 'other' },
  ];
  const address = await answering(t, 400, JSON.stringify({ errors }));
  await assert.rejects(said(listBalances, '--customer', 'alice', '--base-url', address), {
    message: '--customer: --customer is empty. (VALUE_EMPTY)\nRefused. (NEW_CODE)\nThe service answered 400.',
  });
});

test('says what to do where it was not the service that answered, or nobody', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const check = "Check that this is the service's address: PARTNER_NETWORK_BASE_URL sets it.";
  assert.match(await saidOf(nobody), /ECONNREFUSED/);
  assert.ok((await saidOf(nobody)).endsWith(`\n${check}`));
  const page = await saidOf(await answering(t, 200, '<html>'));
  assert.match(page, /JSON/);
  assert.ok(page.endsWith(`\n${check}`));
  for (const [status, body] of [
    [200, '{}'],
    [200, '{"brands":[null]}'],
    [302, ''],
    [403, '<html>'],
  ] as const) {
    assert.equal(
      await saidOf(await answering(t, status, body)),
      `The answer, of status ${status}, is not one that the service gives: ` +
        'check PARTNER_NETWORK_BASE_URL and what is on the way to it.',
    );
  }
  const lost = await saidOf(await answering(t, 404, ''));
  assert.match(lost, /\nPARTNER_NETWORK_BASE_URL must be .*\/network\/v1 at its end\.$/);
});

test('blames what the address was given by, the flag or the variable', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  for (const address of [nobody, await answering(t, 404, ''), await answering(t, 200, '{}')]) {
    assert.match(await saidOf(address), /PARTNER_NETWORK_BASE_URL (sets|must|and)/);
    const ofFlag = await saidOf(address, '--base-url');
    assert.match(ofFlag, /--base-url (sets|must|and)/);
    assert.doesNotMatch(ofFlag, /PARTNER_NETWORK_BASE_URL/);
  }
  const setByOf = (...words: string[]) =>
    (parseLine(listBrands, words, { ...key, PARTNER_NETWORK_BASE_URL: nobody }).values['base-url'] as Address)
      .setBy;
  assert.deepEqual([setByOf(), setByOf('--base-url', nobody)], [addressVariable, '--base-url']);
});

test('takes no key in the address, which --curl would print', () => {
  const { problems } = parseLine(listBrands, ['--curl', '--base-url', `http://here/${keys.acme}`], {});
  assert.deepEqual(problems, ['--base-url must not hold an API key.']);
});

test('says which flag is meant by the name of the parameter', () => {
  const { problems } = parseLine(listBalances, ['--customer-id', 'alice'], key);
  assert.equal(problems[0], 'There is no flag --customer-id; did you mean --customer?');
});

test('ends the line of a document that is cut, so that what is said of it stands by itself', async (t) => {
  let requests = 0;
  const page = '{"brands":[{"id":"b1"}],"cursor":"next"}';
  const answers = () => (++requests === 1 ? ([200, page] as const) : ([403, '{"errors":[]}'] as const));
  const address = await answeringEach(t, answers);
  const written: string[] = [];
  const output = {
    answer: (text: string) => written.push(text),
    write: async (text: string) => void written.push(text),
    remark: (text: string) => written.push(text),
  };
  const { values } = parseLine(listBrands, ['--all', '--json', '--base-url', address], key);
  await assert.rejects(listBrands.run(values, [], output), OperatorError);
  assert.match(
    written.join(''),
    /\{"id":"b1"\}\nThe output is incomplete, for not all pages came: list again\.$/,
  );
});

test('tells a newcomer whose sandbox is not there how to start it', async () => {
  const network = new PartnerNetwork({
    apiKey: keys.acme,
    baseUrl: sandboxAddress,
    maxRetries: 0,
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  });
  const error = await network.brands.list().catch((reason) => reason);
  const { message } = explained(error, sandbox, flagOf) as Error;
  assert.match(
    message,
    /\nStart a sandbox there with "npx partner-network sandbox", or set PARTNER_NETWORK_BASE_URL/,
  );
});

test('leaves a fault of ours as it is', () => {
  const fault = new TypeError('undefined is not a function');
  assert.equal(explained(fault, sandbox, flagOf), fault);
});

test('tells a terminal once what it waits for, when that takes a while', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const remarks: string[] = [];
  const output = { answer: () => {}, write: async () => {}, remark: (text: string) => remarks.push(text) };
  const pages = async function* () {
    yield 1;
    yield 2;
  };
  for (const isSeen of [true, false]) {
    const waiting = createWaitingRemark('http://here', output, isSeen);
    waiting.onResponse({ status: 503 });
    const walk = waiting.watch(pages());
    const first = walk.next();
    t.mock.timers.tick(commandLineBounds.silentWaitMs);
    await first;
    // While a page is printed nothing is waited for.
    t.mock.timers.tick(commandLineBounds.silentWaitMs);
    const second = walk.next();
    t.mock.timers.tick(commandLineBounds.silentWaitMs);
    assert.deepEqual([(await second).value, (await walk.next()).done], [2, true]);
  }
  assert.deepEqual(remarks, ['Waiting for http://here, which answered 503; Ctrl-C ends it.']);
});
