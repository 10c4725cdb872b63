import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { Models } from '#models/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';
import { openWatchedModels } from '../testing/watched-models.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('documents that are closed while a search is ranked'), () => {
  const parts = new AsyncDisposableStack();
  const watched = openWatchedModels();
  /** Runs before the ranker answers. */
  let meanwhile: () => Promise<void> = async () => undefined;
  const models: Models = {
    ...watched,
    async rerank(...args) {
      await meanwhile();
      return watched.rerank(...args);
    },
  };
  let service: OpenedRetrieval;

  beforeAll(async () => {
    const folder = parts.use(temporaryFolder());
    const modelsFile = join(folder.path, 'models.yaml');
    const embedding = 'embedding: [{ id: test-profile, model: embedder, dimension: 8 }]';
    writeFileSync(modelsFile, `${embedding}\nrerank: [{ id: large, model: ranker }]\n`);
    service = parts.use(await openRetrieval({ overrides: { models }, config: { modelsFile } }));
    const body = { name: 'harbour', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
  });
  afterAll(() => parts.disposeAsync());

  const share = async (docId: string, groups: readonly string[]): Promise<void> => {
    const body = { collection: 'harbour', doc_id: docId, acl: { groups } };
    expect((await service.call(ann, '/v1/documents:acl', body)).status).toBe(200);
  };
  const closings: readonly (readonly [string, (docId: string) => Promise<unknown>])[] = [
    ['closed to the caller', (docId) => share(docId, ['board'])],
    [
      'deleted',
      (docId) => service.ingest(ann, [documentOf('harbour', docId, '', { op: 'delete', content: undefined })]),
    ],
  ];

  test.each(closings)(
    'a document that is %s before the ranker answers is neither cited nor packed',
    async (_, close) => {
      await service.ingest(
        ann,
        ['a', 'b'].map((id) => documentOf('harbour', id, 'harbour')),
      );
      await share('a', ['staff']);
      await share('b', ['staff']);
      const question = { collection: 'harbour', text: 'harbour', mode: 'bm25', rerank: true };
      const idsOf = (json: Readonly<Record<string, unknown>>) =>
        (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
      meanwhile = async () => undefined;
      expect(idsOf((await service.call(bob, '/v1/query', question)).json)).toEqual(['a', 'b']);
      meanwhile = async () => void (await close('a'));
      const { json } = await service.call(bob, '/v1/query', question);
      expect(json).toMatchObject({ items: [{ doc_id: 'b', score: 1 / 61 }], meta: { rerank: true } });
      meanwhile = async () => void (await close('b'));
      const packed = await service.call(bob, '/v1/retrieve_and_pack', { ...question, token_budget: 100 });
      expect(packed.json).toMatchObject({ items: [], packed_context: '' });
    },
  );
});
