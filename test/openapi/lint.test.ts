/** One file for all linters: loading them takes a second, which is waited for once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApiPath } from '@partner-network/contract/operations';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { startTestService } from '../../packages/server/test/support/service.ts';
import { openApiFile } from '../../scripts/openapi.ts';
import { exceptions } from './exceptions.ts';

interface Problem {
  readonly rule: string;
  readonly place: string;
  readonly message: string;
}

async function lintByRedocly(source: string): Promise<Problem[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location, message }) => ({
    rule: ruleId,
    place: location[0]?.pointer ?? '',
    message,
  }));
}

/** By every rule of both sets, also those that are not recommended. */
async function lintBySpectral(source: string): Promise<Problem[]> {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({
    extends: [
      [spectralRulesets.oas, 'all'],
      [owasp, 'all'],
    ],
  } as Parameters<typeof spectral.setRuleset>[0]);
  const problems = await spectral.run(source);
  return problems.map(({ code, path, message }) => ({ rule: String(code), place: path.join('/'), message }));
}

const kept = readFileSync(openApiFile, 'utf8');
let problems: readonly Problem[] = [];

test('Redocly, of which there is no exception, finds what is wrong', async () => {
  const document = JSON.parse(kept);
  delete document.paths['/brands'].get.operationId;
  const found = await lintByRedocly(JSON.stringify(document));
  assert.deepEqual(
    found.map(({ rule }) => rule),
    ['operation-operationId'],
  );
});

test('docs/openapi.json is clean', async () => {
  problems = [...(await lintByRedocly(kept)), ...(await lintBySpectral(kept))];
  const left = problems.filter(
    ({ rule, place }) =>
      !exceptions.some((exception) => exception.rule === rule && exception.place.test(place)),
  );
  assert.deepEqual(left, []);
});

// It differs by its address and its rates alone. Spectral takes a second for each document.
test('what the service serves is clean for Redocly, too', async (t) => {
  const { call } = await startTestService(t);
  assert.deepEqual(await lintByRedocly((await call(openApiPath)).text), []);
});

test('every exception from a rule is needed', () => {
  for (const { rule, place } of exceptions) {
    const isNeeded = problems.some((problem) => problem.rule === rule && place.test(problem.place));
    assert.ok(isNeeded, `nothing breaks ${rule} at ${place}`);
  }
});
