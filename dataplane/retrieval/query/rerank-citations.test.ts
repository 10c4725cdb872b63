import { expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import type { Models, RerankProfile } from '#models/ports';
import { rerankCitations, rerankProfileOf } from './rerank-citations.ts';

const profile: RerankProfile = { id: 'r', model: 'ranker', maxDocuments: 10 };
const citations = ['a', 'b', 'c'].map((content) => ({ content, chunk_id: `chunk-${content}` }));
const query = { text: 'q', citations };
const contentsOf = ({ citations: found }: { readonly citations: readonly { content: string }[] }) =>
  found.map(({ content }) => content).join('');

function ranking(order: readonly number[]) {
  const calls: unknown[][] = [];
  const models: Pick<Models, 'rerank'> = {
    rerank: async (...given) => {
      calls.push(given);
      return order.map((index, place) => ({ index, score: -place }));
    },
  };
  return { models, calls };
}

test('citations are ordered by the model of the profile, and keep their members', async () => {
  const { models, calls } = ranking([2, 0, 1]);
  const found = await rerankCitations(models, profile, query);
  expect(found).toEqual({ citations: [citations[2], citations[0], citations[1]], applied: true });
  expect(calls).toEqual([[profile, 'q', ['a', 'b', 'c'], {}]]);
});

test('without an approved profile, and without citations, no model is called and reranking is not applied', async () => {
  const { models, calls } = ranking([]);
  expect(await rerankCitations(models, undefined, query)).toEqual({ citations, applied: false });
  expect(await rerankCitations(models, profile, { text: 'q', citations: [] })).toEqual({
    citations: [],
    applied: false,
  });
  expect(calls).toEqual([]);
});

test.each(['unavailable', 'denied', 'refused', 'invalid'] as const)(
  'citations keep their order when the model is %s, and reranking is not applied',
  async (code) => {
    const models = { rerank: () => Promise.reject(new ModelsError(code)) };
    const found = await rerankCitations(models, profile, query);
    expect(contentsOf(found)).toBe('abc');
    expect(found.applied).toBe(false);
  },
);

test('a programming error during a rerank is thrown, unlike an error of the model', async () => {
  const models = { rerank: () => Promise.reject(new RangeError('x')) };
  await expect(rerankCitations(models, profile, query)).rejects.toThrow(RangeError);
});

test('the named profile is used if it is approved, and the first profile if none is named', () => {
  const other = { ...profile, id: 's' };
  const approved = new Map([profile, other].map((each) => [each.id, each]));
  expect(rerankProfileOf(approved, undefined)).toBe(profile);
  expect(rerankProfileOf(approved, 's')).toBe(other);
  expect(rerankProfileOf(approved, 'unknown')).toBeUndefined();
  expect(rerankProfileOf(new Map(), undefined)).toBeUndefined();
});
