/**
 * `npm run mutate`: changes the code that keeps partners apart, one place at a time, and reports changes that
 * no test noticed. Fails under 90 %. Its tests need nothing but a Redis and are quick, because they run once
 * for every change that they reach.
 */
export default {
  mutate: [
    'packages/server/src/{auth,cursors,http/parameters}/*.ts',
    'packages/server/src/http/rate-limit.ts',
    'packages/server/src/limiter/**/*.ts',
    // What `doctor` says of a Redis decides nothing.
    '!packages/server/src/limiter/redis/inspect.ts',
  ],
  testRunner: 'tap',
  tap: {
    // In this order: what needs no Redis is over before what does, and most changes need no more.
    testFiles: [
      'packages/server/test/auth/*.test.ts',
      'packages/server/test/http/{parameters,rate-limit}.test.ts',
      'packages/server/test/cursors/{key-refresh,cursors}.test.ts',
      'packages/server/test/limiter/admissions.test.ts',
      'packages/server/test/limiter/redis/{local-share,reply,url}.test.ts',
      'packages/server/test/limiter/{redis/link,open}.test.ts',
      'test/fuzz/parsing.test.ts',
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
  // Node takes the types as they are; and Stryker's own reader of this file does not know TypeScript 7.
  disableTypeChecks: false,
  tsconfigFile: 'none',
};
