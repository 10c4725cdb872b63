import { expect, test } from 'vitest';
import { type SentenceTable, translate } from './translate.ts';

const table: SentenceTable = {
  'the policy {policy} is archived': 'политика {policy} в архиве',
  'the policy {policy} is archived: {cause*}': 'политика {policy} в архиве: {cause}',
  'replicas: {names+}': 'реплики: {names}',
  '{field} {problem*}': '{field}: {problem}',
  '{problem*}, so nothing is served': '{problem}, поэтому ничего не действует',
  'must be one of {values+}': 'нужно одно из {values}',
  'the rule {rule} is {fault*} in {place}': 'в {place} правило {rule}: {fault}',
  'not valid': 'недопустимо',
  wait: 'подождите',
};

/** The text with English parts in brackets. */
function shown(text: string): string {
  return translate(table, text)
    .map((part) => (part.isEnglish ? `[${part.text}]` : part.text))
    .join('');
}

test.each([
  ['a sentence with a name', 'The policy chat is archived.', 'Политика chat в архиве.'],
  ['a clause without a capital and a full stop', 'the policy chat is archived', 'политика chat в архиве'],
  ['a sentence in a sentence', 'The policy chat is archived: wait.', 'Политика chat в архиве: подождите.'],
  ['several sentences', 'Wait. Replicas: a, b. Wait.', 'Подождите. Реплики: a, b. Подождите.'],
  [
    'a sentence with several in it',
    'The policy chat is archived: Wait. Wait.',
    'Политика chat в архиве: Подождите. Подождите.',
  ],
  ['a list of problems', 'a.b must be one of "x", "y"; c not valid', 'a.b: нужно одно из "x", "y"; c: недопустимо'],
  ['the places of a refusal', 'a not valid · b not valid', 'a: недопустимо · b: недопустимо'],
  ['values in another order', 'the rule r is not valid in request', 'в request правило r: недопустимо'],
  ['a clause before its effect', 'wait, so nothing is served', 'подождите, поэтому ничего не действует'],
  ['a name or a code', 'probe_timeout', 'probe_timeout'],
])('the sentence %s is translated', (_name, english, russian) => expect(shown(english)).toBe(russian));

test.each([
  ['an unknown sentence', 'It is so.', '[It is so.]'],
  ['an unknown sentence among others', 'Wait. It is so. Wait.', 'Подождите. [It is so.] Подождите.'],
  ['an unknown cause', 'the policy chat is archived: it is so', 'политика chat в архиве: [it is so]'],
  ['an unknown clause', 'it is so; wait', '[it is so]; подождите'],
  ['a name of several words', 'The policy my chat is archived.', '[The policy my chat is archived.]'],
  ['an unknown problem of a field', 'a.b is so', '[a.b is so]'],
])('the text %s stays English', (_name, english, marked) => expect(shown(english)).toBe(marked));

test('a text of at most 4,096 characters is translated', () => {
  const named = (length: number) => `the policy ${'x'.repeat(length - 'the policy  is archived'.length)} is archived`;
  expect(shown(named(4_096))).toMatch(/^политика x+ в архиве$/);
  expect(shown(named(4_097))).toBe(`[${named(4_097)}]`);
});

test('a text of at most 16 sentences, and a list of at most 50 clauses, is translated', () => {
  expect(shown('Wait. '.repeat(16).trim())).not.toContain('[');
  expect(shown('Wait. '.repeat(17).trim())).toMatch(/^\[/);
  expect(shown(Array(50).fill('wait').join('; '))).not.toContain('[');
  expect(shown(Array(51).fill('wait').join('; '))).toMatch(/^\[/);
});

test('nested texts are translated to the sixth level below the text', () => {
  const nested = (levels: number) => `${'the policy chat is archived: '.repeat(levels)}wait for it`;
  const known = (levels: number) => `${'the policy chat is archived: '.repeat(levels)}wait, so nothing is served`;
  expect(shown(known(5))).not.toContain('[');
  expect(shown(known(6))).toContain('[');
  expect(shown(nested(5))).toContain('[wait for it]');
});
