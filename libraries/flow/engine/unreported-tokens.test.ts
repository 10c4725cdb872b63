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
async function tokensOf(model: FlowPorts['model'], modelTokens = 100_000, signal?: AbortSignal) {
  const meter = new BudgetMeter({ ...fullBudget, modelTokens });
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

test('an answer without usage counts at least the bytes of its texts, and one with usage counts what it reports', async () => {
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

test('each attempt whose answer cannot be read counts the tokens of its texts, and one that no model took counts none', async () => {
  const away = await tokensOf(fails('unavailable'));
  expect(away).toMatchObject({ calls: maxAttempts, tokens: 0, last: { code: 'unavailable' } });
  const invalid = await tokensOf(fails('answer_invalid'));
  expect(invalid).toMatchObject({ calls: maxAttempts, last: { code: 'answer_invalid' } });
  const once = invalid.tokens / maxAttempts;
  expect(once).toBeGreaterThanOrEqual(question.length);
  const twice = await tokensOf(fails('answer_invalid'), 2 * once);
  expect(twice).toMatchObject({ calls: 2, tokens: 2 * once, last: { type: 'failed', code: 'budget_exceeded' } });
});

test('a call that is cancelled while its model works counts the tokens of its texts', async () => {
  const controller = new AbortController();
  const model: FlowPorts['model'] = (_, { signal }) => {
    controller.abort();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const { last, tokens } = await tokensOf(model, 100_000, controller.signal);
  expect(last).toMatchObject({ type: 'failed', code: 'cancelled' });
  expect(tokens).toBeGreaterThanOrEqual(question.length);
});
