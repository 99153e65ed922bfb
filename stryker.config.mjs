export default {
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  tap: {
    testFiles: ['packages/server/test/http/cursor.test.ts', 'packages/server/test/limiter/memory.test.ts'],
    nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  mutate: ['packages/server/src/http/cursor.ts', 'packages/server/src/limiter/{admissions,memory}.ts'],
  coverageAnalysis: 'perTest',
  tsconfigFile: 'none',
  disableTypeChecks: false,
  concurrency: 2,
  reporters: ['clear-text', 'progress-append-only'],
  thresholds: { high: 95, low: 85, break: 85 },
  tempDirName: '.stryker-tmp',
};
