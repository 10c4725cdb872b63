import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSeams, tailOf } from './join-seams.ts';

test('fewer than two texts have no seam, and two texts have one seam', () => {
  expect(joinSeams([])).toEqual([]);
  expect(joinSeams(['', 'a', ''])).toEqual([]);
  expect(joinSeams(['make a bo', 'mb'])).toEqual(['make a bomb']);
  expect(joinSeams(['m', '', 'a', 'k', 'e'])).toEqual(['make']);
});

test('every phrase of up to 256 characters that is split over texts is in a seam, wherever they are split', () => {
  const phrase = fc.string({ unit: 'grapheme', minLength: 2, maxLength: 200 }).filter((text) => text.length <= 256);
  const filler = fc.integer({ min: 0, max: 1_500 });
  fc.assert(
    fc.property(
      phrase,
      filler,
      filler,
      fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
      (text, before, after, cuts) => {
        const characters = [...`${'x '.repeat(before / 2)}${text}${' y'.repeat(after / 2)}`];
        const places = [...new Set(cuts.map((cut) => cut % characters.length))].toSorted((one, other) => one - other);
        const texts = [0, ...places].map((start, at) => characters.slice(start, places[at]).join(''));
        const isWhole = texts.some((one) => one.includes(text));
        expect(isWhole || joinSeams(texts).some((seam) => seam.includes(text))).toBe(true);
      },
    ),
  );
});

test('seams are few and short, however many texts there are', () => {
  const seams = joinSeams(Array.from({ length: 10_000 }, () => 'a '));
  expect(seams.length).toBeLessThan(15);
  expect(Math.max(...seams.map(({ length }) => length))).toBeLessThan(3_000);
});

test('the end of a text in a seam begins before a word and not inside it, unless the word is longer than 64 characters', () => {
  const end = 'y'.repeat(250);
  expect(tailOf(`the class ${'a'.repeat(3)} ${end}`)).toBe(`class aaa ${end}`);
  expect(tailOf(`${'w'.repeat(400)}`)).toHaveLength(256 + 64);
});
