import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{operator,runtime,libraries,dataplane,cli,hack,e2e}/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['{operator,runtime,libraries,dataplane,cli}/**/*.ts'],
      reporter: ['text'],
      thresholds: {},
    },
  },
});
