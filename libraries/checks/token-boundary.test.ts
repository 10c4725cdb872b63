import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { characterStart, chooseWindowEnd, nextCharacterStart } from './token-boundary.ts';

/** Shows where a window ends, given the range from `lowest` to `highest`: returns the text before the end. */
function ending(text: string, lowest: number, highest: number, overlap = 0): string {
  const bytes = Buffer.from(text);
  return bytes.toString('utf8', 0, chooseWindowEnd(bytes, lowest, highest, overlap));
}

describe('the end of a window', () => {
  test.each<[string, string, number, number, string]>([
    ['is the last place between words', 'one two three', 1, 10, 'one two '],
    ['can be before a space', 'one two three', 1, 7, 'one two'],
    ['cuts no Cyrillic word', 'один два', 1, 12, 'один '],
    ['cuts no letter from its marks', 'x e\u0301', 1, 3, 'x '],
    ['keeps digits and underscores together', 'a b_1 c', 1, 4, 'a '],
    ['can be between punctuation marks', 'a。。b', 1, 4, 'a。'],
    ['is the highest place where every one cuts', 'abcdefgh', 2, 6, 'abcdef'],
  ])('the end of a streaming window %s', (_, text, lowest, highest, expected) => {
    expect(ending(text, lowest, highest)).toBe(expected);
  });

  test('the end of a window is chosen so that the next window also begins between words, if possible', () => {
    expect(ending('aa bb cc dd', 4, 9, 3)).toBe('aa bb cc ');
    expect(ending('aaaa bb cc dd', 6, 11, 5)).toBe('aaaa bb cc');
    expect(ending('aaaaaaaaa bb cc', 10, 13, 8)).toBe('aaaaaaaaa bb ');
  });

  test('the end of a window is a character boundary within its range', () => {
    const characters = fc.array(fc.constantFrom('a', ' ', 'я', '漢', '😀', '\u0301'), {
      minLength: 80,
      maxLength: 200,
    });
    fc.assert(
      fc.property(characters, fc.nat(60), (list, width) => {
        const bytes = Buffer.from(list.join(''));
        const highest = characterStart(bytes, bytes.length - 1);
        const lowest = Math.max(1, highest - width);
        const end = chooseWindowEnd(bytes, lowest, highest, 20);
        expect(end).toBeGreaterThanOrEqual(lowest);
        expect(end).toBeLessThanOrEqual(highest);
        expect(characterStart(bytes, end)).toBe(end);
      }),
    );
  });
});

test('character boundaries of a window are those of UTF-8', () => {
  const bytes = Buffer.from('a😀я');
  expect([0, 1, 2, 4, 5, 6, 7].map((at) => characterStart(bytes, at))).toEqual([0, 1, 1, 1, 5, 5, 7]);
  expect([-1, 0, 1, 2, 5, 6, 7].map((at) => nextCharacterStart(bytes, at))).toEqual([0, 0, 1, 5, 5, 7, 7]);
});
