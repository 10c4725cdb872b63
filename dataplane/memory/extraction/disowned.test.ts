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
])('a statement that its writer takes back is no fact: %s', (content) => {
  expect(factsOf(content)).toEqual([]);
});

test.each([
  ['It is wrong, I live in Rome.', ['I live in Rome']],
  ['I said that I live in Rome.', ['I live in Rome']],
  ['As I thought, I live in Rome.', ['I live in Rome']],
  ['I thought I was from Madrid but I am from Rome.', ['I am from Rome']],
  ['I doubt that I will move. I live in Rome.', ['I live in Rome']],
  ['Неправда, я живу в Риме.', ['я живу в Риме']],
  ['Я думаю, я живу в Риме.', ['я живу в Риме']],
])('a statement behind other words is a fact: %s', (content, facts) => {
  expect(factsOf(content)).toEqual(facts);
});

test.each([
  ['It is false that I am a doctor.', 'I am a doctor'],
  ['I dreamt that I live in Madrid.', 'I live in Madrid'],
  ['Допустим, я живу в Мадриде.', 'я живу в Мадриде'],
])('a fact that a model quotes out of "%s" is refused', (content, quote) => {
  expect(readQuotedFact(content, saidAt, { text: quote, quote, isRequest: false })).toBe('not stated by the user');
});
