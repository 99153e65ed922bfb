/** The client for Python as partners install it: a wheel, in a fresh environment, without a network. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { type ListingName, listBalances, listBrands } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema, errorRecordSchema } from '@partner-network/contract/records';
import { startStage } from '../../../packages/client/test/runtimes/stage.ts';
import { openPrivateSandbox } from '../../../packages/partner/src/rehearse/private-sandbox.ts';
import { scenarioList } from '../../../packages/service/src/rehearsals/scenarios.ts';
import type { Driven, Run } from '../../../packages/testkit/clients/drive.ts';
import { codeOfGuide } from '../../../packages/testkit/clients/guide.ts';
import {
  needsPython,
  pythonClient,
  pythonThatRuns,
  runPython,
} from '../../../packages/testkit/clients/python.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';

const root = join(pythonClient, '../..');
test('its own tests pass', needsPython, async () => {
  const { stderr } = await runPython(['-m', 'unittest']);
  assert.match(stderr, /^\.+\n-+\nRan \d+ tests in .*\n\nOK\n$/);
});

const [mypy = ''] = programsOnPath(['mypy'], ['/usr/bin']);

test('mypy finds no problem in strict mode', {
  skip: mypy === '' && 'needs mypy (apt-get install mypy)',
}, () => {
  const cache = join(root, 'node_modules/.cache/mypy');
  const { stdout } = spawnSync(mypy, ['--cache-dir', cache], { cwd: pythonClient, encoding: 'utf8' });
  assert.match(stdout, /^Success: no issues found in \d+ source files\n$/);
});

/** Prints the fields of records, the fields that need a value, the parameters of lists, and the rate. */
const contents = `import dataclasses, inspect, json, partner_network as p, partner_network._network as network
def of(kind): return [f for f in dataclasses.fields(kind) if f.name != "extra"]
kinds = (p.Brand, p.Balance, p.ErrorRecord)
print(json.dumps({
  "fields": [[f.name for f in of(kind)] for kind in kinds],
  "required": [[f.name for f in of(kind) if f.default is dataclasses.MISSING] for kind in kinds],
  "parameters": [sorted(inspect.signature(r.list).parameters) for r in (network.Brands, network.Balances)],
  "rate": network._BRANDS_PER_SECOND}))`;

test('has the records, the parameters and the rate of the contract', needsPython, async () => {
  const { stdout } = await runPython(['-c', contents]);
  const schemas = [brandSchema, balanceSchema, errorRecordSchema];
  assert.deepEqual(JSON.parse(stdout), {
    fields: schemas.map(({ properties }) => Object.keys(properties)),
    required: schemas.map(({ required }) => required),
    parameters: [listBrands, listBalances].map(({ parameters }) =>
      [...Object.keys(parameters), 'self'].sort(),
    ),
    rate: brandsPerSecond,
  });
});

const withPip = pythonThatRuns('import sys, pip; sys.exit(sys.version_info < (3, 10))');
const needsPip = { skip: withPip === undefined && 'needs Python 3.10 or later with pip (python3-pip)' };

/** The folder of a partner's project, with the environment into which the client is installed. */
const folder = mkdtempSync(join(tmpdir(), 'partner-network-python-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const installed = join(folder, '.venv/bin/python');
let stage: Awaited<ReturnType<typeof startStage>>;
let code: string[];

before(async () => {
  if (needsPip.skip) return;
  stage = await startStage();
  code = await codeOfGuide(stage.sandbox, 'python');
  const [install = ''] = code;
  // Without a pip of its own, the environment takes a second of CPU in place of six.
  const quicker = install
    .replace('-m venv', '-m venv --without-pip')
    .replace('.venv/bin/pip install', 'python3 -m pip --python .venv/bin/python install');
  assert.notEqual(quicker, install);
  const settings = { PIP_NO_INDEX: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_ROOT_USER_ACTION: 'ignore' };
  const env = { ...settings, HOME: folder, PATH: `${dirname(withPip!)}:/usr/bin:/bin` };
  execFileSync('sh', ['-ec', quicker], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
});
after(() => stage?.close());

test('the wheel contains the sources and the license, and needs nothing', needsPip, () => {
  const list = `import importlib.metadata as m
print(m.requires('partner-network-client'))
print(*sorted(str(f) for f in m.files('partner-network-client') if '__pycache__' not in str(f)))`;
  const [needed, files = ''] = execFileSync(installed, ['-c', list], { encoding: 'utf8' }).split('\n');
  assert.equal(needed, 'None');
  const own = readdirSync(join(pythonClient, 'src/partner_network')).filter((name) => name !== '__pycache__');
  const modules = files.split(' ').filter((name) => !name.includes('.dist-info/'));
  assert.deepEqual(modules, own.map((name) => `partner_network/${name}`).sort());
  assert.match(files, /\.dist-info\/LICENSE /);
});

test('a partner with an address and a key runs the programs of the guide', needsPip, async () => {
  const program = join(folder, 'guide.py');
  writeFileSync(program, code.slice(1).join('\n'));
  const variables = { PARTNER_NETWORK_API_KEY: stage.apiKey, PARTNER_NETWORK_BASE_URL: stage.baseUrl };
  const { stdout, stderr } = await runPython([program], { program: installed, variables });
  assert.equal(stderr, '');
  const lines = [
    'Little Greens',
    '.+',
    'a page of 100',
    'a page of 20',
    '125050 USD',
    '9999 USD',
    '4200000 USD',
  ];
  assert.match(stdout, new RegExp(`^${lines.join('\\n')}\\nAsk the customer: GRANT_REVOKED\\n$`));
});

test('walks over brands and over balances keep every promise in all rehearsals', needsPip, async () => {
  await using opened = new AsyncDisposableStack();
  const listings: readonly ListingName[] = ['brands', 'balances'];
  const rehearsals = [];
  for (const listing of listings) {
    const chosen = scenarioList.filter(({ name }) => listing === 'balances' || name !== 'grant-revoked');
    for (const one of await openPrivateSandbox(chosen, listing, opened)) rehearsals.push({ ...one, listing });
  }
  const runs = rehearsals.map(({ listing, variables }): Run => {
    const { PARTNER_NETWORK_CUSTOMER_ID: customer_id = '' } = variables;
    return {
      apiKey: variables.PARTNER_NETWORK_API_KEY!,
      baseUrl: variables.PARTNER_NETWORK_BASE_URL!,
      options: { timeoutMs: 8_000 },
      calls: [{ listing, params: listing === 'brands' ? {} : { customer_id } }],
    };
  });
  // The number that the command runs at once: a busier sandbox refuses requests of its own accord.
  const words = ['drive.py', String(commandLineBounds.rehearsedAtOnce)];
  const { stdout, stderr } = await runPython(words, { program: installed, input: JSON.stringify(runs) });
  assert.equal(stderr, '');
  const driven: Driven[][] = JSON.parse(stdout);
  const final: readonly string[] = ['key-revoked', 'grant-revoked', 'unknown-error', 'redirect'];
  for (const [index, { name, verdict }] of rehearsals.entries()) {
    const unkept = (await verdict()).promises.filter((promise) => promise.verdict !== 'kept');
    assert.deepEqual(unkept, [], name);
    const ids = driven[index]![0]!.pages.flat();
    assert.equal(new Set(ids).size, ids.length, 'each record once');
    assert.equal(ids.length, final.includes(name) ? 50 : 350, name);
  }
});
