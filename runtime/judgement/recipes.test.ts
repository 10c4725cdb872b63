import { beforeAll, describe, expect, test } from 'vitest';
import type { JudgeVerdict } from '#contracts/judge';
import { rulesInOrder } from '#contracts/policy';
import { type ExamplePolicy, judgeExample, readExamples } from './testing/judge-example.ts';

const recipes = readExamples('recipes');

function textsOf({ tests }: ExamplePolicy, decided: boolean): string {
  return tests
    .filter((one) => (one.expect !== 'Pass') === decided)
    .flatMap(({ messages }) => messages.map(({ content }) => content))
    .join('\n');
}

test('each of six questions has a recipe', () => {
  expect(recipes.map(({ file }) => file).sort()).toEqual([
    'competitors.yaml',
    'language.yaml',
    'personal-data.yaml',
    'secrets.yaml',
    'system-prompt.yaml',
    'topic.yaml',
  ]);
});

describe.each(recipes)('the recipe $file', (recipe) => {
  let verdict: JudgeVerdict;
  beforeAll(async () => {
    verdict = await judgeExample(recipe);
  });

  test('each recipe is admitted with the default limits and allows streams', () => {
    expect(verdict.problems).toEqual([]);
    expect(verdict.streaming).toEqual([{ policyId: recipe.file, allowed: true }]);
  });

  test('each test of a recipe gets the expected decision', () => {
    expect(verdict.results.map(({ decision }, at) => `${recipe.tests[at]?.name}: ${decision}`)).toEqual(
      recipe.tests.map(({ name, expect: expected }) => `${name}: ${expected}`),
    );
  });

  test('a recipe has at least 12 tests, with true and near-miss texts in English and Russian', () => {
    expect(recipe.tests.length).toBeGreaterThanOrEqual(12);
    for (const decided of [true, false]) {
      const texts = textsOf(recipe, decided);
      expect(texts).toMatch(/[a-z]{3}/);
      expect(texts).toMatch(/[а-я]{3}/);
    }
  });

  test('each rule of a recipe decides at least one of its tests', () => {
    const fired = new Set(verdict.results.flatMap(({ rules }) => rules));
    const { request, response } = recipe.definition;
    const silent = [...rulesInOrder(request), ...rulesInOrder(response)].filter(({ id }) => !fired.has(id));
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});
