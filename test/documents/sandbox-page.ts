/** Checks docs/reference/partners/sandbox.md against a sandbox. */
import assert from 'node:assert/strict';
import { errorCatalogue } from '@partner-network/contract/errors';
import { demoKeys } from '../../packages/operator/src/demo/data.ts';
import { promiseNames, scenarios } from '../../packages/service/src/rehearsals/scenarios.ts';
import { documentedFetch } from '../../packages/testkit/watch/documented.ts';
import { pageFor, read } from '../sources.ts';

const page = pageFor('partners', 'sandbox');

/** Gets the answers of its keys, customers and requests. `commands` are the outputs of its blocks. */
export async function checkSandboxPage(
  [baseUrl = '', ownKey = '']: readonly string[],
  commands: readonly RegExp[],
): Promise<void> {
  const codeOf = async (path: string, key = ownKey) => {
    const response = await documentedFetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
    const answer = (await response.json()) as { errors?: { code: string }[] };
    return answer.errors?.[0]?.code;
  };
  const text = read(page);
  const rows = (shape: RegExp) => [...text.matchAll(shape)].map(([, ...cells]) => cells);
  /** The codes that the demo data of a section gives, and those that the page's commands print. */
  const seen = { 'demo-keys': new Set(), 'customers-and-grants': new Set() };

  const keys = rows(/^\| `(pn_test_\w+)` \| [^`|]*(?:`(\w+)`)?/gm);
  assert.equal(keys.length, demoKeys.length);
  for (const [key, code] of keys) {
    const path = code === 'BRANDS_READ' ? '/balances' : '/brands';
    const expected = code === 'BRANDS_READ' ? 'INSUFFICIENT_SCOPES' : code;
    assert.equal(await codeOf(path, key), expected);
    seen['demo-keys'].add(expected);
  }
  const customers = rows(/^\| `(CUSTOMER_\d+)` \| `(GRANT_\d+)` \| [^`|]*(?:`(\w+)`)?/gm);
  assert.equal(customers.length, 10);
  for (const [customer, grant, code] of customers) {
    assert.equal(await codeOf(`/balances?type=CHECKING&customer_id=${customer}&grant_id=${grant}`), code);
    seen['customers-and-grants'].add(code);
  }

  const ways = rows(/^\| `([A-Z_]+)` \| (.*) \|$/gm);
  assert.deepEqual(
    ways.map(([code]) => code),
    Object.keys(errorCatalogue),
    'sandbox.md has a way to see every error, in the order of the catalogue',
  );
  for (const [code = '', way = ''] of ways) {
    const [, path, key] = /^`(\/\S*)`(?: with the key `(\w+)`)?/.exec(way) ?? [];
    const [, section = ''] = /\(#([\w-]+)\)/.exec(way) ?? [];
    const rehearsal = /the rehearsal `([\w-]+)`/.exec(way)?.[1];
    assert.ok(path ?? (rehearsal || section), way);
    if (path !== undefined) assert.equal(await codeOf(path, key), code);
    if (rehearsal !== undefined) await assertRehearsed(baseUrl, ownKey, rehearsal, code);
    if (section in seen) assert.ok(seen[section as keyof typeof seen].has(code), code);
    // The test of the page runs the commands of the other sections.
    else if (section !== '')
      assert.ok(
        commands.some(({ source }) => source.includes(code)),
        code,
      );
  }
}

/** Asserts that a walk in a scenario gets an error with this code. */
async function assertRehearsed(baseUrl: string, key: string, scenario: string, code: string): Promise<void> {
  const ofCustomer = 'balances?customer_id=CUSTOMER_1005&type=CHECKING&limit=20';
  const listing = scenario === 'grant-revoked' ? ofCustomer : 'brands?limit=20';
  const url = baseUrl.replace(/(?=\/network\/v1)/, `/rehearsals/${scenario}.documented`);
  let cursor = '';
  for (let request = 1; request <= 4; request += 1) {
    const response = await fetch(`${url}/${listing}${cursor}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const answer = (await response.json()) as { errors?: { code: string }[]; cursor?: string };
    if (answer.errors?.[0]?.code === code) return;
    cursor = `&cursor=${answer.cursor}`;
  }
  assert.fail(`${scenario} gave no ${code}`);
}

export function checkScenarios(): void {
  const text = read(page);
  const rows = Object.entries(scenarios).map(
    ([name, { happens, expects }]) => `| \`${name}\` | ${happens} | ${expects} |`,
  );
  assert.ok(text.includes(`\n|---|---|---|\n${rows.join('\n')}\n\n`), rows.join('\n'));
  for (const name of promiseNames) assert.match(text, new RegExp(`^\\| \`${name}\` \\| [A-Z]`, 'm'));
}
