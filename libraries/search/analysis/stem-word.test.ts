import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { stemWord } from './stem-word.ts';

const russianEndings = [
  '',
  'а',
  'ами',
  'ого',
  'ейший',
  'ость',
  'остью',
  'ился',
  'ающиеся',
  'ировать',
  'ешь',
  'ена',
  'ив',
  'ённая',
  'ием',
  'ьями',
];
const russianRoots = [
  'книг',
  'дорог',
  'стран',
  'вид',
  'работ',
  'нов',
  'чита',
  'красив',
  'управлен',
  'област',
  'подъ',
  'вагон',
];
const englishEndings = [
  '',
  's',
  'es',
  'ed',
  'ing',
  'ly',
  'ness',
  'ational',
  'ization',
  'ful',
  'ement',
  'ies',
  "'s",
  'ative',
  'ability',
];
const englishRoots = [
  'book',
  'relat',
  'generous',
  'hop',
  'sky',
  'connect',
  'universit',
  'happi',
  'control',
  'rat',
  'tr',
  'news',
  'inning',
];

const together = (roots: readonly string[], endings: readonly string[]): readonly string[] =>
  roots.flatMap((root) => endings.map((ending) => `${root}${ending}`.replaceAll('ё', 'е')));

describe.skipIf(missingPostgres !== undefined)(onPostgres('stems compared with those of PostgreSQL'), () => {
  test.each([
    ['russian_stem', together(russianRoots, russianEndings)],
    ['english_stem', together(englishRoots, englishEndings)],
  ])('words have the stems of the Snowball dictionary %s', async (dictionary, words) => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const rows = await sql<{ word: string; stem: string }[]>`
      select word, (ts_lexize(${dictionary}::regdictionary, word))[1] as stem
      from unnest(${words as string[]}::text[]) as word`;
    expect(rows.length).toBe(words.length);
    // PostgreSQL gives no stem to stop words.
    const expected = rows.filter(({ stem }) => stem !== null);
    expect(expected.map(({ word }) => `${word} ${stemWord(word)}`)).toEqual(
      expected.map(({ word, stem }) => `${word} ${stem}`),
    );
  });
});
