import { expect, test } from 'vitest';
import { extractFacts } from './extract-facts.ts';
import { readQuotedFact } from './quoted-fact.ts';

const saidAt = new Date('2026-05-04T10:00:00Z');
const factsOf = (content: string) => extractFacts({ role: 'user', content, saidAt }, 0).map(({ text }) => text);

test.each([
  "It's not true that I live in Madrid.",
  'It is false that I am a doctor.',
  'I dreamt that I live in Madrid.',
  'I pretended I am a doctor.',
  'I lied when I said I live in Madrid.',
  'I never said that I live in Madrid.',
  'Nobody believes I live in Madrid.',
  'Everybody assumes I am a doctor.',
  'Suppose, I live in Madrid.',
  "It isn't true that I live in Madrid.",
  "I'm not sure whether I am allergic to nuts.",
  'It seems I live in Madrid.',
  'Neither I nor my wife live in Madrid.',
  "Don't remember that I love tea.",
  'Please do not store that I moved to Porto.',
  'I live in Madrid. Just kidding!',
  'I live in Madrid.\nJust kidding.',
  'I live in Madrid, just kidding',
  'I live in Madrid lol jk',
  'I moved to Porto. Not!',
  'Кажется, я живу в Мадриде.',
  'Я не уверен, что живу в Мадриде.',
  'Не запоминай, что я живу в Мадриде.',
  'Я живу в Мадриде. Шучу!',
  'It was a joke that I moved to Porto.',
  'Nobody believes I moved to Porto.',
  'Неправда, что я живу в Мадриде.',
  'Неправда, что я переехал в Порту.',
  'Мне приснилось, что я живу в Мадриде.',
  'Я соврал, что я врач.',
  'Я не говорил, что живу в Мадриде.',
  'Ты думаешь, я живу в Мадриде.',
  'Все думают, что я живу в Мадриде.',
  'Допустим, я живу в Мадриде.',
])('a statement that its writer retracts is not a fact: %s', (content) => {
  expect(factsOf(content)).toEqual([]);
});

test.each([
  ['It is wrong, I live in Rome.', ['I live in Rome']],
  ['I said that I live in Rome.', ['I live in Rome']],
  ['As I thought, I live in Rome.', ['I live in Rome']],
  ['I thought I was from Madrid but I am from Rome.', ['I am from Rome']],
  ['I doubt that I will move. I live in Rome.', ['I live in Rome']],
  ["I'm kidding, I live in Rome.", ['I live in Rome']],
  ['Please remember that I live in Rome.', ['I live in Rome']],
  ['I live in Rome. I love jokes.', ['I live in Rome', 'I love jokes']],
  ['Неправда, я живу в Риме.', ['я живу в Риме']],
  ['Я думаю, я живу в Риме.', ['я живу в Риме']],
])('a statement after other words is a fact: %s', (content, facts) => {
  expect(factsOf(content)).toEqual(facts);
});

test.each([
  ['It is false that I am a doctor.', 'I am a doctor'],
  ['I dreamt that I live in Madrid.', 'I live in Madrid'],
  ['Допустим, я живу в Мадриде.', 'я живу в Мадриде'],
])('a fact that a model quotes out of "%s" is refused', (content, quote) => {
  expect(readQuotedFact(content, saidAt, { text: quote, quote, isRequest: false })).toBe('not stated by the user');
});
