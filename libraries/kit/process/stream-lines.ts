import type { Readable } from 'node:stream';

/**
 * The lines of a stream in UTF-8 as they arrive, without their line feed; text after the last line feed is a line, too.
 * Only a line feed ends a line: JSON may contain U+2028, which ends a line in `node:readline`.
 */
export async function* streamLines(input: Readable): AsyncGenerator<string, void> {
  let pieces: string[] = [];
  input.setEncoding('utf8');
  for await (const chunk of input as AsyncIterable<string>) {
    const [first = '', ...further] = chunk.split('\n');
    pieces.push(first);
    for (const piece of further) {
      yield pieces.join('');
      pieces = [piece];
    }
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}
