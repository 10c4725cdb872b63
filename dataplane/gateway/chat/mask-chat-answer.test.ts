import { describe, expect, test } from 'vitest';
import { maskChatAnswer } from './mask-chat-answer.ts';
import { readChatAnswer } from './read-chat-answer.ts';

const answer = `{"id":"i","object":"chat.completion","created":1,"model":"up","service_tier":"x","system_fingerprint":"f",
 "usage":{"total_tokens":12345678901234567890},"provider_note":"the secret","provider_flag":true,"digits":4111,"moderation":null,
 "choices":[{"index":0,"finish_reason":"stop","logprobs":{"content":[{"token":"secret"}]},"stop_reason":null,
 "message":{"role":"assistant","content":"the secret","refusal":null,"annotations":[{"text":"secret"}],
 "reasoning_content":"about the secret","audio":null,"parsed":{},"images":[{"type":"image_url"}],"tool_calls":[{"id":"c","function":{"arguments":"{ }"}}]}}]}`;

function mask(body: string, content: string, structured = false): string | undefined {
  const bytes = Buffer.from(body);
  const read = readChatAnswer(bytes);
  if (read === undefined) throw new Error('not an answer');
  return maskChatAnswer(
    bytes,
    read,
    { content, refusal: read.refusal, edits: [], judgedMembers: new Set() },
    structured,
  )?.toString('utf8');
}

describe('a masked answer', () => {
  test('a masked answer keeps every member that cannot repeat the text, byte for byte, and drops the others', () => {
    expect(mask(answer, 'the ***')).toBe(
      '{"id":"i","object":"chat.completion","created":1,"model":"up","service_tier":"x","system_fingerprint":"f",' +
        '"usage":{"total_tokens":12345678901234567890},"provider_flag":true,"moderation":null,' +
        '"choices":[{"index":0,"finish_reason":"stop","stop_reason":null,"message":{"role":"assistant",' +
        '"content":"the ***","refusal":null,"audio":null,"parsed":{},"images":[{"type":"image_url"}],' +
        '"tool_calls":[{"id":"c","function":{"arguments":"{ }"}}]}}]}',
    );
  });

  test('a masked answer keeps the members of an answer without text in them', () => {
    const replayed =
      '{"choices":[{"index":0,"logprobs":null,"message":{"role":"assistant","content":"secret","annotations":[]}}]}';
    expect(mask(replayed, '***')).toBe(replayed.replace('secret', '***'));
  });

  test('a mask that breaks the JSON of a structured answer is a failure, and a mask that keeps it valid is not', () => {
    const structured = (content: string): string =>
      JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
    expect(mask(structured('{"a":"secret"}'), '{"a":***', true)).toBeUndefined();
    expect(mask(structured('{"a":"secret"}'), '{"a":"***"}', true)).toContain('***');
    expect(mask(structured('{"a":"secr'), '{"a":"***', true)).toContain('***');
    expect(mask(structured('{"a":"secret"}'), '{"a":***', false)).toContain('***');
  });
});

describe('an answer of a provider', () => {
  const choice = '{"index":0,"message":{"role":"assistant","content":"a"}}';
  test.each([
    ['something other than JSON', 'hello'],
    ['a repeated key', `{"choices":[${choice}],"choices":[${choice}]}`],
    ['no choice', '{"choices":[]}'],
    ['two choices', `{"choices":[${choice},${choice}]}`],
    ['another index', '{"choices":[{"index":1,"message":{"content":"a"}}]}'],
    ['an error object', `{"error":{"message":"m"},"choices":[${choice}]}`],
    ['choices in another case', `{"Choices":[${choice}],"choices":[${choice}]}`],
    ['content in another case', '{"choices":[{"index":0,"message":{"content":"a","Content":"b"}}]}'],
    ['a part that is no object', '{"choices":[{"index":0,"message":{"content":["b"]}}]}'],
    ['a part without a type', '{"choices":[{"index":0,"message":{"content":[{"text":"b"}]}}]}'],
    ['a part of an unknown type', '{"choices":[{"index":0,"message":{"content":[{"type":"output","text":"b"}]}}]}'],
    [
      'a part whose text is no string',
      '{"choices":[{"index":0,"message":{"content":[{"type":"text","text":["b"]}]}}]}',
    ],
    [
      'a part with text in another case',
      '{"choices":[{"index":0,"message":{"content":[{"type":"text","Text":"b"}]}}]}',
    ],
    ['audio', '{"choices":[{"index":0,"message":{"content":null,"audio":{"transcript":"b"}}}]}'],
    ['a delta', '{"choices":[{"index":0,"message":{"content":null},"delta":{"content":"b"}}]}'],
  ])('a chat answer with %s cannot be checked', (_, body) => {
    expect(readChatAnswer(Buffer.from(body))).toBeUndefined();
  });

  test('the parts of a content are one text, and a masked content is a string without the other parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'about the secret' }] },
      { type: 'text', text: 'the sec' },
      { type: 'reference', reference_ids: [1] },
      { type: 'text', text: 'ret' },
    ];
    const body = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
    expect(readChatAnswer(Buffer.from(body))).toMatchObject({ content: 'the secret' });
    expect(mask(body, 'the ***')).toBe('{"choices":[{"index":0,"message":{"role":"assistant","content":"the ***"}}]}');
  });

  test('an answer with one choice and no error can be checked', () => {
    expect(readChatAnswer(Buffer.from(`{"choices":[${choice}],"error":null}`))).toMatchObject({ content: 'a' });
  });
});
