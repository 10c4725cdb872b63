import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { randomFrom } from '../../../e2e/support/random-from.ts';
import { loadFlow } from '../loader/load-flow.ts';
import { compareRandomFlow } from '../testing/compare-flow.ts';
import { moodyPorts, tryMutatedFlow } from '../testing/mutate-flow.ts';
import { richFlow } from '../testing/rich-flow.ts';
import { runFlow } from './run-flow.ts';

test('the original of the mutated flows is accepted and completes', async () => {
  const load = loadFlow(stringify(richFlow, { aliasDuplicateObjects: false }));
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  const request = {
    entrypoint: 'main',
    input: { question: 'why?' },
    context: { userId: 'ann' },
    runId: 'r',
    traceId: 't',
  };
  const events = [];
  for await (const event of runFlow(
    load.flow,
    request,
    moodyPorts(() => 'good'),
    new AbortController().signal,
  ))
    events.push(event);
  expect(events.at(-1)).toEqual({ type: 'result', result: { text: 'Answer: hello', data: { answer: 'hello' } } });
  const run = new Set(events.flatMap((event) => (event.type === 'nodeEnded' ? [event.node] : [])));
  expect(richFlow.nodes.map(({ id }) => id).filter((id) => !run.has(id))).toEqual(['stop', 'none']);
});

test('a mutated flow is either refused with line and column, or accepted and then completes or fails with a typed error', async () => {
  const random = randomFrom(15);
  const flows = 400;
  let accepted = 0;
  for (let at = 0; at < flows; at += 1) {
    const end = await tryMutatedFlow(random);
    expect(end.fault).toBeUndefined();
    if (end.accepted) accepted += 1;
  }
  // The test proves little if nearly all flows are refused, or nearly all are accepted.
  expect(accepted / flows).toBeGreaterThan(0.3);
  expect(accepted / flows).toBeLessThan(0.7);
});

test('random flows behave the same in the engine and in the reference interpreter', async () => {
  const ends = new Set<string>();
  for (let seed = 1; seed <= 150; seed += 1) {
    const { difference, end } = await compareRandomFlow(seed, randomFrom(seed));
    expect(difference).toBeUndefined();
    ends.add(end);
  }
  expect(ends.size).toBeGreaterThan(5);
  expect(ends).toContain('result');
});
