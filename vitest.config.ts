import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{operator,runtime,libraries,dataplane,cli,hack,e2e}/**/*.test.ts'],
    pool: 'forks',
    globalSetup: ['e2e/kube/end-shared-api-server.ts', 'libraries/sql/testing/share-server.ts'],
    // A net for tests that hang: no test's own time decides, also on a machine that is many times slower.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Tests of one file that run at the same time mostly wait: for processes, deadlines and grace periods.
    maxConcurrency: 4,
    coverage: {
      provider: 'v8',
      include: ['{operator,runtime,libraries,dataplane,cli}/**/*.ts'],
      reporter: ['text'],
      thresholds: {},
    },
  },
});
