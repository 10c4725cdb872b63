import { expect, test } from 'vitest';
import { chainText } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';

const retry = { maxAttempts: 3, backoffMs: 1, on: ['timeout', 'unavailable', 'rate_limited', 'answer_invalid'] };
const parameters = { type: 'object' };
const http = (method: string) => ({ http: { connection: 'shop', method, path: '/orders' }, parameters });
const mcp = { mcp: { server: 'shop', tool: 'order' }, parameters };
const retrieval = { retrieval: { collection: 'manual' } };
const lost = (code: PortError['code'], hadNoEffect: boolean) => async (): Promise<never> => {
  throw new PortError(code, { hadNoEffect });
};

/**
 * Runs a prompt whose model calls the tool once. @returns the number of calls of the tool, and the message that the
 * model got
 */
async function callsOf(kind: object, port: 'http' | 'mcp' | 'retrieval', answer: FlowPorts['http']) {
  const tool = { name: 'act', description: 'Acts.', ...kind };
  const config = { model: 'gpt', messages: [{ role: 'user', content: 'hello' }], tools: [tool], maxTurns: 2 };
  const told: unknown[] = [];
  const model: FlowPorts['model'] = async ({ messages }) => {
    const last = messages.at(-1);
    const usage = { promptTokens: 3, completionTokens: 2 };
    if (last?.role !== 'tool') {
      return { text: '', toolCalls: [{ id: '1', name: 'act', arguments: { query: 'x' } }], usage };
    }
    told.push(JSON.parse(last.content));
    return { text: 'done', toolCalls: [], usage };
  };
  const prompt = { id: 'one', kind: 'prompt', config, retry };
  const { calls } = await runText(chainText([prompt]), { model, [port]: answer });
  return { count: calls.filter((call) => call.port === port).length, told };
}

test.each([
  ['a POST', http('POST'), 'http', 1],
  ['a PATCH', http('PATCH'), 'http', 1],
  ['a GET', http('GET'), 'http', 3],
  ['a PUT', http('PUT'), 'http', 3],
  ['a DELETE', http('DELETE'), 'http', 3],
  ['a tool of an MCP server', mcp, 'mcp', 1],
  ['a search in a collection', retrieval, 'retrieval', 3],
] as const)(
  '%s that the model of a prompt calls is repeated after a lost answer only as its effect allows',
  async (_what, kind, port, count) => {
    for (const code of ['unavailable', 'answer_invalid'] as const) {
      expect(await callsOf(kind, port, lost(code, false))).toEqual({ count, told: [{ error: code }] });
    }
    expect(await callsOf(kind, port, lost('rate_limited', true))).toEqual({
      count: 3,
      told: [{ error: 'rate_limited' }],
    });
  },
);

test('a node that calls a service is retried as its author says, even after a lost answer', async () => {
  const config = { connection: 'shop', method: 'POST', path: '/orders' };
  const node = { id: 'one', kind: 'tool_http', config, retry };
  const { calls, last } = await runText(chainText([node]), { http: lost('unavailable', false) });
  expect([calls.length, last]).toEqual([3, expect.objectContaining({ code: 'unavailable' })]);
});
