import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { RunRing, ringLimits } from './run-ring.ts';

const node = {
  type: 'nodeEnded',
  node: 'n',
  path: 'n',
  kind: 'input',
  outcome: 'ok',
  attempts: 1,
  durationMs: 1,
} as const;

test('the run ring keeps the newest runs, each with its first nodes', () => {
  const ended: string[] = [];
  const ring = new RunRing(createFakeClock(), (code) => ended.push(code));
  for (let count = 1; count <= ringLimits.runs + 1; count += 1) {
    ring.started({ runId: `run-${count}`, traceId: 'trace' });
    if (count === ringLimits.runs) expect(ring.list().at(-1)?.runId).toBe('run-1');
  }
  expect(ring.list().map(({ runId }) => runId)).toHaveLength(ringLimits.runs);
  expect(ring.list().at(-1)?.runId).toBe('run-2');
  for (let count = 1; count <= ringLimits.nodes + 1; count += 1) ring.event('run-2', node);
  ring.ended('run-2', 'none');
  ring.ended('run-1', 'none');
  expect(ring.list().at(-1)).toMatchObject({ code: 'none', durationMs: 0 });
  expect(ring.list().at(-1)?.nodes).toHaveLength(ringLimits.nodes);
  expect(ended).toEqual(['none']);
});
