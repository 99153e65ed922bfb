import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Run } from '../../../service/src/rehearsals/runs.ts';
import type { ScenarioName, Verdict } from '../../../service/src/rehearsals/scenarios.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { finalVerdict } from '../../src/rehearse/final-verdict.ts';

const startedMs = 1_000;
const at = '2026-01-01T00:00:00.000Z';

/** The verdict of a sandbox after one request, with the last page or without. */
function verdictOf(scenario: ScenarioName, isLastPageSent: boolean): Verdict {
  const run = new Run();
  const request = { id: '1', at, method: 'GET', path: '/brands?limit=70', hasCursor: false, startedMs };
  run.judge(request, false);
  if (isLastPageSent) run.reachLastPage();
  const requests = [{ at, method: 'GET', path: request.path, status: 200 }];
  return { scenario, run: 'default', requests, promises: run.promises(scenario) };
}

const broken = ({ promises }: Verdict) =>
  promises.filter(({ verdict }) => verdict !== 'kept').map(({ name, verdict }) => `${verdict} ${name}`);

test('after the end no promise is pending: what the program did not do is broken', (t) => {
  const file = join(temporaryFolder(t), 'no-file');
  for (const [scenario, names] of [
    ['steady', ['reached-the-last-page']],
    ['torn', ['reached-the-last-page', 'resumed']],
    ['key-revoked', ['reached-the-last-page', 'resumed']],
  ] as const) {
    const verdict = finalVerdict(verdictOf(scenario, false), file, 350);
    assert.deepEqual(
      broken(verdict),
      names.map((name) => `broken ${name}`),
      scenario,
    );
  }
});

test('the number of records is judged if the program wrote one, and the walk came to its end', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'result.json');
  const complete = verdictOf('steady', true);
  assert.deepEqual(broken(finalVerdict(complete, file, 350)), [], 'no file');
  for (const [text, isKept] of [
    ['{"records":350}', true],
    ['{"records":350,"other":1}\n', true],
    ['{"records":349}', false],
    ['{"records":"350"}', false],
    ['null', false],
    ['', false],
  ] as const) {
    writeFileSync(file, text);
    const expected = isKept ? [] : ['broken counted-each-record-once'];
    assert.deepEqual(broken(finalVerdict(complete, file, 350)), expected, text);
  }
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  assert.deepEqual(broken(finalVerdict(complete, pipe, 350)), ['broken counted-each-record-once']);
  const early = finalVerdict(verdictOf('steady', false), file, 350);
  assert.deepEqual(broken(early), ['broken reached-the-last-page'], 'a walk that broke off is not counted');
});
