import fc from 'fast-check';
import { expect, test } from 'vitest';
import { analyse } from './analyse.ts';
import { findTerms } from './find-terms.ts';

const marked = (text: string, query: string, most = 100) =>
  findTerms(text, new Set(analyse(query)), most).map(({ start, end }) => text.slice(start, end));

test.each([
  ['The harbour closes; harbours close.', 'closing harbour', ['harbour', 'closes', 'harbours', 'close']],
  ['Жёлтые ёлки у моря', 'елка', ['ёлки']],
  ['It’s a co\u00adop of Ann', "it's coop", ['It’s', 'co\u00adop']],
  ['Ｆｕｌｌ width', 'full', ['Ｆｕｌｌ']],
  ['😀 harbour', 'harbour', ['harbour']],
  ['nothing here', 'harbour', []],
  ['', 'harbour', []],
  ['harbour', '', []],
] as const)('in %j the words of the query %j are found', (text, query, words) => {
  expect(marked(text, query)).toEqual(words);
});

test('at most the requested number of words is found, beginning with the first word', () => {
  expect(marked('a harbour, b harbour, c harbour', 'harbour', 2)).toEqual(['harbour', 'harbour']);
  expect(marked('a harbour, b harbour', 'harbour', 2)).toEqual(['harbour', 'harbour']);
  expect(findTerms('a harbour', new Set(['harbour']), 0)).toEqual([]);
});

test('in a text of words, exactly the words with a term of the query are found', () => {
  const word = fc.constantFrom('harbour', 'harbours', 'ship', 'море', 'моря', 'x1', '42', 'ёлка');
  fc.assert(
    fc.property(fc.array(word), fc.array(word), fc.constantFrom(' ', ', ', '\n', '-'), (words, query, gap) => {
      const terms = new Set(analyse(query.join(' ')));
      const expected = words.filter((one) => analyse(one).some((term) => terms.has(term)));
      expect(marked(words.join(gap), query.join(' '), words.length)).toEqual(expected);
    }),
  );
});
