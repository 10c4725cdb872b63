import { expect, test } from 'vitest';
import { parseTree } from '#kit/json/parse-tree';
import { estimateUsage, eventTextBytes, requestTextBytes } from './estimate-tokens.ts';

test('tokens of a stream without a usage report are estimated as one for 4 bytes of text, rounded up', () => {
  expect(estimateUsage({ input: 4, output: 0 })).toEqual({ input: 1, output: 0, isEstimated: true });
  expect(estimateUsage({ input: 5, output: 8 })).toEqual({ input: 2, output: 2, isEstimated: true });
});

test('the texts of a request count with their bytes, and base64 files do not count', () => {
  const bytesOf = (request: object) => requestTextBytes(parseTree(Buffer.from(JSON.stringify(request))));
  const file = 'A'.repeat(4_096);
  const messages = [
    { content: 'приве' },
    {
      content: [{ text: 'abc' }, { image_url: { url: 'data:image/png;base64,AAAA' } }, { input_audio: { data: file } }],
    },
  ];
  expect(bytesOf({ messages, temperature: 0.5, stream: true })).toBe(13);
  expect(bytesOf({ messages: [{ content: 'word '.repeat(1_000) }] })).toBe(5_000);
  expect(bytesOf({ text: 'A'.repeat(1_023) })).toBe(1_023);
  expect(bytesOf({ text: 'A'.repeat(1_024) })).toBe(0);
  expect(bytesOf({ text: `${file} and words` })).toBe(4_106);
  expect(bytesOf({ text: 'data: these are words' })).toBe(21);
});

test('an event of a stream adds the texts of its delta, for chats and for the Responses API', () => {
  const delta = {
    role: 'assistant',
    content: 'ab',
    reasoning: 'cd',
    tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: { name: 'f', arguments: '{"a"' } }],
  };
  expect(eventTextBytes({ id: 'c', choices: [{ index: 0, delta, finish_reason: 'stop' }] })).toBe(9);
  expect(eventTextBytes({ type: 'response.output_text.delta', item_id: 'i', delta: 'ё' })).toBe(2);
  expect(eventTextBytes({ choices: [], usage: { total_tokens: 3 } })).toBe(0);
  expect(eventTextBytes('text')).toBe(0);
});
