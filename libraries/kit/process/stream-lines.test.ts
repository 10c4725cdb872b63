import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { streamLines } from './stream-lines.ts';

const lines = (...chunks: readonly Buffer[]): Promise<string[]> => Array.fromAsync(streamLines(Readable.from(chunks)));

test('lines that arrive in pieces, several at once and without a final line feed are each read once', async () => {
  const bytes = Buffer.from('one\nдва\n\nfour');
  const whole = ['one', 'два', '', 'four'];
  expect(await lines(bytes)).toEqual(whole);
  expect(await lines(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole);
  expect(await lines(Buffer.from('one\n'))).toEqual(['one']);
  expect(await lines()).toEqual([]);
});

test('only a line feed ends a line', async () => {
  const text = 'a\u2028b\u2029c\rd\u0085e';
  expect(await lines(Buffer.from(`${text}\n`))).toEqual([text]);
});
