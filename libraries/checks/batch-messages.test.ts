import { describe, expect, test } from 'vitest';
import { batchMessages } from './batch-messages.ts';

describe('batches', () => {
  const messagesOf = (contents: readonly string[]) => contents.map((content) => ({ role: 'user', content }));
  const bodyBytes = (messages: readonly { role: string; content: string }[]): number =>
    Buffer.byteLength(JSON.stringify({ body: { messages: messages.map(({ role, content }) => ({ role, content })) } }));

  test('a batch has at most the messages of one check, in order', () => {
    const batches = batchMessages(messagesOf(['1', '2', '3', '4', '5']), { maxMessages: 2, maxBodyBytes: 1_000 });
    expect(batches.map((batch) => batch.map(({ content }) => content))).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });

  test('a batch has at most the bytes of one check', () => {
    const messages = messagesOf(['й"\n', 'b', 'c']);
    const bytes = bodyBytes(messages);
    expect(batchMessages(messages, { maxMessages: 9, maxBodyBytes: bytes })).toHaveLength(1);
    expect(batchMessages(messages, { maxMessages: 9, maxBodyBytes: bytes - 1 }).map((batch) => batch.length)).toEqual([
      2, 1,
    ]);
  });

  test('an input that is larger than the body of a check is sent as a separate batch', () => {
    const batches = batchMessages(messagesOf(['a', 'x'.repeat(500), 'b']), { maxMessages: 9, maxBodyBytes: 256 });
    expect(batches.map((batch) => batch.length)).toEqual([1, 1, 1]);
  });
});
