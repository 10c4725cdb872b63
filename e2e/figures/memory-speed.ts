import { missingPostgres } from '#sql/testing/test-server';
import { measureMemorySpeed } from '../memory-scale/measure-speed.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  small: { memories: 300, rounds: 30, adds: 100 },
  full: { memories: 10_000, rounds: 300, adds: 2_000 },
} as const;

export const figure: Figure = {
  name: 'memory-speed',
  title:
    'time from an add, stored as given or read for facts, until a search finds it, and of searches over 10,000 memories, as multiples of a bare answer of the ' +
    'framework in the same run; adds that are processed each second',
  run: async (size) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { bare, search, searchable, addsPerSecond } = await measureMemorySpeed(sizes[size]);
    const times = (measured: number, of: number): string =>
      `${measured.toFixed(1)} ms, ${(measured / of).toFixed(0)} times`;
    return {
      // The measured values have no bounds: they are compared with other runs on the same machine.
      holds: true,
      line:
        `a bare answer takes p50/p95 ${bare.p50.toFixed(2)}/${bare.p95.toFixed(2)} ms; a search p50 ` +
        `${times(search.p50, bare.p50)}, p95 ${times(search.p95, bare.p95)}; from an add until it is found p95 ` +
        `${times(searchable.asGiven.p95, bare.p95)}, with extraction ${times(searchable.read.p95, bare.p95)}; ` +
        `${addsPerSecond.asGiven.toFixed(0)} adds a second, with extraction ${addsPerSecond.read.toFixed(0)}`,
    };
  },
};
