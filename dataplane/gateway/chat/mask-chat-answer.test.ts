import { describe, expect, test } from 'vitest';
import { maskChatAnswer } from './mask-chat-answer.ts';
import { readChatAnswer } from './read-chat-answer.ts';

const answer = `{"id":"i","object":"chat.completion","created":1,"model":"up","service_tier":"x","system_fingerprint":"f",
 "usage":{"total_tokens":12345678901234567890},"provider_note":"the secret",
 "choices":[{"index":0,"finish_reason":"stop","logprobs":{"content":[{"token":"secret"}]},
 "message":{"role":"assistant","content":"the secret","refusal":null,"annotations":[{"text":"secret"}],
 "reasoning_content":"about the secret","audio":null,"tool_calls":[{"id":"c","function":{"arguments":"{ }"}}]}}]}`;

function mask(body: string, content: string, structured = false): string | undefined {
  const bytes = Buffer.from(body);
  const read = readChatAnswer(bytes);
  if (read === undefined) throw new Error('not an answer');
  return maskChatAnswer(bytes, read, { content, refusal: read.refusal }, structured)?.toString('utf8');
}

describe('a masked answer', () => {
  test('keeps what cannot repeat the text, byte for byte, and nothing else', () => {
    expect(mask(answer, 'the ***')).toBe(
      '{"id":"i","object":"chat.completion","created":1,"model":"up","service_tier":"x","system_fingerprint":"f",' +
        '"usage":{"total_tokens":12345678901234567890},' +
        '"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",' +
        '"tool_calls":[{"id":"c","function":{"arguments":"{ }"}}],"content":"the ***","refusal":null}}]}',
    );
  });

  test('that was to be JSON and no longer is, is a failure; one that still is, or never was, is not', () => {
    const structured = (content: string): string =>
      JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
    expect(mask(structured('{"a":"secret"}'), '{"a":***', true)).toBeUndefined();
    expect(mask(structured('{"a":"secret"}'), '{"a":"***"}', true)).toContain('***');
    expect(mask(structured('{"a":"secr'), '{"a":"***', true)).toContain('***');
    expect(mask(structured('{"a":"secret"}'), '{"a":***', false)).toContain('***');
  });
});

describe('an answer that cannot be checked', () => {
  const choice = '{"index":0,"message":{"role":"assistant","content":"a"}}';
  test.each([
    ['no JSON', 'hello'],
    ['a repeated key', `{"choices":[${choice}],"choices":[${choice}]}`],
    ['no choice', '{"choices":[]}'],
    ['two choices', `{"choices":[${choice},${choice}]}`],
    ['another index', '{"choices":[{"index":1,"message":{"content":"a"}}]}'],
    ['an error object', `{"error":{"message":"m"},"choices":[${choice}]}`],
    ['choices in another case', `{"Choices":[${choice}],"choices":[${choice}]}`],
    ['content in another case', '{"choices":[{"index":0,"message":{"content":"a","Content":"b"}}]}'],
    ['content in parts', '{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"b"}]}}]}'],
    ['audio', '{"choices":[{"index":0,"message":{"content":null,"audio":{"transcript":"b"}}}]}'],
    ['a delta', '{"choices":[{"index":0,"message":{"content":null},"delta":{"content":"b"}}]}'],
  ])('%s', (_, body) => {
    expect(readChatAnswer(Buffer.from(body))).toBeUndefined();
  });

  test('and one that can be', () => {
    expect(readChatAnswer(Buffer.from(`{"choices":[${choice}],"error":null}`))).toMatchObject({ content: 'a' });
  });
});
