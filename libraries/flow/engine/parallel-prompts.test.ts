import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flowText } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import type { FlowPorts } from './ports.ts';

type Prompt = { readonly maxTokens?: number | undefined };
const promptNode = (id: string, { maxTokens }: Prompt) => ({
  id,
  kind: 'prompt',
  config: {
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    ...(maxTokens === undefined ? {} : { parameters: { maxTokens } }),
  },
});

/** A flow with concurrent branches, each with some prompts one after another. */
function branchesText(
  branches: readonly (readonly Prompt[])[],
  concurrency: number,
  more: readonly object[] = [],
): string {
  const ids = branches.map((prompts, at) => prompts.map((_, turn) => `b${at}_${turn}`));
  const starts = [...ids.map(([first = '']) => first), ...more.map((node) => (node as { id: string }).id)];
  return flowText({
    nodes: [
      { id: 'all', kind: 'parallel', config: { branches: starts, concurrency } },
      ...branches.flatMap((prompts, at) => prompts.map((prompt, turn) => promptNode(ids[at]?.[turn] ?? '', prompt))),
      ...(more as { readonly id: string }[]),
    ],
    edges: [
      ['start', 'all'],
      ['all', 'end'],
      ...ids.flatMap((chain) => chain.slice(1).map((id, at) => [chain[at] ?? '', id] as const)),
    ],
  });
}

/** A model that counts its calls. `usageOf` gets the limit of tokens that was sent. */
function countingModel(usageOf: (limit: number | undefined, call: number) => number) {
  const seen = { calls: 0, used: 0, open: 0, mostOpen: 0, limits: [] as (number | undefined)[] };
  const model: FlowPorts['model'] = async ({ parameters: { maxTokens } }) => {
    const call = seen.calls;
    seen.calls += 1;
    seen.open += 1;
    seen.mostOpen = Math.max(seen.mostOpen, seen.open);
    seen.limits.push(maxTokens);
    for (let turns = 0; turns < 1 + (call % 3); turns += 1) await turn();
    const completionTokens = usageOf(maxTokens, call);
    seen.open -= 1;
    seen.used += completionTokens;
    return { text: 'x', usage: { promptTokens: 0, completionTokens } };
  };
  return { seen, model };
}

const four = (prompt: Prompt) => [[prompt], [prompt], [prompt], [prompt]];
const failed = { type: 'failed', code: 'budget_exceeded' };

test('of four concurrent prompts that may each use the whole budget, each one begins after the previous one', async () => {
  const { seen, model } = countingModel(() => 60);
  const { last } = await runText(branchesText(four({}), 4), { model }, { budget: { modelTokens: 100 } });
  expect(last).toMatchObject(failed);
  expect(seen).toEqual({ calls: 2, used: 120, open: 0, mostOpen: 1, limits: [100, 40] });
});

test('a waiting prompt gets the tokens that earlier prompts did not use', async () => {
  const { seen, model } = countingModel(() => 25);
  const { last } = await runText(branchesText(four({}), 4), { model }, { budget: { modelTokens: 100 } });
  expect(last).toMatchObject({ type: 'result' });
  expect(seen).toMatchObject({ calls: 4, used: 100, limits: [100, 75, 50, 25] });
});

test('a prompt for which no tokens are left ends the run, and its model is not called', async () => {
  const { seen, model } = countingModel(() => 50);
  const { last } = await runText(branchesText(four({}), 4), { model }, { budget: { modelTokens: 100 } });
  expect(last).toMatchObject(failed);
  expect(seen).toMatchObject({ calls: 2, used: 100 });
});

test.each([
  ['with a limit of the author that fits four times', { maxTokens: 100 }, 1_000, 4],
  ['with a limit of the author that fits twice', { maxTokens: 300 }, 900, 2],
  ['without a limit and with a large budget', {}, 2_000_000, 4],
  ['without a limit and with a budget of 100,000 tokens', {}, 100_000, 4],
  ['without a limit and with a budget for three usual answers', {}, 50_000, 3],
])('as many prompts run concurrently as fit into the budget: %s', async (_, prompt, modelTokens, mostOpen) => {
  const { seen, model } = countingModel(() => 1);
  const { last } = await runText(branchesText(four(prompt), 4), { model }, { budget: { modelTokens } });
  expect([last?.type, seen.calls, seen.mostOpen]).toEqual(['result', 4, mostOpen]);
});

test('an answer without a limit may exceed its part as long as all answers together do not exceed the budget', async () => {
  const { seen, model } = countingModel((_, call) => (call === 0 ? 70_000 : 10_000));
  const { last } = await runText(branchesText(four({}), 4), { model }, { budget: { modelTokens: 100_000 } });
  expect(last).toMatchObject({ type: 'result' });
  expect(seen).toMatchObject({ calls: 4, used: 100_000, mostOpen: 4 });
});

test('answers without a limit that exceed their parts and the budget end the run', async () => {
  const { seen, model } = countingModel(() => 30_000);
  const { last } = await runText(branchesText(four({}), 4), { model }, { budget: { modelTokens: 100_000 } });
  expect(last).toMatchObject(failed);
  expect(seen).toMatchObject({ calls: 4, used: 120_000, limits: [undefined, undefined, undefined, undefined] });
});

test('an agent that is called next to a prompt with the whole budget gets its share when the prompt has ended', async () => {
  const { seen, model } = countingModel(() => 40);
  const shares: number[] = [];
  const agent: FlowPorts['agent'] = async (_, { share }) => {
    shares.push(share?.amounts.modelTokens ?? 0);
    share?.report({ nodes: 1, modelTokens: 1, outputBytes: 1 });
    return { text: 'done' };
  };
  const call = {
    id: 'call',
    kind: 'agent',
    inputs: { text: 'hello' },
    config: { agentId: '01890a5d-ac96-774b-bcce-b302099a8061' },
  };
  const { last } = await runText(branchesText([[{}]], 2, [call]), { model, agent }, { budget: { modelTokens: 100 } });
  expect([last?.type, seen.limits, shares]).toEqual(['result', [100], [20]]);
});

test('a run that is aborted while a prompt waits for tokens ends as cancelled', async () => {
  const controller = new AbortController();
  const model: FlowPorts['model'] = () => {
    setImmediate(() => controller.abort());
    return new Promise<never>(() => undefined);
  };
  const { last } = await runText(
    branchesText(four({}), 4),
    { model },
    { budget: { modelTokens: 100 }, signal: controller.signal },
  );
  expect(last).toMatchObject({ type: 'failed', code: 'cancelled' });
});

const limit = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined });
const chain = fc.array(fc.record({ maxTokens: limit }), { minLength: 1, maxLength: 3 });
const cases = fc.record({
  branches: fc.array(chain, { minLength: 2, maxLength: 16 }),
  concurrency: fc.integer({ min: 1, max: 16 }),
  modelTokens: fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 1_000_000 })),
  /** Shares of the limits of their answers that the calls use. */
  shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 48, maxLength: 48 }),
});
/** The largest answer of a usual model without a limit, tokens. */
const ownLimit = 16_384;

test('random concurrent prompts use at most the budget, and only a call that runs alone can exceed it', async () => {
  const ends = new Set<string | undefined>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ branches, concurrency, modelTokens, shares }) => {
      const over: number[] = [];
      const { seen, model } = countingModel((sent = ownLimit, call) => {
        const used = Math.round(sent * (shares[call] ?? 1));
        if (seen.used + used > modelTokens) over.push(seen.open);
        return used;
      });
      const { last } = await runText(branchesText(branches, concurrency), { model }, { budget: { modelTokens } });
      ends.add(last?.type);
      expect(over.length === 0 ? [] : [1]).toEqual(over);
      if (over.length > 0) expect(last).toMatchObject(failed);
      else expect(seen.used).toBeLessThanOrEqual(modelTokens);
    }),
    { numRuns: 150 },
  );
  expect(ends).toEqual(new Set(['result', 'failed']));
});
