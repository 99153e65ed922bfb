/** All linters in one file, because loading them takes a second. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApiPath, sandboxOrigin } from '@partner-network/contract/operations';
import { publicUrl, startTestService } from '../../packages/testkit/fixtures/service.ts';
import { openApiFile } from '../../scripts/openapi.ts';
import { installTools } from '../../tools/install.ts';
import type { Problem } from '../../tools/release/openapi.js';
import { exceptions } from './exceptions.ts';

installTools('release');
const { lintByRedocly, lintBySpectral } = await import('../../tools/release/openapi.js');

const problems: Record<string, Problem[]> = {};

async function lint(name: string, source: string): Promise<void> {
  problems[name] = [...(await lintByRedocly(source)), ...(await lintBySpectral(source))];
  const left = problems[name].filter(
    ({ rule, place }) =>
      !exceptions.some((exception) => exception.rule === rule && exception.place.test(place)),
  );
  assert.deepEqual(left, []);
}

test('Redocly, of which there is no exception, finds what is wrong', async () => {
  const document = JSON.parse(readFileSync(openApiFile, 'utf8'));
  delete document.paths['/brands'].get.operationId;
  const found = await lintByRedocly(JSON.stringify(document));
  assert.deepEqual(
    found.map(({ rule }) => rule),
    ['operation-operationId'],
  );
});

test('docs/openapi.json is clean', () => lint('kept', readFileSync(openApiFile, 'utf8')));

test('what the service serves is clean, also where that is a sandbox of one machine', async (t) => {
  const { call } = await startTestService(t);
  const { text } = await call(openApiPath);
  await lint('served', text.replace(publicUrl, sandboxOrigin));
});

test('every exception from a rule is needed', () => {
  const found = Object.values(problems).flat();
  for (const { rule, place } of exceptions) {
    const isNeeded = found.some((problem) => problem.rule === rule && place.test(problem.place));
    assert.ok(isNeeded, `nothing breaks ${rule} at ${place}`);
  }
});
