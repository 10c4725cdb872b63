import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunAmounts } from '#contracts/run-usage';
import { flowText } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { BudgetMeter, fullBudget } from './budget.ts';
import type { FlowPorts } from './ports.ts';

const budget = (amount: number) => ({ ...fullBudget, nodes: amount, modelTokens: amount, outputBytes: amount });
const all = (amount: number): RunAmounts => ({ nodes: amount, modelTokens: amount, outputBytes: amount });

test('the only call in flight gets half of the remaining budget, and returns the unused part', () => {
  const meter = new BudgetMeter(budget(100));
  meter.spend('nodes', 10);
  const share = meter.reserve(1);
  expect(share.amounts).toEqual({ ...all(50), nodes: 45 });
  expect(meter.left('nodes')).toBe(45);
  share.report(all(30));
  share.settle();
  expect(meter.used()).toEqual({ ...all(30), nodes: 40 });
});

test('a call without a usage report counts with its whole share', () => {
  const meter = new BudgetMeter(budget(100));
  meter.reserve(1).settle();
  expect(meter.used()).toEqual(all(50));
});

test('concurrent calls get equal shares that together never exceed the budget', () => {
  const meter = new BudgetMeter(budget(100));
  const shares = [1, 2, 3].map(() => meter.reserve(3).amounts.nodes);
  expect(shares).toEqual([25, 25, 25]);
});

test('a share has at least one of each amount', () => {
  expect(new BudgetMeter(budget(5)).reserve(4).amounts).toEqual(all(1));
  expect(() => new BudgetMeter(budget(4)).reserve(4)).toThrow(expect.objectContaining({ code: 'budget_exceeded' }));
});

test('a share includes the tokens that a model call holds, and waits until they are returned', async () => {
  const meter = new BudgetMeter(budget(100));
  const { signal } = new AbortController();
  const held = await meter.holdTokens({ text: 40, answer: 50, among: 2 }, signal);
  let isTaken = false;
  const taking = meter.share(1, signal).then((share) => {
    isTaken = true;
    return share;
  });
  await turn();
  expect(isTaken).toBe(false);
  held.settle();
  expect((await taking).amounts).toEqual(all(50));
});

test('a share does not wait for a model call that leaves enough tokens', async () => {
  const meter = new BudgetMeter(budget(100));
  const { signal } = new AbortController();
  await meter.holdTokens({ text: 10, answer: 40, among: 2 }, signal);
  expect((await meter.share(1, signal)).amounts).toEqual(all(50));
  expect(meter.left('modelTokens')).toBe(0);
});

test.each([
  ['the equal part of its walk', 400_000, 4, 100_000],
  ['at most the largest limit of an author beside its texts', 2_000_000, 4, 1_000 + 131_072],
  ['at least 16,384 tokens beside its texts', 60_000, 4, 1_000 + 16_384],
  ['everything that is left if that is less', 10_000, 4, 10_000],
])('a model call without a limit holds %s', async (_, tokens, among, held) => {
  const meter = new BudgetMeter(budget(tokens));
  const { signal } = new AbortController();
  await meter.holdTokens({ text: 1_000, answer: undefined, among }, signal);
  expect(meter.used().modelTokens).toBe(held);
});

test.each([
  ['nodes', { ...all(7), nodes: 11 }],
  ['model tokens', { ...all(7), modelTokens: 11 }],
  ['bytes', { ...all(7), outputBytes: 11 }],
])('a call that reports more %s than the run has ends the run, and its complete usage is counted', (_what, used) => {
  const meter = new BudgetMeter(budget(10));
  const share = meter.reserve(1);
  share.report(used);
  expect(() => share.settle()).toThrow(expect.objectContaining({ code: 'budget_exceeded' }));
  expect(meter.used()).toEqual(used);
  const whole = new BudgetMeter(budget(10)).reserve(1);
  whole.report(all(10));
  expect(() => whole.settle()).not.toThrow();
});

const ask = { kind: 'agent', inputs: { text: 'hello' }, config: { agentId: '01890a5d-ac96-774b-bcce-b302099a8061' } };
const chain = flowText({
  nodes: [
    { id: 'one', ...ask },
    { id: 'two', ...ask },
  ],
  edges: [
    ['start', 'one'],
    ['one', 'two'],
    ['two', 'end'],
  ],
});
const loop = flowText({
  nodes: [
    {
      id: 'each',
      kind: 'loop',
      inputs: { items: [1, 2, 3, 4] },
      config: { body: 'one', maxIterations: 4, concurrency: 4 },
    },
    { id: 'one', ...ask },
  ],
  edges: [
    ['start', 'each'],
    ['each', 'end'],
  ],
});

/** Runs of a called agent that use this many nodes of their share. */
function agentUsing(nodes: number) {
  const shares: number[] = [];
  const agent: FlowPorts['agent'] = async (_, { share }) => {
    shares.push(share?.amounts.nodes ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    share?.report({ nodes, modelTokens: 1, outputBytes: 1 });
    return { text: 'done' };
  };
  return { shares, agent };
}

// The flow itself uses four nodes: start, one, two, end.
test.each([
  ['14', 14, 'result'],
  ['13', 13, 'failed'],
])('a run of %s nodes with two consecutive calls of five nodes ends with a %s', async (_what, nodes, type) => {
  const { agent, shares } = agentUsing(5);
  const { last } = await runText(chain, { agent }, { budget: { nodes } });
  expect(last?.type).toBe(type);
  // Two nodes were used before the first call, and eight before the second call.
  expect(shares).toEqual([(nodes - 2) / 2, (nodes - 8) / 2].map(Math.floor));
});

test('calls of concurrent turns have equal shares of the run', async () => {
  const { agent, shares } = agentUsing(1);
  const { last } = await runText(loop, { agent }, { budget: { nodes: 102 } });
  expect(last?.type).toBe('result');
  expect(shares.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(102);
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(19);
});
