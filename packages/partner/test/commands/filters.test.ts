import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersOf, listings } from '@partner-network/contract/operations';
import { pagesFor, read } from '../../../../test/sources.ts';
import * as lists from '../../src/commands/lists.ts';

/** Flags whose names differ from those of their parameters. */
const others: Readonly<Record<string, string>> = { customer_id: 'customer' };

test('every filter of a listing is a flag of its command, and is described to partners', () => {
  const commands = { brands: lists.listBrands, balances: lists.listBalances };
  for (const operation of listings) {
    const page = pagesFor('partners').find((file) =>
      file.endsWith(`reference/partners/${operation.name}.md`),
    )!;
    for (const name of filtersOf(operation)) {
      const flag = others[name] ?? name.replaceAll('_', '-');
      assert.ok(flag in commands[operation.name].options, `${operation.name} list lacks --${flag}: lists.ts`);
      assert.ok(read(page).includes(`\`${name}\``), `${page} does not describe ${name}`);
    }
  }
});
