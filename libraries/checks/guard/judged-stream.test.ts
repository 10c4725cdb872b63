import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { JudgedStream } from './judged-stream.ts';

type Judge = (text: string) => Promise<'pass' | 'mask'>;

const passes: Judge = async () => 'pass';

/** A stream, and the text that it has released. */
function open(judge: Judge | undefined) {
  const released: string[] = [];
  const stream = new JudgedStream({
    judge,
    refuse: (code) => new Error(code),
    signal: new AbortController().signal,
    onReleased: (text) => void released.push(text),
  });
  return { stream, released };
}

async function addAll(stream: JudgedStream, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) await stream.add(piece);
}

/** A text of characters of all lengths, split between any two units of UTF-16. */
const cutText = fc
  .tuple(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3_000, size: 'max' }),
    fc.array(fc.nat(), { maxLength: 40 }),
  )
  .map(([text, cuts]) => {
    const places = [...new Set(cuts.map((cut) => cut % text.length))].toSorted((one, other) => one - other);
    return { text, pieces: [0, ...places].map((start, at) => text.slice(start, places[at] ?? text.length)) };
  });

test.each([
  ['with', passes],
  ['without', undefined],
] as const)('the sent parts and the last one are the text, however it is split, %s a policy', async (_, judge) => {
  await fc.assert(
    fc.asyncProperty(cutText, async ({ text, pieces }) => {
      const { stream, released } = open(judge);
      await addAll(stream, pieces);
      const last = await stream.finish(text);
      expect(last).not.toBe('');
      expect([...released, last].join('')).toBe(text);
      for (const part of released) expect(part.isWellFormed()).toBe(true);
    }),
  );
});

test('a result that differs from the streamed text is refused', async () => {
  const text = 'a'.repeat(3_000);
  for (const result of [undefined, '', `${text}b`, text.slice(1), `b${text.slice(1)}`]) {
    const { stream } = open(passes);
    await addAll(stream, [text]);
    await expect(stream.finish(result)).rejects.toThrow('output_invalid');
  }
});

test('a streamed text that ends with half of a character is refused', async () => {
  const { stream } = open(passes);
  await addAll(stream, ['a'.repeat(3_000), '\ud83d']);
  await expect(stream.finish(`${'a'.repeat(3_000)}\ud83d`)).rejects.toThrow('output_invalid');
});

test.each([
  ['of many short pieces', () => Array.from({ length: 200_000 }, (_, at) => String(at % 90).padStart(2, '0'))],
  ['of one long piece', () => [Array.from({ length: 2_000_000 }, (_, at) => String(at % 10)).join('')]],
])('a text %s uses no memory once it has been sent', async (_, piecesOf) => {
  const usage = (): number => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const stream = new JudgedStream({
    judge: passes,
    refuse: (code) => new Error(code),
    signal: new AbortController().signal,
    onReleased: () => undefined,
  });
  const before = usage();
  await addAll(stream, piecesOf());
  expect(usage() - before).toBeLessThan(1_000_000);
  expect(stream.hasBegun).toBe(true);
});

test('text that has not been sent is counted with its pieces until its window has passed or masked it', async () => {
  const { stream } = open(passes);
  await addAll(
    stream,
    Array.from({ length: 1_024 }, () => 'a'),
  );
  expect([stream.hasBegun, stream.heldBytes]).toEqual([false, 1_024 * (4 + 128)]);
  await stream.add('a');
  expect(stream.hasBegun).toBe(true);
  expect(stream.heldBytes).toBeLessThan(4 * 512);
  const masked = open(async () => 'mask').stream;
  await addAll(masked, ['a'.repeat(1_024), 'a', 'a'.repeat(100)]);
  expect([masked.hasBegun, masked.heldBytes]).toEqual([false, 0]);
});
