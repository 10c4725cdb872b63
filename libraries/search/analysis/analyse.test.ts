import { describe, expect, test, vi } from 'vitest';
import { snowballStem } from '#kit/text/snowball-stem';
import { analyse, analyseQuery } from './analyse.ts';

vi.mock('#kit/text/snowball-stem', async (original) => {
  const module = await original<typeof import('#kit/text/snowball-stem')>();
  return { ...module, snowballStem: vi.fn(module.snowballStem) };
});

describe('terms of a text', () => {
  test.each([
    ['forms of a Russian word', 'Книга книги КНИГАМИ', ['книг', 'книг', 'книг']],
    ['forms of an English word', 'Index indexing INDEXED', ['index', 'index', 'index']],
    ['ё and е, composed or not', 'Берёза береза бере\u0308за', ['берез', 'берез', 'берез']],
    ['й that is written as two code points', 'Йод и\u0306од', ['йод', 'йод']],
    ['a word with an accent of stress', 'за\u0301мок', ['замок']],
    ['a word with a soft hyphen', 'доку\u00adмент', ['документ']],
    ['both apostrophes', "company's company’s", ['compani', 'compani']],
    ['full-width letters and ligatures', 'ＡＢＣ ﬁnd', ['abc', 'find']],
    ['a name with digits', 'ГОСТ-2024, RFC8693', ['гост', '2024', 'rfc8693']],
    ['words of other scripts', 'Ελλάδα', ['ελλάδα']],
    ['words of two scripts', 'wi-fi сеть', ['wi', 'fi', 'сет']],
    ['signs, spaces and nothing', ' — … \n', []],
    ['names of members of every object', 'constructor __proto__', ['constructor', 'proto']],
  ])('text analysis finds the expected terms in %s', (_what, text, terms) => {
    expect(analyseQuery(text)).toEqual(terms);
    expect(analyse(text)).toEqual(terms);
  });

  test('the stem of a word is stored for a text, and never for a query', () => {
    const stemmed = (word: string): number =>
      vi.mocked(snowballStem).mock.calls.filter(([given]) => given === word).length;
    for (let at = 0; at < 3; at += 1) expect(analyseQuery('lighthouses')).toEqual(['lighthous']);
    expect(stemmed('lighthouses')).toBe(3);
    for (let at = 0; at < 3; at += 1) expect(analyse('lighthouses')).toEqual(['lighthous']);
    expect(stemmed('lighthouses')).toBe(4);
  });

  test('a run of letters longer than a term is divided, and the joined terms equal it', () => {
    expect(analyse('ж'.repeat(128))).toEqual(['ж'.repeat(128)]);
    expect(analyse('ж'.repeat(129))).toEqual(['ж'.repeat(128), 'ж']);
    expect(analyse('y'.repeat(50_000)).join('')).toBe('y'.repeat(50_000));
  });

  test('a word of 40 letters is stemmed, and a longer one stays unchanged', () => {
    expect(analyse(`${'a'.repeat(37)}ing`)).toEqual(['a'.repeat(37)]);
    expect(analyse(`${'a'.repeat(38)}ing`)).toEqual([`${'a'.repeat(38)}ing`]);
  });

  test('a stem is the same from the cache, and after more words than the cache keeps', () => {
    const first = analyse('словарями dictionaries');
    expect(analyse('словарями dictionaries')).toEqual(first);
    for (let at = 0; at < 50_001; at += 1) analyse(`w${at}`);
    expect(analyse('словарями dictionaries')).toEqual(first);
  });
});
