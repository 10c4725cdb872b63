import { expect, test } from 'vitest';
import { sentencesRu } from './sentences-ru.ts';

const sentences = Object.entries(sentencesRu);
const slotsOf = (text: string): readonly string[] =>
  [...text.matchAll(/\{([a-z]+)[+*]?\}/g)].map(([, name = '']) => name);
/**
 * A command is the same in every language. Instead of the text of the parser, the page has a sentence for the code of
 * its error.
 */
const isSame = (english: string): boolean => /portcullis reapply|^advertised_capability/.test(english);
const leftOut = ['detail'];

test('every Russian sentence is in Cyrillic and has every value of its English sentence', () => {
  expect(sentences.length).toBeGreaterThan(500);
  for (const [english, russian] of sentences) {
    const hasOwnWords = english.replaceAll(/\{[a-z]+[+*]?\}/g, '').match(/[a-z]{2}/i) !== null;
    if (hasOwnWords && !isSame(english))
      expect([english, /\p{Script=Cyrillic}/u.test(russian)]).toEqual([english, true]);
    const wanted = slotsOf(english).filter((name) => !leftOut.includes(name));
    expect([english, [...slotsOf(russian)].sort()]).toEqual([english, [...wanted].sort()]);
  }
});

test('a sentence has neither a full stop nor two slots without text between them', () => {
  for (const [english, russian] of sentences) {
    expect([english, /[^ .]\.$/.test(english) || /[^ .]\.$/.test(russian)]).toEqual([english, false]);
    expect([english, /\}\{/.test(english)]).toEqual([english, false]);
    const names = slotsOf(english);
    expect([english, new Set(names).size]).toEqual([english, names.length]);
  }
});
