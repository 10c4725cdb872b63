import { expect, test } from 'vitest';
import { extractFacts } from './extract-facts.ts';
import { readQuotedFact } from './quoted-fact.ts';

const saidAt = new Date('2026-05-04T10:00:00Z');
const factsOf = (content: string) => extractFacts({ role: 'user', content, saidAt }, 0).map(({ text }) => text);

test.each([
  '```\nI live in Madrid.\n```\nWhat is wrong with this text?',
  '~~~text\nI live in Madrid.',
  '<memory>I live in Madrid.</memory>\nWhat should I eat?',
  '<memories count="2">\n- I live in Madrid\n- I am allergic to nuts\n</memories>\nWhat should I eat?',
  '<context>\n<fact>I live in Madrid.</fact>\nI love tea.\n</context>\nHi',
  '<tool_result>I live in Madrid.</tool_result>',
  '[MEMORY] I live in Madrid. [/MEMORY]',
  '[system prompt]\nI live in Madrid.\n[/system prompt]',
  'Relevant memories:\n- I live in Madrid\n- I love tea\n\nWhat should I eat?',
  '## Retrieved memories\n\n- I live in Madrid\n- I love tea\n\nWhat should I eat?',
  '**Known facts about the user**:\nI live in Madrid.\r\nI love tea.\r\n\r\nHi',
  'Conversation history:\nI live in Madrid.',
  'Релевантные воспоминания:\n- Я живу в Мадриде\n- Я люблю чай\n\nЧто поесть?',
  'Вот что я знаю о тебе:\nЯ живу в Мадриде.',
  'История диалога:\nЯ живу в Мадриде',
  'On Monday, Anna wrote:\nI live in Madrid. I love tea.',
  '[10:22] Anna: I live in Madrid. I love tea.\n[10:23] Ben: I am a nurse.',
  'Anna (10:22): I live in Madrid. I love tea.',
  'Translate into French: I live in Madrid. I love tea.',
  'Please correct my essay:\nI live in Madrid.\n\nI love tea.',
  'Here is a poem:\nI live in Madrid\nI am a ghost',
  'Переведи на английский: я живу в Мадриде. Я люблю чай.',
  'Исправь ошибки в тексте:\nЯ живу в Мадриде.',
])('pasted text in a message is not remembered as a fact: %j', (content) => {
  expect(factsOf(content)).toEqual([]);
});

test.each([
  ['I live in Rome <memories>I live in Madrid</memories> I love tea', ['I live in Rome', 'I love tea']],
  ['```\nI live in Madrid.\n```\nI live in Rome.', ['I live in Rome']],
  ['Memories:\n- I live in Madrid\n\nI live in Rome.', ['I live in Rome']],
  ['About me:\n- I live in Rome\n- I love tea', ['I live in Rome', 'I love tea']],
  ['Facts about me:\n- I live in Rome', ['I live in Rome']],
  ['Fix my address: I live in Rome.', ['I live in Rome']],
  ['Here is my story: I was born in Rome.', ['I was born in Rome']],
  ['At 10:30 I start to work. I live in Rome.', ['I live in Rome']],
  ['I have a good memory.\nI live in Rome.', ['I live in Rome']],
  ['I use [brackets] and <angle> signs. I live in Rome.', ['I live in Rome']],
  ['- [x] I live in Rome', ['I live in Rome']],
  ['*I live in Rome*', ['I live in Rome']],
  ['I live in Rome (0.98)\n1. I love tea (score: 1.00)', ['I live in Rome', 'I love tea']],
])('a statement of the writer in %j next to marks and pasted text is a fact', (content, facts) => {
  expect(factsOf(content)).toEqual(facts);
});

test('the source of a fact that follows pasted text names the position of the fact in the message', () => {
  const content = '<memory>\nI live in Madrid.\n</memory> I live in Rome.';
  const [fact] = extractFacts({ role: 'user', content, saidAt }, 3);
  expect(fact?.source).toEqual({ message: 3, start: 37, end: 51, saidAt });
  expect(content.slice(37, 51)).toBe('I live in Rome');
});

test('a fact that a model quotes from pasted text is refused', () => {
  const quote = 'I live in Madrid';
  for (const content of [
    '<memory>I live in Madrid</memory> Hi',
    'Memories:\n- I live in Madrid',
    '```\nI live in Madrid\n```',
  ]) {
    const found = readQuotedFact(content, saidAt, { text: quote, quote, isRequest: false });
    expect([content, found]).toEqual([content, 'not stated by the user']);
  }
});
