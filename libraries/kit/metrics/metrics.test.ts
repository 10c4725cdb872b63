import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

const linesOf = async (metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> =>
  (await metrics.exposition()).split('\n').filter((line) => line.startsWith(name));

test('a label value outside of its closed list is counted as other', async () => {
  const metrics = createMetrics({ service: 'runtime' });
  const checks = metrics.counter({
    name: 'checks_total',
    help: 'Checks.',
    labels: { stage: ['request', 'response'], decision: ['pass', 'deny'] },
  });
  checks.add({ stage: 'request', decision: 'pass' });
  checks.add({ stage: 'request', decision: 'pass' }, 2);
  checks.add({ stage: 'smuggled' as 'request', decision: 'deny' });
  expect(await linesOf(metrics, 'checks_total')).toEqual([
    'checks_total{stage="request",decision="pass",service="runtime"} 3',
    'checks_total{stage="other",decision="deny",service="runtime"} 1',
  ]);
});

test('a bounded label keeps the first values and counts later ones as other', async () => {
  const metrics = createMetrics({ service: 'runtime' });
  const seen = metrics.counter({ name: 'seen_total', help: 'Seen.', labels: { policy: { bounded: 2 } } });
  for (const policy of ['a', 'b', 'c', 'd', 'a']) seen.add({ policy });
  expect(await linesOf(metrics, 'seen_total')).toEqual([
    'seen_total{policy="a",service="runtime"} 2',
    'seen_total{policy="b",service="runtime"} 1',
    'seen_total{policy="other",service="runtime"} 2',
  ]);
});

test('gauges can be set and added to, and histograms observe', async () => {
  const metrics = createMetrics({ service: 'gateway' });
  const open = metrics.gauge({ name: 'open', help: 'Open.', labels: {} });
  open.set({}, 5);
  open.add({}, -2);
  const took = metrics.histogram({
    name: 'took_seconds',
    help: 'Took.',
    labels: { stage: ['request'] },
    buckets: [0.1, 1],
  });
  took.observe({ stage: 'request' }, 0.5);
  expect(await linesOf(metrics, 'open')).toEqual(['open{service="gateway"} 3']);
  expect(await linesOf(metrics, 'took_seconds')).toEqual([
    'took_seconds_bucket{le="0.1",service="gateway",stage="request"} 0',
    'took_seconds_bucket{le="1",service="gateway",stage="request"} 1',
    'took_seconds_bucket{le="+Inf",service="gateway",stage="request"} 1',
    'took_seconds_sum{service="gateway",stage="request"} 0.5',
    'took_seconds_count{service="gateway",stage="request"} 1',
  ]);
});

test('a series adds to its metric with the same guarded labels', async () => {
  const metrics = createMetrics({ service: 'runtime' });
  const seen = metrics.counter({ name: 'seen_total', help: 'Seen.', labels: { policy: { bounded: 1 } } });
  const [first, second] = [seen.series({ policy: 'a' }), seen.series({ policy: 'b' })];
  expect(await linesOf(metrics, 'seen_total')).toEqual([]);
  first.add();
  first.add(2);
  second.add();
  seen.add({ policy: 'a' });
  expect(await linesOf(metrics, 'seen_total')).toEqual([
    'seen_total{policy="a",service="runtime"} 4',
    'seen_total{policy="other",service="runtime"} 1',
  ]);
  first.add();
  expect((await linesOf(metrics, 'seen_total'))[0]).toBe('seen_total{policy="a",service="runtime"} 5');
  const open = metrics.gauge({ name: 'open', help: 'Open.', labels: {} });
  const slots = open.series({});
  slots.add(1);
  slots.add(-1);
  expect(await linesOf(metrics, 'open')).toEqual(['open{service="runtime"} 0']);
  slots.add(3);
  slots.add(-1);
  expect(await linesOf(metrics, 'open')).toEqual(['open{service="runtime"} 2']);
  const took = metrics.histogram({ name: 'took', help: 'Took.', labels: { stage: ['request'] }, buckets: [1] });
  took.series({ stage: 'request' }).observe(0.5);
  expect(await linesOf(metrics, 'took_count')).toEqual(['took_count{service="runtime",stage="request"} 1']);
});

test('each registry is separate, has the default metrics of the process and its content type', async () => {
  const one = createMetrics({ service: 'one' });
  const two = createMetrics({ service: 'two' });
  one.counter({ name: 'same_total', help: 'Same.', labels: {} }).add({});
  expect(await linesOf(two, 'same_total')).toEqual([]);
  expect(await linesOf(two, 'process_cpu_seconds_total')).toHaveLength(1);
  expect(one.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
});

test('describeMetrics lists the declared metrics', () => {
  const metrics = createMetrics({ service: 'runtime' });
  metrics.counter({ name: 'a_total', help: 'A.', labels: { stage: ['request'], policy: { bounded: 3 } } });
  metrics.gauge({ name: 'b', help: 'B.', labels: {} });
  expect(metrics.describeMetrics()).toEqual([
    {
      name: 'a_total',
      type: 'counter',
      help: 'A.',
      labels: [
        { name: 'stage', values: 'request, other' },
        { name: 'policy', values: 'at most 3 values, then other' },
      ],
    },
    { name: 'b', type: 'gauge', help: 'B.', labels: [] },
  ]);
});

test('a metric name that is declared twice is refused', () => {
  const metrics = createMetrics({ service: 'runtime' });
  metrics.gauge({ name: 'a', help: 'A.', labels: {} });
  expect(() => metrics.gauge({ name: 'a', help: 'A.', labels: {} })).toThrow();
});
