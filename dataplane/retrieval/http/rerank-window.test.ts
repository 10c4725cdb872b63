import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { Models } from '#models/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';
import { openWatchedModels } from '../testing/watched-models.ts';

const ann = { user: 'ann', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the chunks that a query has reranked'), () => {
  const parts = new AsyncDisposableStack();
  const watched = openWatchedModels();
  let judged: readonly string[] = [];
  const models: Models = {
    ...watched,
    rerank: (profile, text, documents, call) => {
      judged = documents;
      return watched.rerank(profile, text, documents, call);
    },
  };
  let service: OpenedRetrieval;
  let collectionId = '';
  const ask = async (more: object) => {
    const body = { collection: 'harbour', text: 'harbour', mode: 'bm25', rerank: true, ...more };
    const { json } = await service.call(ann, '/v1/query', body);
    return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id);
  };
  /** The ids of documents in the order of the search, which ranks shorter documents first. */
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `d${from + at}`);

  beforeAll(async () => {
    const folder = parts.use(temporaryFolder());
    const modelsFile = join(folder.path, 'models.yaml');
    const embedding = 'embedding: [{ id: test-profile, model: embedder, dimension: 8 }]';
    const rerank = 'rerank: [{ id: large, model: ranker }, { id: small, model: ranker, maxDocuments: 12 }]';
    writeFileSync(modelsFile, `${embedding}\n${rerank}\n`);
    service = parts.use(await openRetrieval({ overrides: { models }, config: { modelsFile } }));
    const collection = { name: 'harbour', embedding_profile_id: 'test-profile' };
    const created = await service.call(ann, '/v1/collections', collection);
    collectionId = String(created.json['collection_id']);
    const content = (pads: number) => ({ sections: [{ text: `harbour${' pad'.repeat(pads)}` }] });
    await service.ingest(ann, [
      ...ids(0, 60).map((id, at) => documentOf('harbour', id, '', { content: content(at + 1) })),
      documentOf('harbour', 'hidden', '', { content: content(0), acl: { groups: ['board'] } }),
    ]);
  });
  afterAll(() => parts.disposeAsync());

  test('a chunk that the search ranks below top_k becomes the first one, and no chunk that the caller may not see is judged', async () => {
    expect(await ask({ top_k: 8, rerank: false })).toEqual(ids(0, 8));
    expect(await ask({ top_k: 8 })).toEqual(ids(42, 50).toReversed());
    expect([judged.length, judged.includes('harbour')]).toEqual([50, false]);
    expect(await ask({ top_k: 49 })).toEqual(ids(1, 50).toReversed());
    expect(await ask({ top_k: 51 })).toEqual(ids(0, 51).toReversed());
    expect(await ask({ top_k: 100 })).toEqual(ids(0, 60).toReversed());
  });

  test('without the reranker the answer has the first top_k of the search', async () => {
    watched.fail('rerank', 'unavailable');
    expect(await ask({ top_k: 8 })).toEqual(ids(0, 8));
    watched.reset();
  });

  test('an evaluation has the same chunks reranked as a query, and counts the others after them', async () => {
    const ranks = async (doc_id: string, top_k: number) => {
      const judgements = [{ text: 'harbour', relevant: [{ doc_id }] }];
      const body = { collection: 'harbour', modes: ['bm25'], rerank: true, top_k, judgements };
      const { json } = await service.call(ann, '/v1/evaluations', body);
      return (json['results'] as readonly { readonly mrr: number }[])[0]?.mrr;
    };
    expect([await ranks('d49', 8), await ranks('d49', 20), await ranks('d48', 20)]).toEqual([1, 1, 1 / 2]);
    expect([await ranks('d59', 20), judged.length]).toEqual([0, 50]);
  });

  test('a profile of fewer documents bounds the chunks that are reranked in one call, but never below top_k', async () => {
    await service.send(ann, 'PATCH', `/v1/collections/${collectionId}`, {
      retrieval_defaults: { rerank_profile_id: 'small' },
    });
    expect(await ask({ top_k: 8 })).toEqual(ids(4, 12).toReversed());
    expect(judged).toHaveLength(12);
    expect(await ask({ top_k: 13 })).toEqual(ids(0, 13).toReversed());
  });
});
