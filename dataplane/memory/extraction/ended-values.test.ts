import { expect, test } from 'vitest';
import { rememberDialogue } from './testing/remember-dialogue.ts';

/** The memories of a person who says these messages one after another. */
function memoriesAfter(...said: readonly string[]): readonly string[] {
  return rememberDialogue(said.map((content) => ({ role: 'user', content }))).at(-1) ?? [];
}

test.each([
  ['I work for Zeiss.', 'I left Zeiss and joined Lego.'],
  ['I am learning Thai.', 'I gave up on Thai.'],
  ['I drink cocoa every evening.', 'I switched from cocoa to chai.'],
  ['I drink cocoa every evening.', 'instead of cocoa I drink chai now'],
  ['My wife is called Petra.', 'It is Nadia, not Petra.'],
  ['I live in Graz.', "you're funny update: moved out of Graz, I live in Turin now whats the weather there?"],
  ['I am a teacher.', 'Sorry I meant the other one I quit being a teacher.'],
  ['I am 42 years old.', 'I made a mistake I am 43'],
  ['Я работаю в Озоне.', 'что-то я сегодня устала уволилась из Озона'],
  ['Я пью кефир.', 'Вместо кефира теперь пью айран.'],
  ['Меня зовут Глеб.', 'Не зови меня Глеб, зови меня Лев.'],
  ['У меня аллергия на сою.', 'Оказалось, аллергия у меня на яйца, а не на сою.'],
])('the memory "%s" is replaced after the message "%s"', (first, then) => {
  const before = memoriesAfter(first);
  expect(before).toHaveLength(1);
  const after = memoriesAfter(first, then);
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
});

test.each([
  ['I live in Bristol.', 'I left Bristol at six this morning.'],
  ['I live in Bristol.', 'My brother no longer lives in Bristol.'],
  ['I drink cocoa every evening.', 'Give me a recipe with milk instead of cocoa.'],
  ['I drink cocoa every evening.', 'Is it true that she stopped drinking cocoa?'],
  ['I drive a Kia.', 'I sold my Kia shares.'],
  ['I drive a Kia.', 'What if I sold the Kia?'],
  ['I work for Lego.', 'He wrote "I quit Lego and I am happy about it every single day of my life".'],
  ['I am learning Thai.', 'My sister gave up on Thai.'],
  ['Я живу в Твери.', 'Мой брат больше не живет в Твери.'],
  ['Я пью кефир.', 'Если бы я бросил пить кефир, что было бы?'],
  ['Я работаю в Озоне.', 'Жена уволилась из Озона.'],
])('the memory "%s" is kept after the message "%s"', (first, then) => {
  const [memory] = memoriesAfter(first);
  expect(memory).toBeDefined();
  expect(memoriesAfter(first, then)).toContain(memory);
});

test('a change replaces the memory with the named value, although it fits several memories', () => {
  const known = ['I am learning Thai.', 'I am learning Irish.', 'I drink cocoa every evening.'];
  expect(memoriesAfter(...known, 'I gave up on Irish')).toEqual([
    'I am learning Thai',
    'I gave up on Irish',
    'I drink cocoa every evening',
  ]);
});
