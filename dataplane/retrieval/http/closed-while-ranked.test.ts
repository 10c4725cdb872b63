import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { Models } from '#models/ports';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import type { RetrievalOverrides } from '../service.ts';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';
import { openWatchedModels } from '../testing/watched-models.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('documents that are closed while a search is ranked'), () => {
  const parts = new AsyncDisposableStack();
  const watched = openWatchedModels();
  /** Runs before the ranker answers. */
  let meanwhile: () => Promise<void> = async () => undefined;
  /** Runs before tokens of a packed text are counted. */
  let beforeCount: () => Promise<void> = async () => undefined;
  let rewritings = 0;
  const models: Models = {
    ...watched,
    async rerank(...args) {
      await meanwhile();
      return watched.rerank(...args);
    },
    async complete(...args) {
      rewritings += 1;
      return watched.complete(...args);
    },
  };
  let opened: TestDatabase;
  let service: OpenedRetrieval;

  beforeAll(async () => {
    const folder = parts.use(temporaryFolder());
    const modelsFile = join(folder.path, 'models.yaml');
    const profile = (id: string) => `{ id: ${id}, model: embedder, dimension: 8 }`;
    const embedding = `embedding: [${profile('test-profile')}, ${profile('other-profile')}]`;
    writeFileSync(
      modelsFile,
      `${embedding}\nrerank: [{ id: large, model: ranker }]\nrewrite: [{ id: short, model: chat }]\n`,
    );
    opened = parts.use(await openTestDatabase());
    const wrapCounter: NonNullable<RetrievalOverrides['wrapCounter']> =
      (countTokens) =>
      async (...args) => {
        await beforeCount();
        return countTokens(...args);
      };
    service = parts.use(await startRetrieval(opened, { overrides: { models, wrapCounter }, config: { modelsFile } }));
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

  describe('documents that are replaced while a search is ranked', () => {
    const question = { collection: 'harbour', text: 'lighthouse', mode: 'bm25', rerank: true };
    const replace = (docId: string, text: string) =>
      service.ingest(ann, [documentOf('harbour', docId, text, { acl: { groups: ['staff'] } })]);
    /** The cited texts without their headings, sorted, and whether they were ranked. */
    const found = async (path = '/v1/query', more: object = {}) => {
      const { json } = await service.call(bob, path, { ...question, ...more });
      const items = json['items'] as readonly { readonly doc_id: string; readonly content: string }[];
      const { rerank } = json['meta'] as { readonly rerank: boolean };
      return { texts: items.map(({ content }) => content.replace('Part\n', '')).sort(), rerank };
    };

    test('a document whose text is replaced while the ranker works is cited with its newer text', async () => {
      await replace('c', 'lighthouse first');
      await replace('d', 'lighthouse');
      for (const [path, more] of [
        ['/v1/query', {}],
        ['/v1/retrieve_and_pack', { token_budget: 100 }],
      ] as const) {
        let rankings = 0;
        meanwhile = async () => {
          rankings += 1;
          if (rankings === 1) await replace('c', `lighthouse of ${path}`);
        };
        expect(await found(path, more)).toEqual({ texts: ['lighthouse', `lighthouse of ${path}`], rerank: true });
        expect(rankings).toBe(2);
      }
    });

    test('a document that is replaced during each of three rankings is cited in the order of the search', async () => {
      await replace('c', 'lighthouse 0');
      let rankings = 0;
      meanwhile = async () => {
        rankings += 1;
        await replace('c', `lighthouse ${rankings}`);
      };
      expect(await found()).toEqual({ texts: ['lighthouse', 'lighthouse 3'], rerank: false });
      expect(rankings).toBe(3);
    });

    test('a document that is replaced during each of three packings is left out, and the query is rewritten once', async () => {
      await replace('c', 'lighthouse 0');
      let [rankings, packings] = [0, 0];
      meanwhile = async () => {
        rankings += 1;
      };
      beforeCount = async () => {
        packings += 1;
        await replace('c', `lighthouse ${packings}`);
      };
      rewritings = 0;
      const packed = await found('/v1/retrieve_and_pack', { token_budget: 100, rewrite: true });
      beforeCount = async () => undefined;
      expect(packed).toEqual({ texts: ['lighthouse'], rerank: true });
      expect([rankings, rewritings]).toEqual([3, 1]);
    });

    test('a version that is replaced and removed while the ranker works is not answered with fewer documents', async () => {
      await replace('c', 'lighthouse last');
      const { sql } = opened.database;
      let rankings = 0;
      meanwhile = async () => {
        rankings += 1;
        if (rankings > 1) return;
        const [row] = await sql<{ id: string }[]>`select collection_id as id from retrieval.collections`;
        const body = { embedding_profile_id: 'other-profile' };
        expect((await service.call(ann, `/v1/collections/${row?.id}:reindex`, body)).status).toBe(202);
        await until('the new version is active', async () => {
          const [now] = await sql`select from retrieval.collections where active_version = 2`;
          return now !== undefined;
        });
        await sql`delete from retrieval.chunks where version = 1`;
      };
      expect(await found()).toEqual({ texts: ['lighthouse', 'lighthouse last'], rerank: true });
      expect(rankings).toBe(2);
    });
  });
});
