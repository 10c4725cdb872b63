import { expect, test } from 'vitest';
import { splitClauses } from './split-clauses.ts';

/** This length exceeds any message: a pattern that takes quadratic time does not end within the time of a test. */
const length = 400_000;

test.each([
  ['blanks', ' ', 'x'],
  ['wide blanks', '\u2028', 'x'],
  ['tabs before a joint', '\t', ' and I like tea'],
  ['dots', '.', 'x'],
  ['dots and quotation marks', '.”', 'x'],
  ['commas', ',', 'x'],
  ['quotation marks', '"', 'x'],
  ['quotation marks before words', '"x ', 'x'],
  ['apostrophes before words', "'x ", 'x'],
  ['quotations in angle quotes', '«x» ', 'x'],
  ['quoted lines', '\n> x', 'x'],
  ['laughter', 'ha', 'x'],
  ['emoticons', ':) ', 'x'],
  ['questions', 'is it, ', '?'],
  ['commas and blanks', ', ', 'x'],
  ['joints', ' and', 'x'],
  ['fences', '\n```\nx', 'x'],
  ['tags without an end', '<ab>', 'x'],
  ['tags in brackets without an end', '[ab] ', 'x'],
  ['ends of tags', '</ab>', 'x'],
  ['headings of memories', '\nMemories:', 'x'],
  ['paragraphs below headings of memories', '\nMemories:\nx\n', 'x'],
  ['requests to translate', '\nhi hi hi translate', 'x'],
  ['lines of a copied dialogue', '\n[10:22] Ann: x', 'x'],
  ['jokes', ' just kidding!', 'x'],
  ['words that deny', ' it is not true that', 'x'],
  ['words that assume', ' suppose, ', 'x'],
  ['blanks behind a joint', 'and ', '  I'],
])('a message that consists only of %s is split into clauses within its time limit', (_what, unit, tail) => {
  const text = `I like tea. a and${' '.repeat(length)}${unit.repeat(length / unit.length)}${tail}`;
  const clauses = splitClauses(text);
  expect(clauses[0]).toMatchObject({ text: 'I like tea', start: 0, end: 10, isQuestion: false });
  expect(clauses.length).toBeGreaterThan(1);
});

test('punctuation ends a sentence only before a blank, and a conjunction begins a clause with or without a comma', () => {
  const textsOf = (text: string) => splitClauses(text).map((clause) => clause.text);
  expect(textsOf('I paid 3.50... really?! "Yes." I did')).toEqual(['I paid 3.50', 'really', 'Yes', 'I did']);
  expect(textsOf('I like tea , and I like bread,  I run and  my cat sleeps:,')).toEqual([
    'I like tea',
    'I like bread',
    'I run',
    'my cat sleeps',
  ]);
});
