import { expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { shareStrings } from './share-strings.ts';

const digest = (fill: string): string => fill.repeat(64);
/** An object as the server sends it: each of its strings is a separate copy. */
const sent = (index: number) => ({
  metadata: { name: `binding-number-${index}`, labels: { 'portcullis.dev/id': digest(String(index % 7)) } },
  status: {
    conditions: [{ reason: 'ReadyAndServing', message: digest('message ') }, null, 3, true],
    digests: [digest('d')],
  },
});

test('sharing strings changes no value of an object', () => {
  for (let index = 0; index < 10_000; index += 1) {
    const object = JSON.parse(JSON.stringify(sent(index)));
    expect(shareStrings(object)).toBe(object);
    if (index % 97 === 0) expect(object).toEqual(sent(index));
  }
});

test('objects with equal strings take less memory than their copies', () => {
  const text = JSON.stringify(Array.from({ length: 200 }, () => digest('message ')));
  const bytesOf = (make: () => object): number => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const held = Array.from({ length: 20 }, make);
    collectGarbage();
    const bytes = process.memoryUsage().heapUsed - before;
    expect(held).toHaveLength(20);
    return bytes;
  };
  const copies = bytesOf(() => JSON.parse(text) as object);
  expect(bytesOf(() => shareStrings(JSON.parse(text) as object))).toBeLessThan(copies / 4);
});
