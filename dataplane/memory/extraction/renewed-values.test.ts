import { describe, expect, test } from 'vitest';
import { extractFacts } from './extract-facts.ts';
import { samenessOf } from './sameness.ts';
import { type KnownMemory, mostComparisons, settleFacts } from './settle-facts.ts';
import { rememberDialogue } from './testing/remember-dialogue.ts';

type Said = readonly [first: string, then: string];

/** The memories of a person who says these messages one after another. */
function memoriesAfter(...said: readonly string[]): readonly string[] {
  return rememberDialogue(said.map((content) => ({ role: 'user', content }))).at(-1) ?? [];
}

const renewed: readonly Said[] = [
  ['I play handball every Monday.', 'handball is on Thursdays now'],
  ['My wedding is in June.', 'the wedding has moved to October'],
  ['I have an exam on Monday.', 'the exam is not on Monday but on Friday'],
  ['My rent is 800 euros.', 'the rent went up to 950 euros'],
  ['My weight is 90 kg.', 'down to 85 kg now'],
  ['I use Windows at work.', 'our company gave us Macs'],
  ['I drive a Golf.', 'we swapped the old one for a Skoda'],
  ['I support Arsenal.', "I've switched to Everton"],
  ["I'm learning Polish.", 'I switched to Czech in March'],
  ['I use Firefox.', 'back on Safari for a year now'],
  ['I live in Oslo.', 'Turin has been our home since March'],
  ['I work at Siemens.', 'got headhunted by Bosch'],
  ['I am a nurse.', 'hung up my gloves last summer'],
  ['I am single.', 'she proposed and of course I said yes'],
  ['My cat is called Bella.', 'Bella crossed the rainbow bridge'],
  ['I play the harp.', "haven't touched the harp for years"],
  ['I drive a Kia.', 'the Kia gave up the ghost'],
  ['I am allergic to eggs.', 'the egg allergy turned out to be nonsense'],
  ['My name is Katherine.', 'just call me Kat please'],
  ['Я хожу на гандбол по понедельникам.', 'гандбол теперь по четвергам'],
  ['У меня свадьба в июне.', 'свадьбу перенесли на октябрь'],
  ['Мой оклад — 90 тысяч.', 'оклад подняли до 110 тысяч'],
  ['Мой вес — 90 кг.', 'теперь 85 кг'],
  ['Я пользуюсь Windows.', 'нам выдали макбуки'],
  ['Я езжу на Ладе.', 'пересел на Шкоду'],
  ['Я живу в Омске.', 'теперь я москвич'],
  ['Я живу в Омске.', 'собрали чемоданы и рванули в Тверь насовсем'],
  ['Я работаю в Озоне.', 'меня сманили в Газпром'],
  ['Я повар.', 'ушла на пенсию весной'],
  ['Я не замужем.', 'он сделал мне предложение, и я согласилась'],
  ['Мне 49 лет.', 'в мае разменял шестой десяток'],
  ['Я учу японский.', 'японский так и не осилила'],
  ['У меня аллергия на яйца.', 'яйца мне теперь можно'],
  ['Я учусь на историка.', 'отчислилась из-за переезда'],
  ['Я болею за Спартак.', 'перешёл на Зенит'],
  ['Меня зовут Александра.', 'зови меня Алекс'],
];

const unchanged: readonly Said[] = [
  ['I live in Oslo.', 'Turin has been home since March'],
  ['Меня зовут Александра.', 'можно просто Алекс'],
  ['I play handball every Monday.', 'the handball shop is open on Thursdays now'],
  ['I play handball every Monday.', 'handball is on Thursday this week'],
  ['I play handball every Monday.', 'my son plays handball on Thursdays now'],
  ['My wedding is in June.', 'the wedding of my boss is in October now'],
  ['My rent is 800 euros.', 'the flight is 950 euros now'],
  ['My rent is 800 euros.', 'the rent has 3 parts now'],
  ['My weight is 90 kg.', 'the parcel is down to 85 kg now'],
  ['I work from home on Mondays.', "I don't work on Fridays now"],
  ['My phone is an iPhone 14.', 'my phone is at 3 percent now'],
  ['I meditate 10 minutes every morning.', 'only 5 minutes now'],
  ['I am married.', 'single malt is what I drink now'],
  ['I am a nurse.', 'Tom took early retirement'],
  ['I am a nurse.', "I'm self-employed these days"],
  ['I live in Oslo.', 'Tom headed to Turin for good'],
  ["I'm learning Welsh.", 'I swapped French classes for Italian'],
  ['I drink coffee every morning.', 'they gave me tea'],
  ['I am single.', "my best friend isn't single anymore"],
  ["I'm learning German.", 'I switched to Polish beer'],
  ['I drink coffee every morning.', 'two days without coffee, send help'],
  ['I drink coffee every morning.', "I can't face coffee this morning"],
  ['I drink coffee every morning.', "the coffee here doesn't taste good to me"],
  ['I play tennis every week.', "haven't played tennis in weeks"],
  ['My dog is called Max.', "Max didn't make it to the vet"],
  ['My boss is Helen.', 'Helen got promoted, good for her'],
  ['I use Windows at work.', 'they gave me a Mac charger'],
  ['I use Windows at work.', "I'm on my Mac now"],
  ['I use Windows at work.', 'my sister switched to a Mac'],
  ['I drive a Golf.', "I'm on the bus now"],
  ['I drive a Golf.', 'we switched to a rental Skoda for the trip'],
  ['I support Arsenal.', "I'm watching Everton now"],
  ['I like tea.', 'I ordered coffee instead of tea'],
  ["I'm learning Polish.", 'switched to Czech subtitles for tonight'],
  ['My name is Katherine.', 'please use Docker from now on'],
  ['My name is Katherine.', 'just call Anna please'],
  ['My birthday is 5 May.', 'my birthday is in 3 weeks now'],
  ['Я хожу на гандбол по понедельникам.', 'магазин у гандбола теперь открыт по четвергам'],
  ['Я хожу на гандбол по понедельникам.', 'гандбол на этой неделе в четверг'],
  ['Мой оклад — 90 тысяч.', 'билеты теперь 110 тысяч'],
  ['Мой вес — 90 кг.', 'посылка теперь 85 кг'],
  ['Я повар.', 'Олег вышел на пенсию'],
  ['Я пью кофе по утрам.', 'хватит кофе на сегодня'],
  ['Я пью кофе по утрам.', 'три дня без кофе, тяжело'],
  ['Моего начальника зовут Олег.', 'Олега повысили, рад за него'],
  ['Я работаю в Озоне.', 'меня не наняли в Газпром'],
  ['Я работаю в Озоне.', 'меня позвали на день рождения'],
  ['Я женат.', 'мне сделали предложение о работе'],
  ['Я учу немецкий.', 'перешла на польское пиво'],
  ['Я работаю в Озоне.', 'Озон сменил логотип'],
  ['Я люблю яблоки.', 'взяла груши вместо яблок'],
  ['Я пользуюсь Windows.', 'сестра перешла на макбук'],
  ['Я езжу на Ладе.', 'я теперь в автобусе'],
  ['Я люблю чай.', 'заказала кофе вместо чая'],
  ['Меня зовут Александра.', 'лучше просто Докер'],
];

describe('a value that another one of its kind takes the place of', () => {
  test.each(renewed)('after "%s" the message "%s" leaves nothing of the first message', (first, then) => {
    const before = memoriesAfter(first);
    expect(before).not.toEqual([]);
    const after = memoriesAfter(first, then);
    expect(after.filter((text) => before.includes(text))).toEqual([]);
    // A message that is repeated is already known.
    expect(memoriesAfter(first, then, ...after)).toEqual(after);
  });

  test.each(unchanged)('after "%s" the message "%s" changes no memory of the first message', (first, then) => {
    const before = memoriesAfter(first);
    expect(before).not.toEqual([]);
    expect(memoriesAfter(first, then)).toEqual(expect.arrayContaining([...before]));
  });

  test('the memory that fits best is replaced, and no memory is replaced if two memories fit equally well', () => {
    const known = ['My rent is 800 euros.', 'My salary is 900 euros.'];
    expect(memoriesAfter(...known, 'the rent went up to 950 euros')).toEqual([
      'the rent went up to 950 euros',
      'My salary is 900 euros',
    ]);
    const before = memoriesAfter(...known);
    expect(memoriesAfter(...known, 'up to 950 euros now')).toEqual(before);
  });

  test('in one message the later value counts', () => {
    expect(memoriesAfter('My rent is 800 euros. Sorry, the rent went up to 950 euros.')).toEqual([
      'Sorry, the rent went up to 950 euros',
    ]);
  });
});

describe('the work of one add', () => {
  const saidAt = new Date(Date.UTC(2026, 0, 2));
  /** Known memories that count how often their texts are read. */
  function knownOf(texts: readonly string[]): { readonly known: readonly KnownMemory[]; readonly reads: () => number } {
    let reads = 0;
    const known = texts.map((text, at): KnownMemory => {
      const rest = { memoryId: `m${at}`, sameness: samenessOf(text), topic: `my: thing${at}`, version: 1 };
      return {
        ...{ ...rest, statedAt: new Date(Date.UTC(2026, 0, 1)) },
        get text() {
          reads += 1;
          return text;
        },
      };
    });
    return { known, reads: () => reads };
  }
  const factsOf = (sentences: number, last: string) =>
    [...Array.from({ length: sentences }, (_, at) => `the parcel${at} is on Friday now`), last].flatMap((content, at) =>
      extractFacts({ role: 'user', content, saidAt }, at),
    );

  test('the text of a memory is read once, with however many sentences it is compared', () => {
    const { known, reads } = knownOf(['My yoga is on Monday.', 'My rent is 800 euros.']);
    expect(settleFacts(factsOf(90, 'the yoga is on Thursday now'), known).map(({ kind }) => kind)).toContain('UPDATE');
    expect(reads()).toBe(known.length);
  });

  test.each([
    [0, 'UPDATE'],
    [1, 'NONE'],
  ] as const)('sentences beyond the limit of comparisons (%i memories more) change nothing: %s', (more, kind) => {
    const sentences = 49;
    const others = Array.from(
      { length: mostComparisons / (sentences + 1) - 1 + more },
      (_, at) => `My thing${at} is red.`,
    );
    const { known } = knownOf(['My yoga is on Monday.', ...others]);
    expect(settleFacts(factsOf(sentences, 'the yoga is on Thursday now'), known).at(-1)?.kind).toBe(kind);
  });
});
