import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadFlow } from '../loader/load-flow.ts';
import { drawFlow } from './draw-flow.ts';
import { markRun } from './mark-run.ts';

function flowOf(name: string) {
  const load = loadFlow(readFileSync(new URL(`../../../examples/agents/${name}/flow.yaml`, import.meta.url), 'utf8'));
  if (!load.ok) throw new Error('the example is invalid');
  return load.flow;
}

test('the graph of a run names the outcome of each node that ran, and shows the others in grey', async () => {
  const flow = flowOf('assistant');
  const [first = '', second = ''] = flow.nodes.keys();
  const marks = markRun(flow, [
    { path: first, outcome: 'ok', durationMs: 1.4 },
    { path: second, outcome: 'guardrail_denied', durationMs: 20 },
    { path: 'absent', outcome: 'ok', durationMs: 3 },
  ]);
  expect([...marks]).toEqual([
    [first, { tone: 'ok', text: 'ok, 1 ms' }],
    [second, { tone: 'failed', text: 'guardrail_denied, 20 ms' }],
  ]);
  const drawn = await drawFlow(flow, marks);
  expect(drawn).toContain('guardrail_denied, 20 ms');
  expect(drawn.match(/fill="#767676"/g)?.length).toBeGreaterThan(0);
  expect(await drawFlow(flow)).not.toContain('#767676');
});

test('a node with several turns has the worst outcome and the sum of the durations', () => {
  const flow = flowOf('assistant');
  const [first = ''] = flow.nodes.keys();
  const turn = (at: number, outcome?: string) => ({ path: `each[${at}]/${first}`, outcome, durationMs: 2 });
  expect(markRun(flow, [turn(0, 'ok'), turn(1)]).get(first)).toEqual({ tone: 'running', text: '… 2 × 4 ms' });
  expect(markRun(flow, [turn(0, 'ok'), turn(1, 'timeout'), turn(2)]).get(first)).toEqual({
    tone: 'failed',
    text: 'timeout, 3 × 6 ms',
  });
});
