import { expect, test } from 'vitest';
import { embedAll } from './embed-all.ts';
import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, Models } from './ports.ts';

const profile: EmbeddingProfile = {
  id: 'words',
  model: 'embedder',
  dimension: 1,
  sendDimension: false,
  batch: 64,
  maxTokens: 512,
  queryPrefix: '',
  passagePrefix: '',
};

/** A model whose vector of a text is its length, and which refuses a text of more than 1,000 units. */
function smallEmbedder() {
  const calls: (readonly string[])[] = [];
  const models: Pick<Models, 'embed'> = {
    async embed(_profile, _use, texts) {
      calls.push(texts);
      if (texts.includes('down')) throw new ModelsError('unavailable');
      if (texts.some((text) => text.length > 1_000)) throw new ModelsError('refused');
      return texts.map((text) => Float32Array.of(text.length));
    },
  };
  const lengths = async (texts: readonly string[]) =>
    (await embedAll(models, { profile, use: 'query', texts }, {})).map((vector) => vector?.[0]);
  return { calls, lengths };
}

test('texts that the model accepts are embedded in one call', async () => {
  const { calls, lengths } = smallEmbedder();
  const texts = ['a', 'bb', 'c'.repeat(1_000)];
  expect(await lengths(texts)).toEqual([1, 2, 1_000]);
  expect(calls).toEqual([texts]);
});

test('a text that the model refuses gets the vector of its beginning, and the other texts keep the vectors of their whole content', async () => {
  const { lengths } = smallEmbedder();
  expect(await lengths(['a', 'b'.repeat(1_001), 'c'.repeat(1_000), 'd'.repeat(3_000)])).toEqual([1, 500, 1_000, 750]);
});

test('texts are not embedded one by one while the model is unavailable', async () => {
  const { calls, lengths } = smallEmbedder();
  await expect(lengths(['a', 'down'])).rejects.toMatchObject({ code: 'unavailable' });
  expect(calls).toHaveLength(1);
});
