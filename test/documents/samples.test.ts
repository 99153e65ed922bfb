/** Runs the samples of docs/samples against a sandbox, in the languages that this machine has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { samplesOf } from '@partner-network/contract/openapi/listings';
import { listings } from '@partner-network/contract/operations';
import { startStage } from '../../packages/client/test/runtimes/stage.ts';
import { type PackedClient, packClient } from '../../packages/client/test/support/packed.ts';
import { pythonClient, pythonThatRuns } from '../../packages/testkit/clients/python.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { files, read } from '../sources.ts';

const python = pythonThatRuns('import sys; sys.exit(sys.version_info < (3, 10))');
// The Java that has a compiler runs a file of source code.
const [javac] = programsOnPath(['javac']);
const [go] = programsOnPath(['go']);

/** What runs the samples, by the endings of their names. */
const runners: Readonly<Record<string, readonly [program: string | undefined, ...words: string[]]>> = {
  'curl.sh': ['sh'],
  'client.js': [process.execPath],
  'fetch.js': [process.execPath],
  'client.py': [python],
  'standard.py': [python],
  java: [javac?.replace(/c$/, '')],
  go: [go, 'run'],
};

let partner: PackedClient;
let stage: Awaited<ReturnType<typeof startStage>>;
before(async () => {
  partner = await packClient();
  // In the repository, an example is an ES module by its package.json.
  writeFileSync(join(partner.folder, 'package.json'), '{"type":"module"}');
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

for (const [ending, [program, ...words]] of Object.entries(runners)) {
  const skip = program === undefined && `this machine has nothing that runs *.${ending}`;
  test(`the samples *.${ending} list all brands, and the balances of a customer`, { skip }, async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PYTHONPATH: `${pythonClient}src`,
      PARTNER_NETWORK_BASE_URL: stage.baseUrl,
      PARTNER_NETWORK_API_KEY: stage.apiKey,
    };
    const printed = listings.map(async ({ id, name }) => {
      const sample = `${id}.${ending}`;
      // A customer whose balances take two pages.
      const source = read(`docs/samples/${sample}`).replace('CUSTOMER_1001', 'CUSTOMER_1005');
      writeFileSync(join(partner.folder, sample), source);
      const { stdout } = await promisify(execFile)(program!, [...words, sample], {
        cwd: partner.folder,
        env,
      });
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
}

test('the OpenAPI document has the same sample for the client', () => {
  for (const operation of listings) {
    assert.equal(`${samplesOf(operation)[0]!.source}\n`, read(`docs/samples/${operation.id}.client.js`));
  }
});
