import { expect, test } from 'vitest';
import { readUsage } from './read-usage.ts';

const read = (value: unknown, parents?: readonly string[]) =>
  readUsage(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), parents);

test('token counts are read from the usage of chats, embeddings and responses', () => {
  expect(read({ id: 'x', usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })).toEqual({
    input: 3,
    output: 4,
  });
  expect(read({ usage: { prompt_tokens: 3 } })).toEqual({ input: 3, output: 0 });
  const usage = { input_tokens: 5, input_tokens_details: { cached_tokens: 1 }, output_tokens: 6 };
  expect(read({ type: 'response.completed', response: { output: ['"usage"'], usage } }, ['response'])).toEqual({
    input: 5,
    output: 6,
  });
});

test.each([
  { usage: null },
  { usage: { prompt_tokens: -1 } },
  { usage: { prompt_tokens: 1.5 } },
  { usage: { prompt_tokens: 1_000_000_001 } },
  { usage: 'text' },
  { choices: [{ usage: { prompt_tokens: 1 } }] },
  { content: '"usage"' },
  '{"usage":{"prompt_tokens":1',
  '{"usage":{"prompt_tokens":01}}',
])('no token count is read from %j', (value) => {
  expect(read(value)).toBeUndefined();
});
