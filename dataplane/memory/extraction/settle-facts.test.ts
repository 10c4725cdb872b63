import { describe, expect, it } from 'vitest';
import { extractFacts, type UserFact } from './extract-facts.ts';
import { samenessOf } from './sameness.ts';
import { type FactDecision, type KnownMemory, settleFacts } from './settle-facts.ts';

const saidAt = new Date('2026-05-04T10:00:00Z');

function factsOf(content: string): readonly UserFact[] {
  return extractFacts({ role: 'user', content, saidAt }, 0);
}

function known(texts: readonly string[]): readonly KnownMemory[] {
  return texts.map((text, at) => {
    const topic = factsOf(text)[0]?.statement?.topic;
    if (topic === undefined) throw new Error(`no statement: ${text}`);
    return { memoryId: `memory-${at}`, text, sameness: samenessOf(text), topic, version: 1 };
  });
}

const english = [
  ...['I live in Rome', 'I work at Nokia', 'I work as a nurse', 'I am married', "I'm vegan", 'My name is Ann'],
  ...[
    'I drive a Peugeot',
    'I study physics',
    "I'm learning Italian",
    'My favourite colour is green',
    'I was born in Spain',
  ],
  ...['I am 34 years old', 'My birthday is on 4 May', 'My boss is called Tom', 'My dog is called Rex', 'I smoke'],
  ...["We're moving to Spain in the summer", "I'm allergic to nuts"],
];
const russian = [
  ...['Я живу в Риме', 'Я работаю в Яндексе', 'По профессии я фармацевт', 'Я женат', 'Меня зовут Анна'],
  ...['Езжу на Форде', 'Учу итальянский', 'Мой любимый цвет голубой', 'Я родился в Швеции', 'Мне 34 года'],
  ...['У меня аллергия на орехи', 'Моё хобби - акварель'],
];

const falseChanges = [
  'I moved the file to another folder',
  'I moved on to the next chapter',
  'We moved our server to Berlin',
  'I changed the colour of my button',
  'She sold that car',
  'He says he sold that car, he has a Volvo now',
  'Tom sold my car in the game',
  'The hero quit his old job and started at Nokia',
  'Would you say I sold that car now?',
  'Is it better if I sold my car and got a Lexus now?',
  'What would happen if I moved to Berlin now?',
  'Imagine I quit my old job and started at Siemens',
  'In my novel I quit my old job and moved to Lisbon',
  '"I live in Berlin", said the hero',
  'I would like to have moved to Berlin',
  'I switched the job queue to Redis',
  'I renamed the variable dog',
  'Мы переехали на новый сервер',
  'Мы переехали на другую версию PostgreSQL',
  'Герой переехал в Казань',
  'Представь, что я переехал в Казань',
  'Если бы я теперь переехал в Казань, что бы изменилось?',
  'Сестра сказала, что сменила работу',
  'В рассказе герой оговорился про место рождения?',
  'Как сказать по-английски "я переехал в Казань"?',
  'Он продал машину, теперь у него Приора',
  'Мой муж бросил курить',
  'Сестра сменила работу',
  'My wife quit smoking',
  'My brother changed jobs',
  'They have moved to Berlin',
];

const changes: readonly (readonly [before: string, said: string])[] = [
  ['I drive a Peugeot', "sold that car, I've got a Lexus now"],
  ['I drive a Peugeot', "Update: sold my car, I've got a Lexus now. Does that help?"],
  ['I drive a Peugeot', "I sold my car, I've got a Lexus now does that help?"],
  ["I'm vegan", 'I gave up on that diet im pescatarian now'],
  ['I work at Nokia', 'I quit my old job and started at Siemens'],
  ["We're moving to Spain in the summer", 'The plans changed, well be moving to Greece'],
  ['I live in Rome', 'We moved to Lisbon last month'],
  ['Я живу в Риме', 'Я там больше не живу, перебралась в Казань'],
  ['Я живу в Риме', 'Мы недавно переехали в Казань'],
  ['Езжу на Форде', 'Ту машину продала, теперь у меня Приора'],
  ['Учу итальянский', 'Тот язык бросила, теперь учу шведский это поможет?'],
  ['Я родился в Швеции', 'Я оговорился про место рождения, правильно - в Финляндии'],
];

function changed(decisions: readonly FactDecision[]): readonly FactDecision[] {
  return decisions.filter(({ kind }) => kind === 'UPDATE' || kind === 'DELETE');
}

describe('settleFacts', () => {
  it.each(falseChanges)('changes no known memory for: %s', (said) => {
    expect(changed(settleFacts(factsOf(said), known([...english, ...russian])))).toEqual([]);
  });

  it.each(changes)('replaces "%s" after: %s', (before, said) => {
    expect(changed(settleFacts(factsOf(said), known([before])))).toMatchObject([
      { kind: 'UPDATE', memoryId: 'memory-0', reason: 'replaces' },
    ]);
  });

  it('keeps the statement and leaves out the question of one sentence', () => {
    const said = "I sold my car, I've got a Lexus now does that help?";
    const [decision] = changed(settleFacts(factsOf(said), known(['I drive a Peugeot'])));
    expect(decision?.fact.text).toBe("I sold my car, I've got a Lexus now");
  });

  it('adds nothing for a fact that is said again', () => {
    const decisions = settleFacts(factsOf('I live in Rome'), known(['I live in Rome']));
    expect(decisions).toMatchObject([{ kind: 'NONE', memoryId: 'memory-0', reason: 'known' }]);
  });
});
