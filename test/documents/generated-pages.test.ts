import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { generatedPages } from '../../scripts/generated-pages.ts';

for (const { path, text } of generatedPages) {
  test(`${basename(path.pathname)} is up to date ("npm run docs" writes it)`, async () => {
    assert.equal(readFileSync(path, 'utf8'), await text());
  });
}
