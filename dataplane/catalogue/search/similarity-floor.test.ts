import { expect, test } from 'vitest';
import type { EmbeddingProfile, Models } from '#models/ports';
import { createSimilarityFloor } from './similarity-floor.ts';

const profile = (id: string): EmbeddingProfile => ({
  ...{ id, model: id, dimension: 2, sendDimension: false, batch: 64, maxTokens: 512 },
  ...{ queryPrefix: '', passagePrefix: '' },
});
const unit = (degrees: number): Float32Array =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));

/**
 * Scripted vectors: the first task and its description at 0°, all other tasks at 90°, the second description at 60° and
 * the others at 180°.
 */
function scripted(): Pick<Models, 'embed'> & { calls: number; failure: Error | undefined } {
  const models = {
    calls: 0,
    failure: undefined as Error | undefined,
    embed: async (_profile: EmbeddingProfile, use: 'query' | 'passage', texts: readonly string[]) => {
      models.calls += 1;
      if (models.failure !== undefined) throw models.failure;
      return texts.map((_text, at) => unit(use === 'query' ? (at === 0 ? 0 : 90) : at === 0 ? 0 : at === 1 ? 60 : 180));
    },
  };
  return models;
}

test('the floor of a profile is the highest cosine between a task and a description of another subject', async () => {
  const floor = await createSimilarityFloor(scripted()).of(profile('a'), {});
  // Cosines within a subject do not count: the first task and its own description are equal.
  expect(floor).toBeCloseTo(Math.cos(Math.PI / 6), 5);
});

test('the floor of a profile is measured once, and a failed measurement is not stored', async () => {
  const models = scripted();
  const floor = createSimilarityFloor(models);
  models.failure = new Error('away');
  await expect(floor.of(profile('a'), {})).rejects.toThrow('away');
  models.failure = undefined;
  models.calls = 0;
  const first = await floor.of(profile('a'), {});
  expect([await floor.of(profile('a'), {}), models.calls]).toEqual([first, 2]);
  await floor.of(profile('b'), {});
  expect(models.calls).toBe(4);
});

test('concurrent searches share one measurement, even if one of them fails, and cancelling one does not end the others', async () => {
  const models = scripted();
  const floor = createSimilarityFloor(models);
  const leaving = new AbortController();
  const first = floor.of(profile('a'), { signal: leaving.signal });
  const others = [floor.of(profile('a'), {}), floor.of(profile('a'), { signal: new AbortController().signal })];
  leaving.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  const [second, third] = await Promise.all(others);
  expect([third, models.calls]).toEqual([second, 2]);
  models.failure = new Error('away');
  models.calls = 0;
  const failed = await Promise.allSettled([floor.of(profile('b'), {}), floor.of(profile('b'), {})]);
  expect([failed.map(({ status }) => status), models.calls]).toEqual([['rejected', 'rejected'], 2]);
  models.failure = undefined;
  expect(await floor.of(profile('b'), {})).toBe(second);
});
