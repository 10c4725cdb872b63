import { expect, test } from 'vitest';
import { en } from './en.ts';
import { ru } from './ru.ts';

type Pair = { readonly path: string; readonly english: unknown; readonly russian: unknown };

/** Pairs each English word with the Russian word at the same path. */
function pairsOf(english: unknown, russian: unknown, path = ''): readonly Pair[] {
  if (typeof english !== 'object' || english === null) return [{ path, english, russian }];
  return Object.entries(english).flatMap(([name, value]) =>
    pairsOf(value, (russian as Readonly<Record<string, unknown>>)[name], path === '' ? name : `${path}.${name}`),
  );
}

/** The text, with numbers as the values of its slots. */
function textOf(word: unknown): string {
  if (typeof word !== 'function') return String(word);
  return String(word(...Array.from({ length: word.length }, (_, at) => 91 + at)));
}

const pairs = pairsOf(en, ru);
/** The name of the product, and a text that has values only. */
const names = ['product', 'formPages.rule'];

test('every word of the pages is in Russian, and is not that of the English page', () => {
  expect(pairs.length).toBeGreaterThan(300);
  const left = pairs.filter(
    ({ path, russian }) => !names.includes(path) && !/\p{Script=Cyrillic}/u.test(textOf(russian)),
  );
  expect(left.map(({ path }) => path)).toEqual([]);
  const russian = pairs.filter(({ english }) => /\p{Script=Cyrillic}/u.test(textOf(english)));
  expect(russian.map(({ path }) => path)).toEqual([]);
});

test('a Russian text contains every value of the English text', () => {
  for (const { path, english, russian } of pairs) {
    const valuesOf = (word: unknown): readonly string[] => (textOf(word).match(/\b9\d\b/g) ?? []).toSorted();
    expect([path, valuesOf(russian)]).toEqual([path, valuesOf(english)]);
  }
});
