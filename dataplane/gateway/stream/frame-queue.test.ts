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
  ])('pieces behind one with %s keep their order, and those in front of it are sent', (_, other) => {
    const pieces = calls(1_600).map((one, at) => (at === 800 ? other(at) : one));
    const { beforeEnd, emitted, end } = run([preamble, ...pieces], ['parameters']);
    expect(end).toEqual({ kind: 'finished' });
    expect(sentCalls(beforeEnd)).toEqual(numbers(800));
    expect(sentCalls(emitted)).toEqual(numbers(1_600));
  });

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
