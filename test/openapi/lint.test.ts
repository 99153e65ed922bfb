/** All linters in one file, because loading them takes a second. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApiPath, sandboxOrigin } from '@partner-network/contract/operations';
import { installTools } from '../../checks/lib/install-tools.ts';
import { publicUrl, startTestService } from '../../packages/testkit/service/service.ts';
import { openApiFile } from '../../scripts/openapi.ts';
import type { Problem } from '../../scripts/release/tools/openapi.js';

installTools('scripts/release/tools');
const { lintByRedocly, lintBySpectral } = await import('../../scripts/release/tools/openapi.js');

/** Rules that the OpenAPI document breaks on purpose, and where. A test fails for a needless exception. */
const exceptions: readonly [rule: string, place: RegExp][] = [
  // No answer has CORS headers: a key does not belong in a page of another site.
  ['owasp:api8:2023-define-cors-origin', /\/headers$/],
  // These are answered before the rate limit. They do not count, so they have no rate headers.
  ['owasp:api4:2023-rate-limit', /\/responses\/(401|404|405|408|431)\/headers$/],
  // A 403 of list brands is about the key, which is checked before the rate limit.
  ['owasp:api4:2023-rate-limit', /^paths\/\/brands\/get\/responses\/403\/headers$/],
  // OpenAPI 3.1 has scopes for every kind of credentials. The rule knows only those of OAuth.
  ['oas3-operation-security-defined', /\/security\/0\/ApiKey\/0$/],
  // A local sandbox uses http. In production the operator puts TLS in front.
  ['owasp:api8:2023-no-server-http', /^servers\/0\/url$/],
  // Times have no length or pattern, and texts no pattern: generators and mocks of others fail on them.
  ['owasp:api4:2023-string-limit', /\/(created|updated)_at$/],
  ['owasp:api4:2023-string-restricted', /./],
  // A code is an open string. This component lists the known codes for generators.
  ['no-unused-components', /\/ErrorCode$/],
  ['oas3-unused-component', /\/ErrorCode$/],
  // Brands come before balances, which are beta.
  ['openapi-tags-alphabetical', /^tags$/],
  // The operator of the service has an address and a mailbox. The document invents none.
  ['contact-properties', /^info\/contact$/],
];

const problems: Record<string, Problem[]> = {};

async function lint(name: string, source: string): Promise<void> {
  problems[name] = [...(await lintByRedocly(source)), ...(await lintBySpectral(source))];
  const left = problems[name].filter(
    ({ rule, place }) => !exceptions.some(([broken, where]) => broken === rule && where.test(place)),
  );
  assert.deepEqual(left, []);
}

test('linters accept docs/openapi.json', () => lint('stored', readFileSync(openApiFile, 'utf8')));

test('linters accept the document that a service or a local sandbox serves', async (t) => {
  const { call } = await startTestService(t);
  const { text } = await call(openApiPath);
  await lint('served', text.replace(publicUrl, sandboxOrigin));
});

test('every exception from a rule is needed', () => {
  const found = Object.values(problems).flat();
  for (const [rule, place] of exceptions) {
    const isNeeded = found.some((problem) => problem.rule === rule && place.test(problem.place));
    assert.ok(isNeeded, `nothing breaks ${rule} at ${place}`);
  }
});
