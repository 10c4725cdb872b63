import { describe, expect, test } from 'vitest';
import { readStatement } from './read-statement.ts';
import { rememberDialogue } from './testing/remember-dialogue.ts';

describe('further statements', () => {
  test.each([
    ['by day I do the payroll for a shipping firm', 'job'],
    ['for twelve years I have been a carpenter', 'job'],
    ['our neighbour Ottilie lives upstairs', 'name of: neighbour'],
    ['everyone calls me Bex', 'name'],
    ['moved to Turku last winter', 'residence'],
    ['allergic to wasps', 'allergy: wasp'],
    ["I don't touch celery", 'eats: celeri'],
    ['I spend my evenings on model trains', 'activity: model train'],
    ["we're a household of six", 'family'],
    ['на море выросла, зимой живу в Риге', undefined],
    ['зимой живу в Риге', 'residence'],
    ['мы с мужем взяли квартиру в Пскове', 'residence'],
    ['любимый суп — борщ', 'favourite: суп'],
    ['старшая сестра Нонна переехала', 'name of: сестр'],
    ['пять лет не употребляю сахар', 'eats: сахар'],
    ['мне нельзя орехи', 'eats: орех'],
    ['celery makes me ill', 'eats: celeri'],
    ['панически боюсь высоты', 'fear: высот'],
  ])('"%s" is a statement about %s', (text, topic) => {
    expect(readStatement(text)?.topic).toBe(topic);
  });

  test.each([
    'my train is delayed',
    'my boss wants this by five',
    'my phone is at ten percent',
    'our build is green',
    'we lost the match',
    'I take the bus today',
    'пользуюсь бесплатной версией',
    'люблю твоё терпение',
    'пишу письмо клиенту',
    'у меня через час созвон',
  ])('"%s" is small talk', (text) => {
    expect(readStatement(text)).toBeUndefined();
  });
});

describe('what holds no longer', () => {
  const remembered = (...said: readonly string[]) =>
    rememberDialogue(said.map((content) => ({ role: 'user', content }))).at(-1) ?? [];

  test.each([
    ['I like liver.', 'liver had its day, I got tofu instead'],
    ['I drive a Saab.', 'the Saab died on me, it is a Dacia now'],
    ['My wedding is in July.', 'we postponed the wedding until October'],
    ["I'm learning Finnish.", "Finnish didn't stick"],
    ['I work at Fazer.', 'I handed in my notice'],
    ['I work nights.', 'they have put me on days'],
    ['Я люблю пельмени.', 'пельмени приелись, теперь манты'],
    ['Я учу чешский.', 'чешский не пошёл'],
    ['Я работаю в Фазере.', 'в Фазере меня сократили'],
    ['У меня свадьба в июле.', 'свадьбу перенесли на октябрь'],
    ['Я пью кофе по утрам.', 'кофе врач запретил'],
  ])('"%s" is not returned after "%s"', (fact, correction) => {
    const told = remembered(fact);
    expect(told).toHaveLength(1);
    expect(remembered(fact, correction)).not.toContain(told[0]);
  });

  test.each([
    ['I drink coffee every morning.', 'I just finished my coffee'],
    ['I play tennis every week.', 'tennis was cancelled because of the rain'],
    ['I have a cat.', 'I let the cat out'],
    ['I work nights.', 'my brother got moved to days'],
    ['I like sushi.', 'the sushi was sold out'],
    ['I work at Fazer.', 'Fazer was wrong about the delivery'],
    ['У меня есть кошка.', 'кошку отдала на день в гостиницу'],
    ['У меня двое детей.', 'у соседки родился третий'],
    ['Я живу в Казани.', 'в Казани бросили искать парковку'],
    ['Я пью кофе по утрам.', 'дома закончился кофе'],
  ])('"%s" is returned after "%s"', (fact, remark) => {
    expect(remembered(fact, remark)).toEqual(expect.arrayContaining([...remembered(fact)]));
  });
});
