/**
 * `npm run check -- mutate`: changes the code that keeps partners apart, and the code that decides what a late line or
 * a deletion does, one place at a time, and reports changes that no test noticed. Fails under 90 %. Its tests
 * need only a Redis, and must be quick: each runs once for every change in code that it executes.
 */
export default {
  mutate: [
    'packages/service/src/{auth,cursors}.ts',
    'packages/http/src/request.ts',
    'packages/service/src/limiter/**/*.ts',
    // Only `doctor` uses it, for its report.
    '!packages/service/src/limiter/redis/inspect.ts',
    // Its tests need a Redis Cluster, and seconds.
    '!packages/service/src/limiter/redis/client.ts',
    'packages/operator/src/ingest/record-check.ts',
    'packages/store/src/sql/{consent,imports}.ts',
    'packages/store/src/sqlite/imports/{grants,records}.ts',
  ],
  testRunner: 'tap',
  tap: {
    // Tests without Redis come first: they are quicker, and notice most changes.
    testFiles: [
      'packages/service/test/auth/*.test.ts',
      'packages/http/test/{parameters,request}.test.ts',
      'packages/service/test/limiter/rate-limit.test.ts',
      'packages/service/test/cursors/{key-refresh,cursors}.test.ts',
      'packages/service/test/limiter/redis/{local-share,url}.test.ts',
      'packages/service/test/limiter/{redis/link,open}.test.ts',
      'packages/store/test/{consent,imports/order}.test.ts',
      'packages/operator/test/ingest/record-check.test.ts',
      'packages/store/test/sqlite/imports.test.ts',
    ],
    nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  plugins: [import.meta.resolve('@stryker-mutator/tap-runner')],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 10_000,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  // Not under node_modules, where Node strips no types.
  tempDirName: '.stryker-tmp',
  // Also after a run that failed.
  cleanTempDir: 'always',
  // Node strips the types, and Stryker cannot read the tsconfig of TypeScript 7.
  disableTypeChecks: false,
  tsconfigFile: 'none',
};
