import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { snowballStem } from '#kit/text/snowball-stem';
import { compileStems } from './compile-stems.ts';

/** Every word of the documents, and forms of English and Russian words that change more than their end. */
const words = [
  ...new Set(
    [
      ...['README.md', 'ARCHITECTURE.md', 'docs/glossary.md', 'docs/write-a-policy.md'].map((file) =>
        readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'),
      ),
      'skis skies dying lying tying idly gently ugly early only singly ponies capabilities relational possibilities',
      'hopping hoping hoped conditional rationalizations sensibilities trophies happiness adoption generously y yes',
      'взрывчатка взрывчатками бомба бомбами красивейшими делавшийся длинный длиннее пониженного ёлка ёлками его она',
    ]
      .join(' ')
      .toLowerCase()
      .match(/\p{L}{1,50}/gu) ?? [],
  ),
];
const plain = (word: string): string => word.replaceAll('ё', 'е');
const stemOf = (word: string): string => (word.length < 3 ? word : snowballStem(plain(word)));

describe('terms with stems', () => {
  test('the number of words in the stemming test is large enough to be meaningful', () => {
    expect(words.length).toBeGreaterThan(1_500);
  });

  test('a term matches exactly the words that have its stem', () => {
    const byStem = Map.groupBy(words, stemOf);
    for (const [stem, alike] of byStem) {
      const [term] = alike;
      if (term === undefined || stem.length < 3) continue;
      const compiled = compileStems([term]);
      for (const word of alike) expect(compiled.test(Buffer.from(`- ${word}.`)), `${term} ${word}`).toBe(true);
    }
    const compiled = compileStems(['взрывчатка', 'capability', 'die']);
    const found = words.filter((word) => compiled.test(Buffer.from(word)));
    const stems = ['взрывчатка', 'capability', 'die'].map(stemOf);
    expect(found).toEqual(words.filter((word) => stems.includes(stemOf(word))));
  });

  test('the places of stemmed matches are those of the words in the text', () => {
    const text = 'ёЛКАМИ, hopes — bombs! Взрывчатками x';
    const compiled = compileStems(['елка', 'bomb', 'взрывчатка', 'hope']);
    const places = compiled.matches(Buffer.from(text), 10);
    const found = places.map(({ start, end }) => Buffer.from(text).toString('utf8', start, end));
    expect(found).toEqual(['ёЛКАМИ', 'hopes', 'bombs', 'Взрывчатками']);
    expect(compiled.matches(Buffer.from(text), 2)).toEqual(places.slice(0, 2));
    const occurrences = places.flatMap(({ start, end }) => [start, end]);
    expect([...compiled.occurrences(Buffer.from(text))]).toEqual(occurrences);
  });
});
