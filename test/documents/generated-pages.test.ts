import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorPage, errorPagePath } from '../../scripts/error-page.ts';
import { importPage, importPagePath } from '../../scripts/import-codes.ts';

test('importing.md has the current codes of an import ("npm run docs" writes them)', () => {
  assert.equal(readFileSync(importPagePath, 'utf8'), importPage());
});

test('error-catalogue.md has the current catalogue ("npm run docs" writes it)', () => {
  assert.equal(readFileSync(errorPagePath, 'utf8'), errorPage());
});
