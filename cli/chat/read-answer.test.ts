import { describe, expect, test } from 'vitest';
import { verifies } from '../../e2e/support/verifies.ts';
import { type ChatReply, readBuffered, readStream } from './read-answer.ts';

const piece = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const fault = (type: string, code: string) => JSON.stringify({ error: { message: 'words', type, param: null, code } });
const done = 'data: [DONE]\n\n';

async function* cutInto(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7): Promise<ChatReply & { shown: string }> {
  let shown = '';
  const answer = await readStream(cutInto(text, size), (part) => {
    shown += part;
  });
  return { ...answer, shown };
}

describe('reading a streamed answer', () => {
  test('a streamed answer is complete after [DONE], however its bytes are split', async () => {
    const text = `: comment\n\n${piece('Привет, ')}data: {"choices":[]}\r\n\r\n${piece('мир 🌍')}${done}`;
    for (let size = 1; size < 40; size += 1) {
      expect(await read(text, size)).toEqual({ text: 'Привет, мир 🌍', shown: 'Привет, мир 🌍', fault: undefined });
    }
  });

  verifies(
    ['gateway:client:parses-error-events', 'gateway:client:marks-incomplete', 'gateway:client:no-success-from-partial'],
    'a streamed answer with an error event is incomplete and not a success, whatever precedes or follows the event',
    async () => {
      for (const [type, code] of [
        ['guardrail_blocked', 'policy_denied'],
        ['guardrail_error', 'stage_timeout'],
        ['upstream_error', 'upstream_error'],
      ] as const) {
        const answer = await read(`${piece('begun')}data: ${fault(type, code)}\n\n${piece(' more')}${done}`);
        expect(answer).toMatchObject({ text: 'begun', shown: 'begun', fault: { kind: type } });
        expect(answer.fault?.message).toContain('words');
      }
    },
  );

  test.each([
    ['that ends early', piece('begun')],
    ['that ends within an event', `${piece('begun')}data: [DO`],
    ['with an event that is not a chunk', `${piece('begun')}data: {"x":1}\n\n${done}`],
    ['with an event that is not JSON', `${piece('begun')}data: {\n\n${done}`],
    ['that is not UTF-8', `${piece('begun')}\ud800${done}`],
  ])('a streamed answer %s is incomplete', async (_, text) => {
    expect(await read(text)).toMatchObject({ text: 'begun', fault: { kind: 'upstream_error' } });
  });

  test('a streamed answer whose connection breaks is incomplete', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(piece('begun'));
      throw new TypeError('terminated');
    }
    const answer = await readStream(broken(), () => undefined);
    expect(answer).toEqual({ text: 'begun', fault: { kind: 'upstream_error', message: 'the connection broke' } });
  });
});

describe('a buffered answer', () => {
  test('a buffered answer is its content or its error', () => {
    const whole = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'hi', refusal: null } }] });
    expect(readBuffered(200, whole)).toEqual({ text: 'hi', fault: undefined });
    expect(readBuffered(403, fault('guardrail_blocked', 'policy_denied')).fault?.kind).toBe('guardrail_blocked');
    expect(readBuffered(503, fault('guardrail_error', 'overloaded')).fault?.kind).toBe('guardrail_error');
    for (const code of ['message_limit', 'body_too_large', 'too_many_checks']) {
      const { fault: tooLong } = readBuffered(413, fault('invalid_request_error', code));
      expect(tooLong).toEqual({ kind: 'guardrail_error', message: expect.stringContaining(`(${code})`) });
    }
    expect(readBuffered(404, fault('invalid_request_error', 'model_not_found')).fault?.kind).toBe('not_found');
    expect(readBuffered(401, fault('invalid_request_error', 'invalid_api_key')).fault?.kind).toBe('unauthenticated');
    expect(readBuffered(500, whole).fault).toMatchObject({ kind: 'upstream_error' });
    expect(readBuffered(200, '{}').fault).toMatchObject({ kind: 'upstream_error' });
  });
});
