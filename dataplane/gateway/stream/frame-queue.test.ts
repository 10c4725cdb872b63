import { describe, expect, test } from 'vitest';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { denies, runGuard } from '../testing/run-guard.ts';

const judging = (...judged: readonly JudgedTextKind[]) => ({
  judged: new Set(judged),
  refuseUnjudged: false,
  limits: { maxMessages: 32, maxBodyBytes: 32_768 },
});
const frame = (delta: object, rest: object = {}, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...rest })}\n\n`;
const done = 'data: [DONE]\n\n';
const finish = frame({}, {}, 'stop');
/**
 * Runs a stream of frames with its end. `beforeEnd`: the frames that were sent before the end of the stream arrived.
 */
function run(frames: readonly string[], judged: readonly JudgedTextKind[], phrase = '\u0000', end = finish) {
  const guarded = (text: string) => runGuard([Buffer.from(text)], denies(phrase), judging(...judged));
  return { ...guarded(frames.join('') + end + done), beforeEnd: guarded(frames.join('')).beforeEnd };
}

const call = (at: number, rest: object = {}): string =>
  frame({ tool_calls: [{ index: 0, function: { arguments: `${at} ` } }] }, rest);
const calls = (count: number, rest: object = {}): readonly string[] =>
  Array.from({ length: count }, (_, at) => call(at, rest));
/** The numbers of the pieces of the call that were sent, in their order. */
const sentCalls = (emitted: string): readonly number[] =>
  [...emitted.matchAll(/"arguments":"(\d+) "/g)].map(([, at]) => Number(at));
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

describe('pieces of a call that is not judged, behind a short text', () => {
  const preamble = frame({ content: 'Let me check' });

  test('pieces with an unknown key are sent in their order while the stream runs', () => {
    const pieces = calls(1_200, { token_ids: null });
    const { beforeEnd, emitted, end } = run([preamble, ...pieces], ['parameters']);
    expect(end).toEqual({ kind: 'finished' });
    expect(sentCalls(beforeEnd).length).toBeGreaterThan(500);
    expect(sentCalls(emitted)).toEqual(numbers(1_200));
  });

  test('a piece with other keys than those around it is sent in its place', () => {
    const pieces = calls(1_200).map((one, at) => (at === 300 ? call(at, { matched_stop: null }) : one));
    expect(sentCalls(run([preamble, ...pieces], ['parameters']).emitted)).toEqual(numbers(1_200));
  });

  test.each<[string, (at: number) => string]>([
    ['a text of the provider', (at) => call(at, { note: 'a text' })],
    ['content', (at) => frame({ content: 'and', tool_calls: [{ index: 0, function: { arguments: `${at} ` } }] })],
  ])(
    'up to 65,536 bytes of pieces behind one with %s keep their order, and those in front of it are sent',
    (_, other) => {
      const pieces = calls(2_400).map((one, at) => (at === 800 ? other(at) : one));
      let bytes = 0;
      const behind = pieces.slice(801).findIndex((one) => {
        bytes += one.length - 'data: \n\n'.length;
        return bytes > 65_536;
      });
      const kept = run([preamble, ...pieces.slice(0, 801 + behind)], ['parameters']);
      expect(sentCalls(kept.beforeEnd)).toEqual(numbers(800));
      expect(sentCalls(kept.emitted)).toEqual(numbers(801 + behind));
      expect(kept.emitted).toContain(other(800));
      const divided = run([preamble, ...pieces.slice(0, 802 + behind)], ['parameters']);
      expect(divided.end).toEqual({ kind: 'finished' });
      expect(sentCalls(divided.beforeEnd)).toEqual(numbers(802 + behind));
      expect(sentCalls(run([preamble, ...pieces], ['parameters']).emitted)).toEqual(numbers(2_400));
    },
  );

  test('pieces of a reasoning that is not judged keep their order, too', () => {
    const pieces = numbers(1_600).map((at) =>
      frame({ reasoning_content: `${at}. ` }, at === 400 ? { note: 'a text' } : {}),
    );
    const { emitted } = run([preamble, ...pieces], ['parameters']);
    expect([...emitted.matchAll(/"(\d+)\. "/g)].map(([, at]) => Number(at))).toEqual(numbers(1_600));
  });

  test('a frame with the usage that follows a finish reason with a value of the provider stays after it', () => {
    const rest = { provider: 'a provider' };
    const last = frame({}, rest, 'tool_calls') + frame({ content: '' }, { ...rest, usage: { total_tokens: 1 } });
    const { emitted, end } = run([preamble, ...calls(600, rest)], ['parameters'], undefined, last);
    expect(end).toEqual({ kind: 'finished' });
    expect(emitted.endsWith(last + done)).toBe(true);
  });
});

describe('a first piece of a call in one frame with text that is held', () => {
  const first = (text: string): string =>
    frame(
      {
        role: 'assistant',
        content: text,
        tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '0 ' } }],
      },
      { id: 'chatcmpl-1', object: 'chat.completion.chunk', usage: { total_tokens: 3 }, x_note: 'a' },
    );
  const pieces = Array.from({ length: 30_000 }, (_, at) => call(at + 1));
  const read = (emitted: string) =>
    emitted
      .split('\n\n')
      .filter((one) => one.startsWith('data: {'))
      .map((one) => JSON.parse(one.slice('data: '.length)) as { choices: { delta: Record<string, unknown> }[] });

  test.each<[string, readonly JudgedTextKind[]]>([
    ['no further text', []],
    ['parameters', ['parameters']],
    ['reasoning', ['reasoning']],
  ])(
    'a call of more than 1 MiB is sent while the stream runs, and the text at its end, where the binding judges %s',
    (_, judged) => {
      const { beforeEnd, emitted, end } = run([first('Let me check'), ...pieces], judged);
      expect(end).toEqual({ kind: 'finished' });
      expect(sentCalls(beforeEnd).length).toBeGreaterThan(29_000);
      expect(sentCalls(emitted)).toEqual(numbers(30_001));
      const frames = read(emitted);
      const texts = frames.filter(({ choices }) => choices[0]?.delta['content'] !== undefined);
      expect(texts).toEqual([
        {
          id: 'chatcmpl-1',
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: { role: 'assistant', content: 'Let me check' }, finish_reason: null }],
          usage: { total_tokens: 3 },
          x_note: 'a',
        },
      ]);
      expect(frames[0]).toEqual({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '0 ' } }] },
            finish_reason: null,
          },
        ],
      });
      expect(emitted.endsWith(finish + done)).toBe(true);
    },
  );

  test('a reasoning that is not judged is sent in the same way', () => {
    const thought = (at: number, more: object = {}) => frame({ ...more, reasoning_content: `${at}. ` });
    const thoughts = Array.from({ length: 30_000 }, (_, at) =>
      thought(at, at === 0 ? { content: 'Let me check' } : {}),
    );
    const { emitted, end } = run(thoughts, []);
    expect(end).toEqual({ kind: 'finished' });
    expect([...emitted.matchAll(/"(\d+)\. "/g)].map(([, at]) => Number(at))).toEqual(numbers(30_000));
  });

  test('no piece of a call is sent before the text of its frame has passed a check', () => {
    const { emitted, end } = run([first('Let me check'), ...pieces], ['parameters'], 'Let me');
    expect([emitted, end]).toEqual(['', { kind: 'stopped', stop: { kind: 'denied' } }]);
  });

  test('no text of a member that the API does not set is sent with a piece of a call', () => {
    const secret = frame(
      { content: 'Let me check', tool_calls: [{ index: 0, function: { arguments: '0 ' } }] },
      { id: 'a secret id', system_fingerprint: { a: 'secret' }, x_note: 'a secret', choices: undefined },
    );
    const data = JSON.parse(secret.slice('data: '.length)) as object;
    const choices = [
      {
        index: 0,
        delta: { content: 'Let me check', tool_calls: [{ index: 0, function: { arguments: '0 ' } }] },
        logprobs: { content: [{ token: 'secret' }] },
        finish_reason: null,
      },
    ];
    const written = `data: ${JSON.stringify({ ...data, choices })}\n\n`;
    const { beforeEnd, end } = run([written, ...pieces], ['parameters']);
    expect(end).toEqual({ kind: 'finished' });
    expect(sentCalls(beforeEnd).length).toBeGreaterThan(29_000);
    expect(beforeEnd).not.toContain('secret');
  });
});

describe('a value of the provider in each frame', () => {
  const rest = { provider: 'a provider' };
  const words = (count: number, more: object = rest): readonly string[] =>
    Array.from({ length: count }, () => frame({ content: 'word ' }, more));
  const thoughts = Array.from({ length: 100 }, () =>
    frame({ reasoning_content: 'a thought of 30 bytes of text ' }, rest),
  );
  const sentWords = (emitted: string): number => emitted.split('word ').length - 1;

  test('content is sent before the tail of a reasoning although both have the value in their frames', () => {
    const judged = ['reasoning', 'parameters'] as const;
    const { beforeEnd, emitted, end } = run([...thoughts, ...words(1_000)], judged);
    expect(end).toEqual({ kind: 'finished' });
    expect(sentWords(beforeEnd)).toBe(sentWords(run([...thoughts, ...words(1_000, {})], judged).beforeEnd));
    expect(sentWords(beforeEnd)).toBeGreaterThan(700);
    expect(sentWords(emitted)).toBe(1_000);
  });

  test('content with another value of the member waits for the frames with the value before', () => {
    const { beforeEnd } = run([...thoughts, ...words(1_000, { provider: 'other' })], ['reasoning', 'parameters']);
    expect(sentWords(beforeEnd)).toBe(0);
  });

  test('a call is sent after a short text while the stream runs, in its order and without more than may be held', () => {
    const frames = [frame({ content: 'Let me check' }, rest), ...calls(60_000, rest)];
    const { beforeEnd, emitted, end } = run(frames, ['parameters']);
    expect(end).toEqual({ kind: 'finished' });
    expect(sentCalls(beforeEnd).length).toBeGreaterThan(59_000);
    expect(sentCalls(emitted)).toEqual(numbers(60_000));
  });

  test('a call that follows a short text is sent only after the text has passed', () => {
    const frames = [frame({ content: 'Let me check' }, rest), ...calls(1_000, rest)];
    expect(run(frames, ['parameters'], 'Let me')).toMatchObject({ emitted: '', end: { stop: { kind: 'denied' } } });
  });
});
