import { expect, test } from 'vitest';
import { parseTree } from '#kit/json/parse-strict';
import { callItem, messageItem } from '../testing/response-script.ts';
import { readResponsesRequest } from './read-responses-request.ts';

function read(body: object) {
  const rules = { textOnly: true, streaming: 'served', extraKeys: new Set<string>() } as const;
  const result = readResponsesRequest(parseTree(Buffer.from(JSON.stringify({ model: 'm', ...body }))), rules);
  return result.ok ? result.value.units.map(({ content }) => content) : result.refusal;
}

test.each([
  ['a call of a tool', { input: [callItem('{}')] }, 'input[0]'],
  ['tools', { input: 'x', tools: [] }, 'tools'],
  ['a stream', { input: 'x', stream: true }, 'stream'],
  ['an image', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0]'],
])('under an older content profile a request with %s is refused', (_, body, param) => {
  expect(read(body)).toEqual({ code: 'unsupported_for_profile', param });
});

test('under an older content profile instructions and messages of text are read', () => {
  const input = [{ role: 'user', content: 'a' }, messageItem(['b', 'c'])];
  expect(read({ instructions: 'i', input })).toEqual(['i', 'a', 'b c', 'bc']);
});
