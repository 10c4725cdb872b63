import { expect, test } from 'vitest';
import { flowText } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { BudgetMeter, fullBudget } from './budget.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';

const question = 'a question of some words';
const maxAttempts = 3;
const text = flowText({
  nodes: [
    {
      id: 'ask',
      kind: 'prompt',
      config: { model: 'm', messages: [{ role: 'user', content: question }] },
      retry: { maxAttempts, backoffMs: 1, on: ['answer_invalid', 'unavailable'] },
    },
  ],
  edges: [
    ['start', 'ask'],
    ['ask', 'end'],
  ],
});

/** Runs the flow with a model. @returns the last event, the calls of the model, and the tokens that the run counts */
async function tokensOf(
  model: FlowPorts['model'],
  modelTokens = 100_000,
  signal?: AbortSignal,
  outputBytes = fullBudget.outputBytes,
) {
  const meter = new BudgetMeter({ ...fullBudget, modelTokens, outputBytes });
  let calls = 0;
  const counted: FlowPorts['model'] = (...of) => {
    calls += 1;
    return model(...of);
  };
  const { last } = await runText(text, { model: counted }, { meter, ...(signal === undefined ? {} : { signal }) });
  return { last, calls, tokens: meter.used().modelTokens };
}

const fails = (code: 'unavailable' | 'answer_invalid') => async (): Promise<never> => {
  throw new PortError(code);
};

test('an answer without usage counts at least the bytes of its texts, and an answer with usage counts its reported tokens', async () => {
  const answer = 'an answer of some words';
  const usage = { promptTokens: 3, completionTokens: 2 };
  expect(await tokensOf(async () => ({ text: answer, usage }))).toMatchObject({ calls: 1, tokens: 5 });
  const none = { promptTokens: 0, completionTokens: 0 };
  expect(await tokensOf(async () => ({ text: answer, usage: none }))).toMatchObject({ calls: 1, tokens: 0 });
  const { last, tokens } = await tokensOf(async () => ({ text: answer }));
  expect(last).toMatchObject({ type: 'result' });
  expect(tokens).toBeGreaterThanOrEqual(question.length + answer.length);
  expect(tokens).toBeLessThan(300);
  expect((await tokensOf(async () => ({ text: answer }), tokens)).last).toMatchObject({ type: 'result' });
  const exceeded = { type: 'failed', code: 'budget_exceeded' };
  expect((await tokensOf(async () => ({ text: answer }), tokens - 1)).last).toMatchObject(exceeded);
});

test('each attempt whose answer cannot be read counts the tokens of its texts, and an attempt that no model accepted counts none', async () => {
  const away = await tokensOf(fails('unavailable'));
  expect(away).toMatchObject({ calls: maxAttempts, tokens: 0, last: { code: 'unavailable' } });
  const invalid = await tokensOf(fails('answer_invalid'));
  expect(invalid).toMatchObject({ calls: maxAttempts, last: { code: 'answer_invalid' } });
  const once = invalid.tokens / maxAttempts;
  expect(once).toBeGreaterThanOrEqual(question.length);
  const twice = await tokensOf(fails('answer_invalid'), 2 * once);
  expect(twice).toMatchObject({ calls: 2, tokens: 2 * once, last: { type: 'failed', code: 'budget_exceeded' } });
});

test('a call that is cancelled while its model runs counts the tokens of its texts', async () => {
  const controller = new AbortController();
  const model: FlowPorts['model'] = (_, { signal }) => {
    controller.abort();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const { last, tokens } = await tokensOf(model, 100_000, controller.signal);
  expect(last).toMatchObject({ type: 'failed', code: 'cancelled' });
  expect(tokens).toBeGreaterThanOrEqual(question.length);
});

test('an answer that exceeds the bytes of its run counts the tokens that it reports, or those of its texts', async () => {
  const answer = 'an answer of some words';
  const usage = { promptTokens: 30, completionTokens: 20 };
  const exceeded = { type: 'failed', code: 'budget_exceeded', message: expect.stringContaining('(bytes)') };
  const reported = await tokensOf(async () => ({ text: answer, usage }), 100_000, undefined, 10);
  expect([reported.last, reported.tokens]).toEqual([expect.objectContaining(exceeded), 50]);
  const { last, tokens } = await tokensOf(async () => ({ text: answer }), 100_000, undefined, 10);
  expect(last).toMatchObject(exceeded);
  expect(tokens).toBeGreaterThanOrEqual(question.length + answer.length);
  expect(await tokensOf(async () => ({ text: answer, usage }))).toMatchObject({ tokens: 50, last: { type: 'result' } });
});

test('of concurrent prompts, only those whose model was called before the run was cancelled count tokens', async () => {
  const ids = ['one', 'two', 'three', 'four'];
  const branches = flowText({
    nodes: [
      { id: 'all', kind: 'parallel', config: { branches: ids, concurrency: ids.length } },
      ...ids.map((id) => ({
        id,
        kind: 'prompt',
        config: { model: 'm', messages: [{ role: 'user', content: question }], parameters: { maxTokens: 100 } },
      })),
    ],
    edges: [
      ['start', 'all'],
      ['all', 'end'],
    ],
  });
  /** Runs the flow and cancels it in the call of this number. @returns the calls and the tokens that the run counts */
  async function cancelledIn(number: number): Promise<readonly [calls: number, tokens: number]> {
    const controller = new AbortController();
    const meter = new BudgetMeter(fullBudget);
    let calls = 0;
    const model: FlowPorts['model'] = (_, { signal }) => {
      calls += 1;
      if (calls === number) controller.abort();
      return new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        else signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const { last } = await runText(branches, { model }, { meter, signal: controller.signal });
    expect(last).toMatchObject({ type: 'failed', code: 'cancelled' });
    return [calls, meter.used().modelTokens];
  }
  const [all, tokens] = await cancelledIn(ids.length);
  expect(all).toBe(ids.length);
  const [first, firstTokens] = await cancelledIn(1);
  expect([first, firstTokens]).toEqual([1, tokens / all]);
});
