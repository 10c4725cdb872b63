import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeLines } from './decode-lines.ts';

async function decode(chunks: readonly Uint8Array[], maxBytes = 1_000): Promise<readonly string[]> {
  const lines: string[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const line of decodeLines(source, maxBytes)) lines.push(line.toString());
  return lines;
}

test('decoded lines do not depend on chunk boundaries', async () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((one) => `${one}\n`).join(''));
      const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
      const edges = [0, ...at, bytes.length];
      const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
      expect(await decode(chunks)).toEqual(lines);
    }),
    { numRuns: 200 },
  );
});

test('a line stream that ends within a line fails', async () => {
  await expect(decode([Buffer.from('one\ntw')])).rejects.toMatchObject({ code: 'network' });
  expect(await decode([Buffer.from('one\ntwo\n\n')])).toEqual(['one', 'two']);
});

test('a line of the maximum length is decoded and a longer one fails', async () => {
  expect(await decode([Buffer.from(`${'a'.repeat(10)}\n`)], 10)).toEqual(['a'.repeat(10)]);
  await expect(decode([Buffer.from(`${'a'.repeat(11)}\n`)], 10)).rejects.toMatchObject({ code: 'network' });
  await expect(decode([Buffer.from('aaaaaa'), Buffer.from('aaaaa')], 10)).rejects.toMatchObject({ code: 'network' });
});
