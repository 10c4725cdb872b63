import { expect, test } from 'vitest';
import { type Measured, verdictsOf } from './report.ts';

function measured(throughput: number, p99: number): Measured {
  const window = { perSecond: 1, cpuMicroseconds: 1, p50: 1, p99: 1 };
  const checks = ['pass', 'mask'].map((name) => ({
    name,
    median: window,
    ratio: { throughput, cpu: 1, p99 },
    spread: [1, 1] as const,
  }));
  const start = { bytes: 1, seconds: 1, mebibytes: 1 };
  return { checks, engine: [], start, gateway: { figures: [], reading: 1 }, relay: [], frameworks: undefined };
}

test.each([
  [0.8, 1.5, 'reached', 'reached'],
  [0.79, 1.51, 'missed', 'missed'],
  [0.65, 2, 'missed', 'missed'],
  [0.64, 2.01, 'out of bounds', 'out of bounds'],
])(
  'a check of %f of the echo, with a p99 of %f times the echo, is reported against the goal: %s',
  (throughput, p99, speed, tail) => {
    const verdicts = verdictsOf(measured(throughput, p99));
    const of = (what: string) => verdicts.find((one) => one.what === what);
    expect(of('throughput of a passing check to the echo')).toMatchObject({ wanted: 'at least 0.8', result: speed });
    expect(of('p99 of a passing check to the echo')).toMatchObject({ wanted: 'at most 1.5', result: tail });
  },
);
