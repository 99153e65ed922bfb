/** Runs the samples of docs/samples against a sandbox, in the languages that this machine has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { listings } from '@partner-network/contract/operations';
import { startStage } from '../../packages/client/test/runtimes/stage.ts';
import { type PackedClient, packClient } from '../../packages/client/test/support/packed.ts';
import type { Verdict } from '../../packages/service/src/rehearsals/scenarios.ts';
import { pythonClient, pythonThatRuns } from '../../packages/testkit/clients/python.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { files, read } from '../sources.ts';

const python = pythonThatRuns('import sys; sys.exit(sys.version_info < (3, 10))');
// The Java that has a compiler runs a file of source code.
const [javac] = programsOnPath(['javac']);
const [go] = programsOnPath(['go']);

/** What runs the samples, by the endings of their names. */
const runners: Readonly<Record<string, string | undefined>> = {
  'curl.sh': 'sh',
  'client.js': process.execPath,
  'fetch.js': process.execPath,
  'client.py': python,
  'standard.py': python,
  java: javac?.replace(/c$/, ''),
  go,
};

/** The first line of a sample: how to save it, how to run it, and whether it retries. */
const firstLine = /^(?:#|\/\/) Save it as ([\w.]+), and run `\S+ ((?:run )?\1)`\. (.+)\n/;

let partner: PackedClient;
let stage: Awaited<ReturnType<typeof startStage>>;
before(async () => {
  partner = await packClient();
  stage = await startStage();
});
after(() => stage.close());

test('each operation has a sample in each language', () => {
  const expected = listings.flatMap(({ id }) =>
    Object.keys(runners).map((ending) => `docs/samples/${id}.${ending}`),
  );
  assert.deepEqual(
    files.filter((file) => file.startsWith('docs/samples/')),
    expected.sort(),
  );
});

for (const [ending, program] of Object.entries(runners)) {
  const skip = program === undefined && `this machine has nothing that runs *.${ending}`;

  /** Runs a sample as its first line says, but with the program of this machine. */
  async function runSample(id: string, apiKey: string, baseUrl = stage.baseUrl) {
    // A customer whose balances take two pages.
    const source = read(`docs/samples/${id}.${ending}`).replace('CUSTOMER_1001', 'CUSTOMER_1005');
    const [, file, words, retries] = firstLine.exec(source) ?? [];
    assert.equal(retries, ending.startsWith('client') ? 'The client retries.' : 'It does not retry.');
    writeFileSync(join(partner.folder, file!), source);
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PYTHONPATH: `${pythonClient}src`,
      PARTNER_NETWORK_BASE_URL: baseUrl,
      PARTNER_NETWORK_API_KEY: apiKey,
    };
    return promisify(execFile)(program!, words!.split(' '), { cwd: partner.folder, env });
  }

  test(`the samples *.${ending} list all brands, and the balances of a customer`, { skip }, async () => {
    const printed = listings.map(async ({ id, name }) => {
      const { stdout } = await runSample(id, stage.apiKey);
      // Without a parser for JSON, a sample prints pages.
      return stdout.replaceAll(/^\{.*$/gm, (page) =>
        JSON.parse(page)
          [name].map((record: Record<string, unknown>) =>
            name === 'brands'
              ? `${record.reference_id} ${record.name}`
              : `${record.amount} ${record.currency}`,
          )
          .join('\n'),
      );
    });
    const [brands = '', balances = ''] = await Promise.all(printed);
    assert.match(brands.trim(), /^(shop-\d+ .+\n){119}shop-\d+ .+$/);
    assert.match(balances.trim(), /^(-?\d+ USD\n){119}-?\d+ USD$/);
  });

  test(`the samples *.${ending} fail with the code and the detail of an error`, { skip }, async () => {
    for (const { id } of listings) {
      await assert.rejects(runSample(id, 'pn_test_unknown'), ({ code, stdout, stderr }) => {
        assert.notEqual(code, 0);
        assert.match(stdout + stderr, /UNAUTHORIZED.+Authorization: Bearer/s);
        return true;
      });
    }
  });

  test(`the samples *.${ending} do not send the key to the address of a redirect`, { skip }, async () => {
    for (const { id } of listings) {
      const run = `${stage.sandbox}/rehearsals/redirect.${id}-${ending.replace('.', '-')}`;
      // A sample may fail here, because it does not follow.
      await runSample(id, stage.apiKey, `${run}/network/v1`).catch(() => {});
      const response = await fetch(run, { headers: { authorization: `Bearer ${stage.apiKey}` } });
      const { requests, promises } = (await response.json()) as Verdict;
      assert.ok(requests.some(({ status }) => status === 307));
      assert.equal(promises.find(({ name }) => name === 'kept-its-key')?.verdict, 'kept');
    }
  });
}
