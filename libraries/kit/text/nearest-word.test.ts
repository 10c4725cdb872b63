import { expect, test } from 'vitest';
import { nearestWord } from './nearest-word.ts';

const verbs = ['apply', 'get', 'describe', 'delete', 'status', 'why', 'history'];

test.each([
  ['aply', 'apply'],
  ['appyl', 'apply'],
  ['STATUS', 'status'],
  ['descibre', 'describe'],
  ['statsu', 'status'],
  ['gte', 'get'],
  ['historyy', 'history'],
])('%j is recognized as a misspelt %j', (word, meant) => {
  expect(nearestWord(word, verbs)).toBe(meant);
});

test.each(['', 'x', 'no', 'pods', 'nonsense', 'apply', `${'a'.repeat(64)}apply`])(
  '%j resembles no other verb',
  (word) => {
    expect(nearestWord(word, verbs)).toBeUndefined();
  },
);

test('the nearest of several candidates is found, or the first of equally near ones', () => {
  expect(nearestWord('tests', ['testing', 'test', 'rests'])).toBe('test');
  expect(nearestWord('modelbindng', ['modelbindings', 'modelbinding'])).toBe('modelbinding');
});

test('a word of 64 characters is compared, and a word of 65 characters is not', () => {
  const name = 'n'.repeat(63);
  expect(nearestWord(`${name}m`, [name])).toBe(name);
  expect(nearestWord(`${name}mm`, [`${name}m`])).toBeUndefined();
});
