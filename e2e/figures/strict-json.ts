import { parseStrict } from '#kit/json/parse-strict';
import type { Figure, FigureSize } from '../support/figure.ts';

/** Strict reading may take this multiple of JSON.parse of the same bytes. */
const BOUND = 3;

const PROSE = {
  ascii: 'The quick brown fox jumps over the lazy dog. ',
  cyrillic: 'Съешь ещё этих мягких французских булок. ',
  escaped: 'A line with a "quote"\nand another\n',
} as const;

const SHAPES = [
  { bytes: 2_048, messages: 1 },
  { bytes: 2_048, messages: 8 },
  { bytes: 131_072, messages: 1 },
  { bytes: 131_072, messages: 64 },
] as const;

export const figure: Figure = {
  name: 'strict-json',
  title: `reading a request body strictly takes at most ${BOUND} times as long as JSON.parse`,
  async run(size, say) {
    let worst = 0;
    for (const [name, text] of Object.entries(PROSE)) {
      for (const { bytes, messages } of SHAPES) {
        const { plain, strict } = measure(bodyOf(text, bytes, messages), size);
        worst = Math.max(worst, strict / plain);
        const ratio = (strict / plain).toFixed(2);
        say(
          `${name}, ${bytes} bytes in ${messages}: ${strict.toFixed(1)} us to ${plain.toFixed(1)} us, ratio ${ratio}`,
        );
      }
    }
    return { holds: worst <= BOUND, line: `worst ratio ${worst.toFixed(2)}, at most ${BOUND}` };
  },
};

function bodyOf(text: string, bytes: number, messages: number): Buffer {
  const content = text.repeat(Math.floor(bytes / messages / Buffer.byteLength(text)));
  return Buffer.from(JSON.stringify({ messages: Array.from({ length: messages }, () => ({ role: 'user', content })) }));
}

/** The best of interleaved rounds, in microseconds per read, because other load can only increase the time. */
function measure(body: Buffer, size: FigureSize): { plain: number; strict: number } {
  const readings = Math.ceil(2_000_000 / body.length);
  const plain: number[] = [];
  const strict: number[] = [];
  for (let round = 0; round < (size === 'full' ? 81 : 41); round++) {
    plain.push(time(readings, () => JSON.parse(body.toString())));
    strict.push(time(readings, () => parseStrict(body)));
  }
  return { plain: Math.min(...plain), strict: Math.min(...strict) };
}

function time(readings: number, read: () => unknown): number {
  const start = performance.now();
  for (let reading = 0; reading < readings; reading++) read();
  return ((performance.now() - start) * 1_000) / readings;
}
