/** The client of each language does what the table of behaviours says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Driven, drive, type Run } from '../../testkit/clients/drive.ts';
import { needsPython, runPython } from '../../testkit/clients/python.ts';
import { scenarios } from '../../testkit/clients/scenarios.ts';
import { startScriptedServer } from '../../testkit/clients/scripted-server.ts';
import { keys } from '../../testkit/fixtures/fixture.ts';

/** A timer may come a few milliseconds early, and clocks of two processes differ. */
const earlyMs = 10;

/** The time limit of a run that does not test it: long enough for a busy machine. */
const patientMs = 120_000;

/** The fields of a value that the expected value names. An error is compared in the same way. */
function namedIn(found: object, expected: object): object {
  return Object.fromEntries(
    Object.entries(found)
      .filter(([name]) => name in expected)
      .map(([name, value]) => {
        const { error } = expected as { error?: object | null };
        return [name, name === 'error' && value && error ? namedIn(value, error) : value];
      }),
  );
}

const drivers = {
  JavaScript: {
    skip: false,
    /**
     * Many at once, because most of the time is waiting. Runs that test a time limit come first and alone, so
     * that no other run keeps this process busy meanwhile.
     */
    driveAll: async (runs: readonly Run[]): Promise<Driven[][]> => {
      const isTimed = ({ options }: Run) => options.timeoutMs !== patientMs;
      const timed = await Promise.all(runs.map((run) => isTimed(run) && drive(run)));
      return Promise.all(timed.map((driven, index) => driven || drive(runs[index]!)));
    },
  },
  Python: {
    ...needsPython,
    /** In one process, because a start takes a tenth of a second. */
    driveAll: async (runs: readonly Run[]): Promise<Driven[][]> => {
      const { stdout, stderr } = await runPython(['drive.py'], { input: JSON.stringify(runs) });
      assert.equal(stderr, '');
      return JSON.parse(stdout);
    },
  },
};

for (const [language, { skip, driveAll }] of Object.entries(drivers)) {
  test(`the client for ${language}`, { skip }, async (t) => {
    const server = await startScriptedServer(t);
    const runs = scenarios.map(({ options = {}, calls = [{}], answers }, index): Run => {
      const baseUrl = server.script(String(index), answers);
      return { apiKey: keys.acme, baseUrl, options: { timeoutMs: patientMs, ...options }, calls };
    });
    const driven = await driveAll(runs);
    for (const [index, { promise, answers, queries, waitsMs = [], outcomes }] of scenarios.entries()) {
      await t.test(promise, () => {
        const ended = driven[index]!.map(({ shown, error, ...others }) => {
          for (const part of [keys.acme, keys.acme.slice(8, -6)]) {
            assert.ok(!shown.includes(part), `the key shows: ${shown.replaceAll(part, '[KEY]')}`);
          }
          const message = error?.message?.replace(runs[index]!.baseUrl, 'BASE');
          return { ...others, error: error && { ...error, message } };
        });
        assert.deepEqual(
          ended.map((outcome, call) => namedIn(outcome, outcomes[call]!)),
          outcomes,
        );
        const requests = server.requestsOf(String(index));
        assert.equal(requests.length, answers.length, 'requests');
        if (queries !== undefined)
          assert.deepEqual(
            requests.map(({ query }) => query),
            queries,
          );
        for (const { authorization } of requests) assert.equal(authorization, `Bearer ${keys.acme}`);
        for (const [at, ms] of waitsMs.entries()) {
          const waitedMs = requests[at + 1]!.atMs - requests[at]!.answeredMs;
          assert.ok(waitedMs > ms - earlyMs, `${waitedMs} ms before request ${at + 2}`);
        }
      });
    }
  });
}
