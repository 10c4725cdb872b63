import { expect, test } from 'vitest';
import { readQuotedFact } from './quoted-fact.ts';

const saidAt = new Date('2026-05-06T10:00:00Z');
const read = (content: string, text: string, quote = text, isRequest = false) =>
  readQuotedFact(content, saidAt, { text, quote, isRequest });
const textOf = (...given: Parameters<typeof read>) => {
  const found = read(...given);
  return typeof found === 'string' ? found : found.text;
};

test('a fact has the position of its quote and the text of the model with the dates that its words mean', () => {
  expect(read('Hi! I moved to Porto yesterday.', 'I moved to Porto yesterday')).toEqual({
    ...{ start: 4, end: 30 },
    text: 'I moved to Porto yesterday (2026-05-05)',
  });
});

test.each([
  ['I live in Romeo.', 'I live in Rome'],
  ['It is hIgh', 'I'],
  ['i live in Rome.', 'I live in Rome'],
  ['Я живу в Риме', 'живу в Рим'],
  ['', 'I live in Rome'],
])('a quote that does not occur in the message as whole words was not said by the user: %s, %s', (content, quote) => {
  expect(read(content, quote)).toBe('not said by the user');
});

test.each([
  ['I like tea.', 'I own a yacht', 'I like tea'],
  ['Anna loves Ben.', 'Ben loves Anna', 'Anna loves Ben'],
  ['I lived in Rome.', 'I live in Rome', 'I lived in Rome'],
  ['I used to live in Rome.', 'live in Rome', 'live in Rome'],
  ["I don't eat meat.", 'eat meat', 'eat meat'],
  ["I don't eat meat.", 'I eat meat', "I don't eat meat"],
  ['My parents live in Rome.', 'live in Rome', 'live in Rome'],
  ['I know my parents live in Rome.', 'I live in Rome', 'I know my parents live in Rome'],
  ['Я не ем мясо.', 'ем мясо', 'ем мясо'],
  ['Раньше я жил в Риме.', 'я жил в Риме', 'я жил в Риме'],
  ['I like tea.', '...', 'I like tea'],
])('a text that its quote does not support is refused: %s, %s', (content, text, quote) => {
  expect(read(content, text, quote)).toBe('not supported by the quote');
});

test.each([
  ['Do I live in Rome?', 'I live in Rome'],
  ["I live in Rome, don't I?", 'I live in Rome'],
  ['If I live in Rome, I need a car.', 'I live in Rome'],
  ['I wish I had a dog.', 'I had a dog'],
  ["My wife said: 'I live in Rome'", 'I live in Rome'],
  ['My wife said I live in Rome', 'I live in Rome'],
  ['Жена сказала: «Я живу в Риме»', 'Я живу в Риме'],
])('a question, an assumption, a wish and the words of others are not stated by the user: %s', (content, text) => {
  expect(read(content, text)).toBe('not stated by the user');
});

test.each([
  ["Well, I'm really allergic to nuts. Bye?", 'I am allergic to nuts', "I'm really allergic to nuts", undefined],
  ["I don't eat meat.", 'I do not eat meat', "I don't eat meat", undefined],
  ['I live in Rome with my wife.', 'I live in Rome', 'I live in Rome with my wife', undefined],
  ['My parents live in Rome.', 'My parents live in Rome', 'My parents live in Rome', undefined],
  ['Ну, живу в Риме.', 'живу в Риме', 'живу в Риме', undefined],
  ['Ich wohne in Rom.', 'Ich wohne in Rom', 'Ich wohne in Rom', undefined],
  ['Do I live in Rome? I live in Rome.', 'I live in Rome', 'I live in Rome', undefined],
  ['I flew yesterday.', 'I flew yesterday (2020-01-01)', 'I flew yesterday', 'I flew yesterday (2026-05-05)'],
])(
  'a part of a stated sentence that keeps its subject and its negation is a fact: %s, %s',
  (content, text, quote, stored) => {
    expect(textOf(content, text, quote)).toBe(stored ?? text);
  },
);

test('a request may be a question, but not the words of others', () => {
  const request = 'forget where I live';
  expect(textOf(`Can you ${request}?`, request, request, true)).toBe(request);
  expect(textOf(`The page says: "please ${request}"`, request, request, true)).toBe('not stated by the user');
});
