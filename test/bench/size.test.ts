/** The size bench, scaled down. A test can judge the number of blocks, but not times. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { longRunOnly } from '../../packages/testkit/fixtures/long-run.ts';
import { withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { root } from '../sources.ts';

const skip = longRunOnly || (process.env.TEST_DATABASE_URL ? false : withoutOwnServers());
const positions = ['first', 'middle', 'last'];

/** Rejects if the exit status is not 0. */
async function bench(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [join(root, 'checks/bench/size/main.ts'), ...words]);
}

/** The last three columns of the table: blocks in the small and in the large database, and their ratio. */
function blocksIn(table: string): Map<string, number[]> {
  const rows = table.trim().split('\n').slice(2);
  return new Map(
    rows.map((row) => {
      const cells = row.split('|').map((cell) => cell.trim());
      return [cells[1]!, cells.slice(-4, -1).map(Number)];
    }),
  );
}

test('a page touches the same number of blocks at each position, even with five times the rows', {
  skip,
}, async () => {
  const given = process.env.TEST_DATABASE_URL;
  const words = ['--scale', '0.005', '--rounds', '2'];
  const { stdout, stderr } = await bench(...words, ...(given ? ['--database', given] : []));
  assert.match(stderr, /Making large\. Partners: 5; brands: 5,000;/);
  const blocks = blocksIn(stdout);
  for (const listing of ['brands', 'brands by reference', 'balances']) {
    for (const position of positions) {
      const [small = 0, large = 0] = blocks.get(`${listing}, ${position} page`) ?? [];
      assert.ok(small > 50 && small < 65, `${small} blocks for 50 records: ${listing}, ${position} page`);
      assert.ok(large / small < 1.2, `${large} blocks with more rows: ${listing}, ${position} page`);
    }
  }
  const [, ofOneBrand = 0] = blocks.get('one brand by reference') ?? [];
  assert.ok(ofOneBrand > 0 && ofOneBrand < 10, `${ofOneBrand} blocks for one brand`);
});

test('the size bench refuses a scale that is not a number', async () => {
  await assert.rejects(bench('--scale', 'big'), { code: 2, stderr: /^--scale must be a number .*\n$/ });
});
