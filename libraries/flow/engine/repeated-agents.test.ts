import { afterEach, expect, test, vi } from 'vitest';
import { chainText, flowId } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';

const retry = {
  maxAttempts: 3,
  backoffMs: 1,
  on: ['timeout', 'unavailable', 'rate_limited', 'answer_invalid'],
};
const node = { id: 'one', kind: 'agent', inputs: { text: 'hello' }, config: { agentId: flowId }, retry };
const usage = { promptTokens: 3, completionTokens: 2 };

afterEach(() => {
  vi.useRealTimers();
});

const failing =
  (code: PortError['code'], hadNoEffect: boolean): FlowPorts['agent'] =>
  async () => {
    throw new PortError(code, { hadNoEffect });
  };

test.each(['unavailable', 'rate_limited', 'answer_invalid'] as const)(
  'a call of an agent that ends with %s is repeated only if it has started no run',
  async (code) => {
    const refused = await runText(chainText([node]), { agent: failing(code, true) });
    expect([refused.calls.length, refused.last]).toEqual([3, expect.objectContaining({ code })]);
    const ran = await runText(chainText([node]), { agent: failing(code, false) });
    expect([ran.calls.length, ran.last]).toEqual([1, expect.objectContaining({ code })]);
  },
);

test('a call of an agent whose answer has another shape is not repeated, because the agent has run', async () => {
  const { calls, last } = await runText(chainText([node]), { agent: async () => 7 as never });
  expect([calls.length, last]).toEqual([1, expect.objectContaining({ code: 'answer_invalid' })]);
});

test('a call of an agent that takes longer than its time is not repeated', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ended = runText(chainText([{ ...node, timeoutMs: 1_000 }]), { agent: () => new Promise(() => undefined) });
  await vi.runAllTimersAsync();
  const { calls, last } = await ended;
  expect([calls.length, last]).toEqual([1, expect.objectContaining({ code: 'timeout' })]);
});

test.each([
  [true, 3],
  [false, 1],
])('an agent as a tool of a prompt whose call had no effect (%s) is called %i times', async (hadNoEffect, times) => {
  const tool = { name: 'helper', description: 'Helps.', agent: { agentId: flowId } };
  const config = { model: 'gpt', messages: [{ role: 'user', content: 'hello' }], tools: [tool], maxTurns: 2 };
  let turn = 0;
  const model: FlowPorts['model'] = async () => {
    turn += 1;
    const call = { id: '1', name: 'helper', arguments: { message: 'hello' } };
    return { text: 'done', toolCalls: turn === 1 ? [call] : [], usage };
  };
  const prompt = { id: 'one', kind: 'prompt', config, retry };
  const { calls } = await runText(chainText([prompt]), { model, agent: failing('unavailable', hadNoEffect) });
  expect(calls.filter(({ port }) => port === 'agent')).toHaveLength(times);
});
