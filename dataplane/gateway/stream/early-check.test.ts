import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { denies, runGuard } from '../testing/run-guard.ts';
import { chunkJson, contentOf, dataEvent, eventsOf } from '../testing/stream-script.ts';

const toolCall = (piece: string): string => chunkJson({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
/** A stream frame without text that has exactly this many bytes. */
const toolFrame = (bytes: number): string => toolCall('x'.repeat(bytes - toolCall('').length));
const bytesOf = (frames: readonly string[]): Uint8Array[] => [
  Buffer.from(frames.map((one) => dataEvent(one)).join('')),
];
const isToolCall = (data: string): boolean => data.includes('"tool_calls":[');

/** The answer text "I will now write the file." and the tool call that writes the file. */
const opening = chunkJson({ content: 'Writing the file for you. ' });

describe('frames without text behind held text', () => {
  test('20,000 tool-call deltas after 26 bytes of text all arrive, most of them before the stream ends', () => {
    const calls = Array.from({ length: 20_000 }, (_, index) => toolCall(`${index},`));
    const stream = [opening, ...calls];
    const result = runGuard(bytesOf([...stream, chunkJson({}, 'tool_calls'), '[DONE]']));
    expect(result.end).toEqual({ kind: 'finished' });
    const events = eventsOf(result.emitted);
    expect(events.filter(isToolCall)).toEqual(calls);
    expect(contentOf(events)).toBe('Writing the file for you. ');
    expect(events.slice(-2)).toEqual([chunkJson({}, 'tool_calls'), '[DONE]']);
    const waiting = runGuard(bytesOf(stream));
    expect(eventsOf(waiting.beforeEnd).filter(isToolCall).length).toBe(20_000);
    expect(contentOf(eventsOf(waiting.beforeEnd))).toBe('');
  });

  test('65,536 bytes of frames without text keep their place, and one byte more is sent before the text', () => {
    const frames = (bytes: number): string[] => [opening, toolFrame(32_768), toolFrame(bytes - 32_768)];
    const end = [chunkJson({}, 'stop'), '[DONE]'];
    const kept = frames(65_536);
    expect(runGuard(bytesOf(kept)).windows).toEqual([]);
    expect(eventsOf(runGuard(bytesOf([...kept, ...end])).emitted)).toEqual([...kept, ...end]);
    const [text = '', ...calls] = frames(65_537);
    const waiting = runGuard(bytesOf([text, ...calls]));
    expect(waiting.windows).toEqual(['Writing the file for you. ']);
    expect(eventsOf(waiting.beforeEnd)).toEqual(calls);
    expect(eventsOf(runGuard(bytesOf([text, ...calls, ...end])).emitted)).toEqual([...calls, text, ...end]);
  });

  test('frames after text that the early check denies are not sent', () => {
    const result = runGuard(bytesOf([chunkJson({ content: 'forbidden' }), toolFrame(70_000)]), denies('forbidden'));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(result.emitted).toBe('');
  });

  test('content and refusal are both checked before later frames are sent', () => {
    const stream = [chunkJson({ content: 'fine' }), chunkJson({ refusal: 'forbidden' }), toolFrame(70_000)];
    const result = runGuard(bytesOf(stream), denies('forbidden'));
    expect(result.windows).toEqual(['fine', 'forbidden']);
    expect(result.emitted).toBe('');
  });

  test('a frame with a finish reason keeps its place, and so does every later frame', () => {
    const stream = [opening, chunkJson({}, 'tool_calls'), toolFrame(70_000), '{"choices":[],"usage":{}}'];
    expect(runGuard(bytesOf(stream)).beforeEnd).toBe('');
    expect(eventsOf(runGuard(bytesOf([...stream, '[DONE]'])).emitted)).toEqual([...stream, '[DONE]']);
  });

  test('frames after half of a surrogate pair are held until the limit of held bytes is reached', () => {
    const half = chunkJson({ content: 'a\ud83d' });
    expect(runGuard(bytesOf([half, toolFrame(70_000)])).beforeEnd).toBe('');
    const result = runGuard(bytesOf([half, ...Array.from({ length: 20 }, () => toolFrame(60_000))]));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'held_too_much' } });
    expect(result.emitted).toBe('');
  });

  test('there is at most one early check for every 65,536 bytes of frames without text', () => {
    const stream = Array.from({ length: 12 }, () => [chunkJson({ content: 'a' }), toolFrame(33_000)]).flat();
    expect(runGuard(bytesOf([...stream, '[DONE]'])).windows).toHaveLength(6);
  });
});

describe('large frames between pieces of text', () => {
  const piece = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', ' ', 'я', '漢'), maxLength: 300, size: 'max' }),
    free: fc.constantFrom(0, 0, 100, 40_000, 70_000),
  });
  const pieces = fc.array(piece, { maxLength: 8, size: 'max' });
  /** Splits a text into frames of at most `length` characters, each followed by a frame without text. */
  const framesOf = (list: readonly { text: string; free: number }[]): string[] =>
    list.flatMap(({ text, free }) => [
      ...(text.match(/[\s\S]{1,40}/gu) ?? []).map((content) => chunkJson({ content })),
      ...(free === 0 ? [] : [toolFrame(Math.max(free, 300))]),
    ]);

  test('large frames in the middle of a text arrive once; texts and other frames each keep their order', () => {
    fc.assert(
      fc.property(pieces, (list) => {
        const frames = framesOf(list);
        const result = runGuard(bytesOf([...frames, chunkJson({}, 'stop'), '[DONE]']));
        expect(result.end).toEqual({ kind: 'finished' });
        const events = eventsOf(result.emitted);
        expect(events.slice(-2)).toEqual([chunkJson({}, 'stop'), '[DONE]']);
        const sent = events.slice(0, -2);
        expect(sent.filter(isToolCall)).toEqual(frames.filter(isToolCall));
        expect(sent.filter((data) => !isToolCall(data))).toEqual(frames.filter((data) => !isToolCall(data)));
      }),
      { numRuns: 150 },
    );
  });

  test('no byte of a phrase of at most 256 bytes is sent, wherever large frames interrupt it', () => {
    const cut = fc.array(fc.nat(255), { maxLength: 3 });
    fc.assert(
      fc.property(pieces, pieces, fc.integer({ min: 1, max: 128 }), cut, (before, after, half, cuts) => {
        const phrase = 'Ж'.repeat(half);
        const edges = [0, ...[...new Set(cuts)].filter((at) => at < half).sort((one, other) => one - other), half];
        const inside = edges.slice(1).map((end, index) => ({ text: phrase.slice(edges[index], end), free: 70_000 }));
        const stream = [...framesOf(before), ...framesOf(inside), ...framesOf(after), '[DONE]'];
        const result = runGuard(bytesOf(stream), denies(phrase));
        expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
        expect(contentOf(eventsOf(result.emitted))).not.toContain('Ж');
      }),
      { numRuns: 150 },
    );
  });
});
