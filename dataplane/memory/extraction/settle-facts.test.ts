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
    return { memoryId: `memory-${at}`, text, sameness: samenessOf(text), topic, version: 1, statedAt: saidAt };
  });
}

const english = [
  'I live in Berlin',
  'I work at Siemens',
  'I work as a nurse',
  'I am married',
  'I am vegan',
  'My name is Maria',
  'I smoke about ten a day',
  'I drive a Toyota',
  'My car is a Toyota',
  'I am studying astronomy',
  'I am learning Spanish',
  'My main hobby is archery',
  'I use Windows at home',
  'I was born in Norway',
  'I am allergic to peanuts',
  'My favourite food is ramen',
  'My favourite colour is teal',
  'I love pancakes',
  "We're moving to Chile in the summer",
  'I play the violin',
  'My boss is called Mateo',
  'My phone is an iPhone',
  'My dog is called Biscuit',
  'My birthday is in March',
  'I am 34 years old',
];
const russian = [
  'Я живу в Казани',
  'Я работаю в Яндексе',
  'По профессии я электрик',
  'Я женат',
  'Меня зовут Олег',
  'Я курю по пачке в день',
  'Я езжу на Тойоте',
  'Моя машина - Мазда',
  'Я учусь на филолога',
  'Я учу испанский',
  'Мое хобби - керамика',
  'Я родился в Швеции',
  'У меня аллергия на арахис',
  'Мое любимое блюдо - борщ',
  'Мой любимый цвет - синий',
  'Я обожаю плов',
  'Летом мы переезжаем в Грецию',
  'Я играю на скрипке',
  'Моего начальника зовут Глеб',
  'Мою собаку зовут Рыжик',
  'Мой день рождения 7 мая',
  'Мне 41 год',
];

const falseChanges = [
  'My brother, tired of it, sold that car.',
  'The manager replaced our old car with a bicycle.',
  'I changed my job description.',
  'Мой брат продал ту машину.',
  'Она забросила прежний язык.',
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
  'I moved the file to another folder.',
  'I moved it to the next sprint.',
  'I moved my bishop to e5.',
  'We moved to a new server last week.',
  'We moved to Kubernetes last year.',
  'I moved to the next slide.',
  'I moved out of the way.',
  'The tests came back green.',
  'Tastes change over time.',
  'We split up into two groups.',
  'We broke up the monolith.',
  'I changed my mind about the colour of the button.',
  'The plan has changed, the call is on Tuesday.',
  'That boss left the arena.',
  'They renamed the dog in the sequel.',
  'I typed the wrong month into the query.',
  'My brother changed careers.',
  'My brother was ill, quit smoking and sold his car.',
  'My cousin kicked the habit.',
  'He wiped that machine.',
  'We moved our database to Frankfurt last month.',
  'We have moved to another branch.',
  'They moved to Oslo last month.',
  'My parents moved to Oslo last month.',
  'My neighbours moved out.',
  'The meeting moved to Tuesday.',
  '"I live in Rome", said the hero.',
  '"We moved to Rome last month", he said.',
  'She told me that they moved to Rome.',
  'My friend says we moved too early.',
  'If we moved to Rome, rent would be lower.',
  'Suppose I quit my job tomorrow.',
  'Imagine we split up.',
  'Did I say that we moved?',
  'What if I changed jobs?',
  'Should I have switched my major?',
  'I might have changed careers.',
  'He quit his job at Bosch.',
  'She was laid off.',
  'I quit the game without saving.',
  'I left the company party early.',
  'I changed the job of the scheduler.',
  'I switched the company logo.',
  'I changed the colour of my button.',
  'I changed the name of the variable.',
  'I changed my password.',
  'I changed my mind.',
  'I changed my mind about the essay.',
  'I changed the plan of the database query.',
  'The plan of the lesson changed a little, so I rewrote it.',
  'He changed his name in the story.',
  'My sister got divorced.',
  'Their divorce was in the news.',
  'We split the bill.',
  'The band split up in 1998.',
  'He sold that car for a dollar.',
  'My uncle sold my old bike.',
  'I sold the old server.',
  'I traded two knights for a rook.',
  'My brother stopped smoking.',
  'The oven stopped smoking.',
  'I stopped the container.',
  'I quit vim by accident.',
  'I dropped the table by mistake.',
  'I dropped that idea.',
  'I gave up on this puzzle.',
  'I wiped the table.',
  'I wiped that disk of the test machine.',
  'I renamed the file.',
  'We renamed the branch.',
  'The dog in my story was renamed.',
  'I typed the wrong command.',
  'There is a typo in the second line.',
  'The results of the poll are here.',
  'The food went off.',
  'His tastes are strange.',
  'The boss of the level is hard.',
  'That phone rang all day.',
  'I switched the phone off.',
  'I switched to the next tab.',
  'The ad says "I switched to tea and feel great", is it nonsense?',
  'Translate "I moved to Rome" into Latin.',
  'Write a story: we moved to Rome and split up.',
  'In my novel we moved to Rome last year.',
  'Is this sentence correct: "I quit my old job and started at Bosch"?',
  'A man in a novel says "sold that car, I have a Honda now", is that good dialogue?',
  'Someone online wrote "we moved to Rome, I am in Rome now", is that common?',
  'How does one say "I changed my name"?',
  'Does that help?',
  'I quit my job what happens to my insurance?',
  'What happens if I quit my job now?',
  'Мы переехали на новый сервер.',
  'Мы переехали в облако.',
  'Мы переехали на пятницу.',
  'Планы поменялись, созвон завтра.',
  'Брат болел, уволился из банка.',
  'Брат с сигаретами завязал.',
  'Вкусы меняются со временем.',
  'Мы переехали на другую базу данных.',
  'Я переехал на новую версию библиотеки.',
  'Они переехали в Осло.',
  'Мои родители переехали в Тулу.',
  'Соседи переехали недавно.',
  'Встречу перенесли на вторник.',
  '"Мы переехали в Рим", сказал герой.',
  'Герой романа говорит "я переезжаю в Рим", нормальный диалог?',
  'Он сказал, что мы переехали.',
  'Если бы мы переехали в Рим, было бы дешевле.',
  'Допустим, мы развелись.',
  'Представь, что я уволился.',
  'Я говорил, что мы переехали?',
  'А если я уволюсь?',
  'Может быть, мы расстались зря.',
  'Он уволился из банка.',
  'Сестра уволилась вчера.',
  'Меня не уволили.',
  'Я сменил пароль.',
  'Я сменил имя переменной.',
  'Я сменил работу планировщика в коде.',
  'Я сменил цвет кнопки.',
  'Группа сменила название.',
  'Брат сменил профессию.',
  'Мы с командой разошлись во мнениях.',
  'Мои друзья развелись.',
  'Они расстались.',
  'Он снова ест мясо.',
  'Брат бросил курить.',
  'Я бросил мяч.',
  'Я бросил читать эту книгу.',
  'Я продал старый сервер.',
  'Сосед продал свою машину.',
  'Тот язык программирования мне не нравится.',
  'Мы переименовали файл.',
  'Мы переименовали ветку.',
  'Я перепутал команду.',
  'Я ошибся в третьей строке.',
  'Я ошибся с настройкой.',
  'Я передумал.',
  'Я передумал насчет эссе.',
  'Планы на урок составлены.',
  'Это мне понравилось.',
  'Тот начальник уровня очень сильный.',
  'Вкусы у него странные.',
  'Доктор в книге это запретил.',
  'Результаты опроса пришли.',
  'В рекламе говорят "я бросил курить и помолодел", это бред?',
  'Переведи "мы переехали в Рим" на латынь.',
  'В интернете пишут "я уволился и счастлив", это часто бывает?',
  'Напиши рассказ: мы развелись и переехали.',
  'Есть ли ошибка в предложении "я сменил профессию, теперь я юрист"?',
  'Это поможет?',
  'Что будет, если я уволюсь теперь?',
];

const changes: readonly (readonly [before: string, said: string])[] = [
  ['I drive a Honda', "ok wait sold that car I've got a Dacia now"],
  ['I drive a Honda', 'We finally got rid of our old car and took a Dacia.'],
  ['I drive a Honda', 'Too long. I replaced my car last week, it is a Dacia now.'],
  ['играю на виолончели', 'слишком длинно продала свой инструмент теперь играю на кларнете'],
  ['Я учу турецкий', 'Я забросила прежний язык, теперь учу грузинский.'],
  ['I drive a Peugeot', "sold that car, I've got a Lexus now"],
  ['I drive a Peugeot', "Update: sold my car, I've got a Lexus now. Does that help?"],
  ['I drive a Peugeot', "I sold my car, I've got a Lexus now does that help?"],
  ["I'm vegan", 'I gave up on that diet im pescatarian now'],
  ['I work at Nokia', 'I quit my old job and started at Siemens'],
  ["We're moving to Spain in the summer", 'The plans changed, well be moving to Greece'],
  ['I live in Rome', 'We moved to Lisbon last month'],
  ['I live in Rome', 'Мы переехали в прошлом месяце, теперь живём в Казани'],
  ['Я играю на скрипке', 'Продал свой инструмент, теперь играю на арфе'],
  ['Летом мы переезжаем в Грецию', 'Планы поменялись, переезжать будем в Японию'],
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
  it.each(falseChanges)(
    'a sentence that does not report a change of the speaker changes no known memory: %s',
    (said) => {
      expect(changed(settleFacts(factsOf(said), known([...english, ...russian])))).toEqual([]);
    },
  );

  it.each(changes)('the memory "%s" is replaced after: %s', (before, said) => {
    expect(changed(settleFacts(factsOf(said), known([before])))).toMatchObject([
      { kind: 'UPDATE', memoryId: 'memory-0', reason: 'replaces' },
    ]);
  });

  it('from a sentence with a statement and a question, only the statement is remembered', () => {
    const said = "I sold my car, I've got a Lexus now does that help?";
    const [decision] = changed(settleFacts(factsOf(said), known(['I drive a Peugeot'])));
    expect(decision?.fact.text).toBe("I sold my car, I've got a Lexus now");
  });

  it('a correction that fits several memories changes none of them', () => {
    const languages = known(['I am learning Spanish', 'I am learning Czech']);
    expect(changed(settleFacts(factsOf('I dropped that language.'), languages))).toEqual([]);
    expect(changed(settleFacts(factsOf('I dropped that language.'), languages.slice(1)))).toHaveLength(1);
  });

  it('a correction that is sent again, completely or in part, adds no memory', () => {
    const said = 'I changed my mind about the colour, I like green best now.';
    const colour = {
      memoryId: 'm1',
      text: said,
      sameness: samenessOf(said),
      topic: 'favourite: colour',
      version: 2,
      statedAt: saidAt,
    };
    expect(settleFacts(factsOf(said), [colour]).map(({ kind }) => kind)).not.toContain('ADD');
  });

  it('a sentence that ends a fact and states a known fact deletes the ended fact', () => {
    const said = factsOf('испанский забросила, учу итальянский');
    const [before, now] = known(['Я учу испанский', 'учу итальянский']) as [KnownMemory, KnownMemory];
    expect(changed(settleFacts(said, [before, now]))).toMatchObject([
      { kind: 'DELETE', memoryId: 'memory-0', reason: 'no longer so' },
    ]);
    expect(changed(settleFacts(said, [before]))).toMatchObject([{ kind: 'UPDATE', memoryId: 'memory-0' }]);
    expect(changed(settleFacts(said, [now]))).toEqual([]);
  });

  it('a fact that is stated again adds no second memory', () => {
    const decisions = settleFacts(factsOf('I live in Rome'), known(['I live in Rome']));
    expect(decisions).toMatchObject([{ kind: 'NONE', memoryId: 'memory-0', reason: 'known' }]);
  });
});
