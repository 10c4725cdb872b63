import { expect, onTestFinished, test } from 'vitest';
import { openBuiltAgent } from '../testing/built-agent.ts';
import { messageOf } from '../testing/start-agent.ts';

/** A body with this many values and the letters of no name among its commas and brackets. */
function withValues(count: number, bodyOf: (list: readonly number[]) => object): string {
  const around = 1 + (JSON.stringify(bodyOf([])).match(/[{[,]/g) ?? []).length;
  const body = JSON.stringify(bodyOf(Array<number>(count - around + 1).fill(0)));
  expect(1 + (body.match(/[{[,]/g) ?? []).length).toBe(count);
  return body;
}

test.each([
  ['/message:send', (list: readonly number[]) => messageOf({ data: list }), 'conversion: input_invalid'],
  ['/message:stream', (list: readonly number[]) => messageOf({ data: list }), 'conversion: input_invalid'],
  [
    '/mcp',
    (list: readonly number[]) => ({ jsonrpc: '2.0', id: 1, method: 'ping', params: { list } }),
    'files: invalid_request',
  ],
])(
  'a body of %s with more values than the process accepts is refused before its identity is checked',
  async (path, bodyOf, otherwise) => {
    const agent = await openBuiltAgent();
    onTestFinished(() => agent[Symbol.asyncDispose]());
    const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' };
    const accept = 'application/json, text/event-stream';
    const post = async (body: string): Promise<number> => {
      const answer = await fetch(`${agent.url}${path}`, { method: 'POST', headers: { ...headers, accept }, body });
      await answer.text();
      return answer.status;
    };
    expect([await post(withValues(100_001, bodyOf)), agent.refusals, agent.asked()]).toEqual([
      413,
      ['protocol: request_too_large'],
      0,
    ]);
    expect([await post(withValues(100_000, bodyOf)), agent.refusals.slice(1)]).toEqual([400, [otherwise]]);
  },
);
