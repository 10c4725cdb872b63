import { describe, expect, test } from 'vitest';
import { extractFacts } from './extract-facts.ts';
import { resolveDates } from './resolve-dates.ts';
import { samenessOf } from './sameness.ts';
import { settleFacts } from './settle-facts.ts';

const saidAt = new Date('2026-05-06T10:00:00Z');
const user = (content: string) => ({ role: 'user', content, saidAt });
/** The statements of a message, without the sentences that may state a change. */
const factsOf = (content: string) =>
  extractFacts(user(content), 0)
    .filter(({ changes }) => changes === undefined)
    .map(({ text }) => text);

describe('facts of a message', () => {
  test.each([
    ['I live in Berlin and I work at Siemens.', ['I live in Berlin', 'I work at Siemens']],
    ['Hi! My name is Maria. I am 34 years old.', ['My name is Maria', 'I am 34 years old']],
    ['Well, I am a nurse. I have two cats.', ['I am a nurse', 'I have two cats']],
    [
      "I'm allergic to penicillin, and my favourite colour is green.",
      ["I'm allergic to penicillin", 'my favourite colour is green'],
    ],
    ['I moved to Porto last month.', ['I moved to Porto last month (2026-04)']],
    [
      'My daughter plays the violin. I usually run in the morning.',
      ['My daughter plays the violin', 'I usually run in the morning'],
    ],
    [
      'Я живу в Казани, а работаю врачом. У меня есть собака.',
      ['Я живу в Казани, а работаю врачом', 'У меня есть собака'],
    ],
    ['Привет! Меня зовут Олег. Мне 41 год.', ['Меня зовут Олег', 'Мне 41 год']],
    ['У меня аллергия на орехи. Мой любимый цвет — синий.', ['У меня аллергия на орехи', 'Мой любимый цвет — синий']],
    ['Я не ем мясо. Мою дочь зовут Аня.', ['Я не ем мясо', 'Мою дочь зовут Аня']],
    ['Вчера я переехал в Тулу. Я женат.', ['Вчера (2026-05-05) я переехал в Тулу', 'Я женат']],
    ['Я переехала в Омск вчера.', ['Я переехала в Омск вчера (2026-05-05)']],
  ])('the facts of a message are found: %s', (content, facts) => {
    expect(factsOf(content)).toEqual(facts);
  });

  test.each([
    ...[
      'How are you today?',
      'Thanks, that helps a lot!',
      'I think so.',
      'I am fine.',
      'I have a question.',
      'I love it!',
    ],
    ...[
      'Can you tell me where I live?',
      'If I lived in Paris, I would eat bread.',
      'She said I am a doctor.',
      'I like that.',
    ],
    ...[
      'I am just looking.',
      'Help me write a letter: I live in Rome.',
      'My code is broken.',
      'I am a bit tired.',
      'Ok, good.',
    ],
    ...[
      'Как дела?',
      'Спасибо, это помогло.',
      'У меня вопрос.',
      'Мне нравится это.',
      'Я думаю, да.',
      'У меня проблема с кодом.',
    ],
    ...['Если бы я жил в Париже, я бы ел багеты.', 'Он сказал, что я врач.', 'Хорошо, понял.', 'Расскажи, где я живу.'],
  ])('small talk, questions, wishes and reports of others are not remembered as facts: %s', (content) => {
    expect(factsOf(content)).toEqual([]);
  });

  test.each([
    `My wife said: 'I live in Paris'`,
    `My wife said: "I live in Paris"`,
    'My wife said: “I moved here. I live in Paris.”',
    'My wife said, I live in Paris.',
    'My wife wrote to me:\n"I live in Paris.',
    '"I live in Paris and I love it," said the hero.',
    'I live in Paris, and I love it, said the hero.',
    '"I live in Paris" is my favourite line.',
    'The song goes «I live in Paris» and so on.',
    'Anna: I live in Paris.',
    'Жена сказала: «Я живу в Париже»',
    'Жена сказала: "Я переехала. Я живу в Париже."',
    'Сосед заявил: я живу в Париже.',
    '„Я живу в Париже“, сказал герой.',
    '> I live in Paris',
    '>I live in Paris.\n  > And I work at Siemens.\nWhy do you say so?',
    'You wrote:\r\n>> I live in Paris\r\n> I work at Siemens',
    '> Я живу в Париже.\n\nОткуда это?',
  ])('the words of other persons, with or without quotation marks, are no fact about the speaker: %s', (content) => {
    expect(factsOf(content)).toEqual([]);
  });

  test.each([
    "I live in Paris, don't I?",
    "I live in Paris, don't I",
    'I live in Paris, right?',
    'I live in Paris, is that correct?',
    'I live in Paris is that right?',
    'I live in Paris. Right?',
    'I live in Paris, or am I wrong?',
    'Do I live in Paris?',
    'Я живу в Париже, не так ли?',
    'Я живу в Париже не так ли',
    'Я живу в Париже, да?',
    'Я живу в Париже. Верно?',
    'Допустим, я живу в Париже, какие налоги мне платить?',
    "Let's say I live in Paris, what then?",
  ])('a tag question and an assumption do not state facts: %s', (content) => {
    expect(factsOf(content)).toEqual([]);
  });

  test.each([
    ['I live in Paris, can you recommend a museum?', ['I live in Paris']],
    ['I live in Paris does that help?', ['I live in Paris']],
    ['Я живу в Париже, какая там погода?', ['Я живу в Париже']],
    ['I live in Paris hahaha', ['I live in Paris']],
    ['I live in Paris :-) I work at Siemens lmao', ['I live in Paris', 'I work at Siemens']],
    ['I live in Paris, in case anyone wondered.', ['I live in Paris, in case anyone wondered']],
    ['Я живу в Париже, если что', ['Я живу в Париже, если что']],
    ['As I said, I live in Paris.', ['I live in Paris']],
    ['I work at "Romashka".', ['I work at "Romashka"']],
    ['Я работаю в кафе «Ромашка», люблю чай', ['Я работаю в кафе «Ромашка», люблю чай']],
    ['My dog is called “Rex”.', ['My dog is called “Rex”']],
    ['Guess what, I live in Paris', ['I live in Paris']],
    ['Oslo was my home, I live in Paris', ['I live in Paris']],
    ['Представляешь, я живу в Париже', ['я живу в Париже']],
    ['A bit about me: I live in Paris.', ['I live in Paris']],
    ["My friends' dogs bark, and I live in Paris.", ['I live in Paris']],
    ['> Where do you live?\nI live in Paris. My rent is > 900.', ['I live in Paris', 'My rent is > 900']],
    [`'Cause of work I moved. I live in Paris, don't worry.`, ["I live in Paris, don't worry"]],
  ])('a statement beside a question, a remark or a name in quotation marks is a fact: %s', (content, facts) => {
    expect(factsOf(content)).toEqual(facts);
  });

  test('a fact names its position in the message', () => {
    const content = 'Hello. I live in Berlin!';
    const [fact] = extractFacts(user(content), 1);
    expect(fact?.source).toEqual({ message: 1, start: 7, end: 23, saidAt });
    expect(content.slice(7, 23)).toBe('I live in Berlin');
  });

  test('facts are read from messages of users only', () => {
    expect(
      ['assistant', 'system', 'tool'].flatMap((role) => extractFacts({ ...user('I live in Rome.'), role }, 0)),
    ).toEqual([]);
  });
});

describe('dates in words', () => {
  test.each([
    ['I flew yesterday', 'I flew yesterday (2026-05-05)'],
    ['It is in two weeks', 'It is in two weeks (2026-05-20)'],
    ['He came 3 years ago', 'He came 3 years ago (2023)'],
    ['We meet next Friday', 'We meet next Friday (2026-05-08)'],
    ['It was last Monday', 'It was last Monday (2026-05-04)'],
    ['it is this week', 'it is this week (week of 2026-05-04)'],
    ['Это было позавчера', 'Это было позавчера (2026-05-04)'],
    ['Через 5 дней', 'Через 5 дней (2026-05-11)'],
    ['месяц назад', 'месяц назад (2026-04)'],
    ['В прошлую среду', 'В прошлую среду (2026-04-29)'],
    ['yesterday (2026-05-05)', 'yesterday (2026-05-05)'],
    ['a week ago and two weeks ago', 'a week ago (2026-04-29) and two weeks ago (2026-04-22)'],
  ])('a relative date in a message is replaced by the calendar date: %s', (text, resolved) => {
    expect(resolveDates(text, saidAt)).toBe(resolved);
  });
});

describe('decisions about facts', () => {
  const known = (text: string, id = 'm1') => {
    const [fact] = extractFacts(user(text), 0);
    const topic = fact?.statement?.topic ?? null;
    return { memoryId: id, text, sameness: samenessOf(text), topic, version: 1, statedAt: new Date(0) };
  };
  const decide = (text: string, ...memories: readonly string[]) =>
    settleFacts(
      extractFacts(user(text), 0),
      memories.map((memory, at) => known(memory, `m${at + 1}`)),
    )
      .filter(({ reason }) => reason !== 'changes nothing known')
      .map(({ kind, reason, ...more }) => [kind, reason, 'memoryId' in more ? more.memoryId : null]);

  test.each([
    ['I live in Berlin', [], ['ADD', 'new', null]],
    ['i live in Berlin!', ['I live in Berlin'], ['NONE', 'known', 'm1']],
    ['I moved to Hamburg', ['I live in Berlin'], ['UPDATE', 'replaces', 'm1']],
    ['I no longer live in Berlin', ['I live in Berlin with my wife'], ['UPDATE', 'replaces', 'm1']],
    ['I no longer work at Siemens', ['I work at Bosch'], ['NONE', 'no longer so, and not known', 'm1']],
    ['I hate coffee', ['I like coffee'], ['UPDATE', 'replaces', 'm1']],
    ["I don't like coffee any more", ['I love coffee'], ['UPDATE', 'replaces', 'm1']],
    ['I like tea', ['I like coffee'], ['ADD', 'new', null]],
    ['My favourite colour is red', ['My favourite colour is green'], ['UPDATE', 'replaces', 'm1']],
    ['Forget that I live in Berlin', ['I live in Berlin'], ['DELETE', 'asked to forget', 'm1']],
    ['Forget that I live in Berlin', [], ['NONE', 'nothing to forget', null]],
    ['Я переехал в Москву', ['Я живу в Казани'], ['UPDATE', 'replaces', 'm1']],
    ['Я больше не люблю кофе', ['Я люблю кофе'], ['UPDATE', 'replaces', 'm1']],
    ['Забудь, что я живу в Казани', ['Я живу в Казани'], ['DELETE', 'asked to forget', 'm1']],
    ['У меня три кошки', ['У меня есть две кошки'], ['UPDATE', 'replaces', 'm1']],
    ["I switched my major, it's chemistry now.", ["I'm studying astronomy"], ['UPDATE', 'replaces', 'm1']],
    ['That boss left, my new boss is Freya.', ['My boss is called Mateo'], ['UPDATE', 'replaces', 'm1']],
    ["Heads up, we moved last month, I'm in Oslo now.", ['I live in Seattle'], ['UPDATE', 'replaces', 'm1']],
    ['Мы развелись, я снова холостяк.', ['Я женат'], ['UPDATE', 'replaces', 'm1']],
    ['Собаку мы переименовали, теперь она Персик.', ['Мою собаку зовут Рыжик'], ['UPDATE', 'replaces', 'm1']],
  ] as const)('the decision on the message "%s" with the memories %j', (text, memories, decision) => {
    expect(decide(text, ...memories)).toEqual([decision]);
  });

  test('a sentence about a change changes no memory if the changed fact is unknown, or if it is a wish or a report', () => {
    expect(decide('I switched my major, it is chemistry now.', 'I live in Seattle')).toEqual([]);
    expect(decide('If we moved to Oslo, I would ski.', 'I live in Seattle')).toEqual([]);
    expect(decide('She said we moved to Oslo.', 'I live in Seattle')).toEqual([]);
  });

  test('a correction replaces an earlier statement of the same request', () => {
    const said = "I'm studying astronomy. Wait, I switched my major, it's chemistry now.";
    expect(decide(said).map(([kind]) => kind)).toEqual(['NONE', 'ADD']);
  });

  test('when one request states two facts about one topic, the last one is remembered', () => {
    expect(decide('I live in Berlin. No, I live in Bonn.').map(([kind]) => kind)).toEqual(['NONE', 'ADD']);
  });
});
