import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorPage, errorPagePath } from '../../scripts/error-page.ts';
import { importPage, importPagePath } from '../../scripts/import-codes.ts';

test('importing.md has the codes that an import says; "npm run docs" renews them', () => {
  assert.equal(readFileSync(importPagePath, 'utf8'), importPage());
});

test('docs/partners/error-catalogue.md is made from the catalogue; "npm run docs" renews it', () => {
  assert.equal(readFileSync(errorPagePath, 'utf8'), errorPage());
});
