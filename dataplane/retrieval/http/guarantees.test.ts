import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createGatewayModels } from '#models/gateway-models';
import { QueueUnavailableError } from '#queue/queue-error';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { connectSql } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { TestDatabase } from '#sql/testing/test-server';
import { verifies } from '../../../e2e/support/verifies.ts';
import { testProfile } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const query = { collection: 'handbook', text: 'hotel' };

/** Vectors with this number of dimensions for the texts of an embedding request. */
function vectorsOf(text: string, dimension: number): string {
  const { input } = JSON.parse(text) as { readonly input: readonly string[] };
  const data = input.map((one, index) => ({
    index,
    embedding: Array.from({ length: dimension }, (_, at) => (at === one.length % dimension ? 1 : 0)),
  }));
  return JSON.stringify({ data });
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('guarantees of retrieval'), () => {
  const folder = temporaryFolder();
  const staging = join(folder.path, 'objects');
  let opened: TestDatabase;
  let gateway: ScriptedHttp;
  let service: OpenedRetrieval;
  let dimension: number = testProfile.dimension;
  let areRelationsAway = false;
  const parts = new AsyncDisposableStack();

  function watched(relations: Relations): Relations {
    return new Proxy(relations, {
      get(target, name, receiver): unknown {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function' || name === Symbol.asyncDispose) return member;
        return (...args: readonly unknown[]) =>
          areRelationsAway ? Promise.reject(new RelationsUnavailableError()) : Reflect.apply(member, target, args);
      },
    });
  }

  beforeAll(async () => {
    opened = parts.use(await openTestDatabase());
    gateway = parts.use(
      await startScriptedHttp((response, { text }) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(vectorsOf(text, dimension));
      }),
    );
    const models = parts.use(createGatewayModels({ url: new URL(gateway.url), pause: async () => undefined }));
    const queue = {
      publish: () => Promise.reject(new QueueUnavailableError('away')),
      subscribe: () => Promise.reject(new QueueUnavailableError('away')),
      [Symbol.asyncDispose]: async () => undefined,
    };
    service = parts.use(
      await startRetrieval(opened, {
        overrides: { models, queue, wrapRelations: watched },
        config: {
          stores: {
            nats: undefined,
            objects: { kind: 'folder', directory: staging },
            s3: undefined,
            contentSourcesFile: undefined,
            openSearch: undefined,
          },
        },
      }),
    );
    const created = await service.call(ann, '/v1/collections', {
      name: 'handbook',
      embedding_profile_id: testProfile.id,
    });
    expect(created.status).toBe(201);
    await service.ingest(ann, [documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.')]);
  });
  afterAll(async () => {
    await parts.disposeAsync();
    folder[Symbol.dispose]();
  });

  verifies(
    ['retrieval:models:gateway-only', 'retrieval:collection:profile-fixed'],
    'documents and queries are embedded at the model gateway, by the model of the profile of their collection',
    async () => {
      gateway.forget();
      const [job] = await service.ingest(ann, [documentOf('handbook', 'pay', 'Salaries are paid monthly.')]);
      expect(job?.status).toBe('DONE');
      expect((await service.call(ann, '/v1/query', query)).status).toBe(200);
      expect(gateway.seen.map(({ path }) => path)).toEqual(['/v1/embeddings', '/v1/embeddings']);
      const models = gateway.seen.map(({ text }) => (JSON.parse(text) as { readonly model: string }).model);
      expect(new Set(models)).toEqual(new Set([testProfile.model]));
    },
  );

  verifies(
    ['retrieval:collection:dimension-match'],
    'a document whose vectors do not have the dimension of its profile ends FAILED, and no part of it is found',
    async () => {
      dimension = testProfile.dimension + 1;
      const [job] = await service.ingest(ann, [documentOf('handbook', 'wide', 'A wideword of another model.')]);
      dimension = testProfile.dimension;
      expect(job).toMatchObject({ status: 'FAILED', available_at: null });
      const found = await service.call(ann, '/v1/query', { ...query, text: 'wideword', mode: 'bm25' });
      expect(found.json['items']).toEqual([]);
    },
  );

  verifies(
    ['retrieval:jobs-get:job-store-truth'],
    'while the queue is unavailable, a job is read from its table and processed without a hint',
    async () => {
      const [job] = await service.ingest(ann, [documentOf('handbook', 'silent', 'No hint was given.')]);
      expect(job).toMatchObject({ status: 'DONE', attempts: 1 });
      expect((await service.call(ann, '/health')).json).toMatchObject({
        status: 'degraded',
        components: { rabbitmq: 'degraded', postgres: 'ok' },
      });
    },
  );

  verifies(
    ['retrieval:authz:fail-closed'],
    'while the store of rights is unavailable, every request is answered 503 authz_unavailable and changes nothing',
    async () => {
      const before = await service.call(ann, '/v1/collections');
      areRelationsAway = true;
      const requests: readonly (readonly [string, object?])[] = [
        ['/v1/collections'],
        ['/v1/collections', { name: 'another', embedding_profile_id: testProfile.id }],
        ['/v1/documents:submit', { documents: [documentOf('handbook', 'late', 'Too late.')] }],
        ['/v1/query', query],
        ['/v1/retrieve_and_pack', { ...query, token_budget: 100 }],
      ];
      for (const [path, body] of requests) {
        const { status, json } = await service.call(ann, path, body);
        expect([path, status, Object.keys(json).sort(), json['code']]).toEqual([
          ...[path, 503, ['code', 'message', 'trace_id'], 'authz_unavailable'],
        ]);
      }
      areRelationsAway = false;
      expect((await service.call(ann, '/v1/collections')).json).toEqual(before.json);
    },
  );

  verifies(
    ['retrieval:reindex:no-in-place-profile-change', 'retrieval:reindex:atomic'],
    'during a reindex every query is answered from all documents, and no request changes the profile of a version in place',
    async () => {
      const all = Array.from({ length: 20 }, (_, at) => `many-${at}`).toSorted();
      await service.ingest(
        ann,
        all.map((id) => documentOf('handbook', id, `Commonword of ${id}.`)),
      );
      const list = (await service.call(ann, '/v1/collections')).json as unknown as readonly {
        readonly collection_id: string;
      }[];
      const path = `/v1/collections/${list[0]?.collection_id}`;
      const change = async (method: string): Promise<number> => {
        const headers = { 'x-tenant-id': 'acme', 'x-user-id': 'ann', 'content-type': 'application/json' };
        const body = JSON.stringify({ embedding_profile_id: 'other' });
        return (await fetch(`${service.url}${path}`, { method, headers, body })).status;
      };
      expect([await change('PUT'), await change('PATCH')]).toEqual([405, 400]);
      expect((await service.call(ann, path)).json).toMatchObject({ embedding_profile_id: 'test-profile' });
      const started = await service.call(ann, `${path}:reindex`, {});
      expect([started.status, started.json]).toMatchObject([202, { active_version: 1, reindex: { version: 2 } }]);
      const many = { ...query, text: 'commonword', mode: 'bm25', top_k: 100 };
      const answers: string[][] = [];
      await until('the new version is active', async () => {
        const { json } = await service.call(ann, '/v1/query', many);
        const items = json['items'] as readonly { readonly doc_id: string }[] | undefined;
        answers.push((items ?? []).map(({ doc_id }) => doc_id).toSorted());
        return (await service.call(ann, path)).json['active_version'] === 2;
      });
      expect(answers.filter((ids) => ids.join() !== all.join())).toEqual([]);
    },
  );

  verifies(
    ['retrieval:integration:no-index-write', 'retrieval:integration:no-queue-write'],
    'the token of an integration cannot connect to the database, which contains the index and the queue',
    async () => {
      await using database = connectSql({ url: opened.url, applicationName: 'integration', password: () => 'a.b.c' });
      for (const statement of [
        database.sql`delete from retrieval.chunks`,
        database.sql`select pg_notify('portcullis_ingest_jobs', '')`,
      ]) {
        await expect(Promise.resolve(statement)).rejects.toThrow();
      }
    },
  );

  verifies(
    ['retrieval:integration:no-staging-write'],
    'the folder of staged documents is not accessible to any other user of the machine',
    async () => {
      expect((await stat(staging)).mode & 0o077).toBe(0);
    },
  );

  test('more concurrent creations of collections than database connections all succeed', async () => {
    const names = Array.from({ length: 24 }, (_, at) => `at-once-${at}`);
    const answers = await Promise.all(
      names.map((name) => service.call(ann, '/v1/collections', { name, embedding_profile_id: testProfile.id })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
  });
});
