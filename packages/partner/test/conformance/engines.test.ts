/** The real command finds nothing wrong with our own service, on either engine and with every case. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { createMemoryLimiter } from '../../../service/src/limiter/rate-limit.ts';
import { run } from '../../../testkit/fixtures/run.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { busyDeployment } from '../../src/conformance/cases/http.ts';
import type { CaseResult } from '../../src/conformance/report.ts';
import { allCases } from '../../src/conformance/run.ts';
import { type AllVariables, fillDeployment } from './deployment.ts';

test('our own service conforms', { concurrency: true }, async (t) => {
  const engines = ['sqlite', 'postgres'] as const;
  await Promise.all(
    engines.map((engine) =>
      t.test(engine, async (t) => {
        let supplied: AllVariables | undefined;
        const service = await startTestService(t, {
          engine,
          data: {
            name: 'conformance',
            fill: async (store) => {
              [supplied] = await fillDeployment(store, ['acme']);
            },
          },
          limiters: { brands: createMemoryLimiter(50) },
        });
        let requests = 0;
        service.server.on('request', () => {
          requests += 1;
        });
        const baseUrl = `http://127.0.0.1:${service.port}${basePath}`;
        const words = ['conformance', baseUrl, '--burst', '--json'];
        const { status, stdout, stderr } = await run(words, { variables: supplied! });
        const { cases } = JSON.parse(stdout) as { cases: readonly CaseResult[] };
        // A busy machine cannot answer a burst in time, and the case says so.
        const isBusy = ({ id, variable }: CaseResult) =>
          id === 'burst.refused' && variable === busyDeployment;
        assert.deepEqual(
          cases.filter((each) => each.status !== 'passed' && !isBusy(each)),
          [],
        );
        assert.deepEqual([status, cases.length, stderr], [0, allCases.length, '']);
        // 210 of them are bursts.
        assert.ok(requests > 310 && requests < 560, `${requests} requests`);
      }),
    ),
  );
});
