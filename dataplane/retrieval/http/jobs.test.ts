import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestJob } from '#contracts/retrieval';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { memoryObjects } from '../ingest/testing/memory-objects.ts';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

type Entry = { readonly doc_id: string; readonly job_id: string; readonly status: string };

describe.skipIf(missingPostgres !== undefined)(onPostgres('jobs over HTTP'), () => {
  let service: OpenedRetrieval;
  let collectionId: string;
  let held = Promise.withResolvers<void>();
  let isStoreAway = false;
  const objects = memoryObjects(() => {
    if (isStoreAway) throw new Error('away');
  });
  const submit = async (...documents: readonly object[]) => {
    const { status, json } = await service.call(ann, '/v1/documents:submit', { documents }, { 'x-trace-id': 'mine' });
    expect(status).toBe(202);
    return json['jobs'] as readonly Entry[];
  };
  const job = async (id: string) => (await service.call(ann, `/v1/jobs/${id}`)).json as unknown as IngestJob;
  const inState = (id: string, status: IngestJob['status']) =>
    until(`the job is ${status}`, async () => {
      const read = await job(id);
      return read.status === status ? read : undefined;
    });
  const found = async (text: string) => {
    const { json } = await service.call(ann, '/v1/query', { collection: 'handbook', text, mode: 'bm25' });
    return (json['items'] as readonly Entry[]).map(({ doc_id }) => doc_id);
  };

  beforeAll(async () => {
    held.resolve();
    service = await openRetrieval({ overrides: { objects, models: scriptedModels(() => held.promise) } });
    const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
    collectionId = String((await service.call(ann, '/v1/collections', body)).json['collection_id']);
  });
  afterAll(async () => {
    held.resolve();
    await service?.[Symbol.asyncDispose]();
  });

  verifies(
    [
      'retrieval:submit:entry-fields',
      'retrieval:submit:entry-status',
      'retrieval:submit:acceptance-only',
      'retrieval:submit:job-registered',
      'retrieval:submit:staging-saved',
      'retrieval:submit:notification-published',
      'retrieval:jobs-get:ok',
      'retrieval:jobs-get:polling',
      'retrieval:job-state:pending-to-running',
      'retrieval:job-state:done-searchable',
      'retrieval:job:job-id',
      'retrieval:job:echoed-collection',
      'retrieval:job:echoed-tenant-id',
      'retrieval:job:echoed-doc-id',
      'retrieval:job:echoed-content-hash',
      'retrieval:job:echoed-idempotency-key',
      'retrieval:job:op',
      'retrieval:job:status-values',
      'retrieval:job:payload-uri-upsert',
      'retrieval:job:payload-bytes',
      'retrieval:job:attempts',
      'retrieval:job:error-null-on-success',
      'retrieval:job:trace-id',
      'retrieval:job:created-updated-at',
      'retrieval:job:available-at-null',
      'retrieval:job:available-at-searchable',
      'retrieval:document:collection-by-name',
      'retrieval:document:op-default',
      'retrieval:pipeline:own-chunking',
    ],
    'a submit is answered before its document is indexed; the job shows it, its staged object and the time of availability',
    async () => {
      held = Promise.withResolvers();
      const document = documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.', {
        content_hash: 'hash-of-travel',
        idempotency_key: 'key-of-travel',
      });
      const [entry] = await submit(document);
      expect(entry).toEqual({ doc_id: 'travel', job_id: uuid, status: 'PENDING' });
      const id = entry?.job_id ?? '';
      expect(['PENDING', 'RUNNING']).toContain((await job(id)).status);
      const running = await inState(id, 'RUNNING');
      expect(running).toEqual({
        job_id: id,
        collection: 'handbook',
        tenant_id: 'acme',
        doc_id: 'travel',
        op: 'upsert',
        content_hash: 'hash-of-travel',
        idempotency_key: 'key-of-travel',
        status: 'RUNNING',
        payload_uri: expect.stringContaining(id),
        payload_bytes: expect.any(Number),
        attempts: 1,
        error: null,
        trace_id: 'mine',
        created_at: time,
        updated_at: time,
        available_at: null,
      });
      const key = objects.keys().find((one) => one.includes(id)) ?? '';
      expect((await objects.get(key, { maxBytes: 1_000_000 }))?.byteLength).toBe(running.payload_bytes);
      expect(await found('hotels')).toEqual([]);
      held.resolve();
      expect(await inState(id, 'DONE')).toMatchObject({ error: null, attempts: 1, available_at: time });
      expect(await found('hotels')).toEqual(['travel']);
    },
  );

  verifies(
    ['retrieval:job:payload-uri-null-delete', 'retrieval:document:collection-by-id'],
    'the job of a delete has no payload, and a collection can be named by its id, too',
    async () => {
      await service.ingest(ann, [documentOf(collectionId, 'gone', 'A vanishing sundial.')]);
      expect(await found('sundial')).toEqual(['gone']);
      const [ended] = await service.ingest(ann, [
        documentOf(collectionId, 'gone', '', { op: 'delete', content: undefined }),
      ]);
      expect(ended).toMatchObject({ op: 'delete', payload_uri: null, payload_bytes: null, collection: collectionId });
      expect(await found('sundial')).toEqual([]);
    },
  );

  verifies(
    ['retrieval:job:payload-uri-null-deduplicated'],
    'a repeated submit stages no object and is answered with the earlier job',
    async () => {
      held = Promise.withResolvers();
      const document = documentOf('handbook', 'twice', 'A repeated metronome.');
      const [first] = await submit(document);
      const staged = objects.keys();
      expect(await submit(document)).toEqual([{ ...first, status: 'DEDUPLICATED' }]);
      expect(objects.keys()).toEqual(staged);
      held.resolve();
      await inState(first?.job_id ?? '', 'DONE');
    },
  );

  test('a repeated submit says that a later job of its document was accepted, and another key makes it the newest', async () => {
    const submitKey = async (idempotency_key: string) => {
      const document = documentOf('handbook', 'replaced', `A barometer of ${idempotency_key.slice(0, 5)}.`);
      const [entry] = await submit({ ...document, content_hash: 'same', idempotency_key });
      await inState(entry?.job_id ?? '', 'DONE');
      return entry;
    };
    const first = await submitKey('first');
    const second = await submitKey('second');
    expect(await submitKey('second')).toEqual({ ...second, status: 'DEDUPLICATED' });
    expect(await submitKey('first')).toEqual({ ...first, status: 'DEDUPLICATED', superseded: true });
    expect(await submitKey('first again')).toMatchObject({ status: 'PENDING' });
    expect(await submitKey('second')).toEqual({ ...second, status: 'DEDUPLICATED', superseded: true });
  });

  verifies(
    ['retrieval:jobs-get:unknown'],
    'an unknown job and one of another tenant are answered 404, and one of a collection without the right to write 403',
    async () => {
      const [ended] = await service.ingest(ann, [documentOf('handbook', 'private', 'A quiet oboe.')]);
      const statusOf = async (caller: object, id = '') => (await service.call(caller, `/v1/jobs/${id}`)).status;
      expect(await statusOf(ann, randomUUID())).toBe(404);
      expect(await statusOf(ann, 'no-uuid')).toBe(404);
      expect(await statusOf({ ...ann, tenant: 'other' }, ended?.job_id)).toBe(404);
      expect(await statusOf(bob, ended?.job_id)).toBe(403);
    },
  );

  verifies(
    ['retrieval:submit:write-right'],
    'a reader of a public collection may not submit to it, and a refused submit registers and stages nothing',
    async () => {
      await service.call(ann, '/v1/collections', {
        name: 'noticeboard',
        visibility: 'public',
        embedding_profile_id: 'test-profile',
      });
      const document = documentOf('noticeboard', 'notice', 'Free tulips.');
      const before = objects.keys();
      const refused = await service.call(bob, '/v1/documents:submit', { documents: [document] });
      expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
      const foreign = { documents: [documentOf('noticeboard', 'notice', 'Tulips.', { tenant_id: 'other' })] };
      expect(await service.call(ann, '/v1/documents:submit', foreign)).toMatchObject({ status: 403 });
      expect(objects.keys()).toEqual(before);
      expect(await submit(document)).toMatchObject([{ status: 'PENDING' }]);
    },
  );

  verifies(
    ['retrieval:empty-acl:collection-policy', 'retrieval:empty-acl:strictest'],
    'of two private collections, one refuses a document without an access list and one shows it only to its owner',
    async () => {
      for (const empty_acl_policy of ['reject', 'strictest']) {
        const body = { name: empty_acl_policy, embedding_profile_id: 'test-profile', empty_acl_policy };
        expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
      }
      const open = (name: string) => ({ documents: [documentOf(name, 'open', 'An open gate.', { acl: {} })] });
      expect(await service.call(ann, '/v1/documents:submit', open('reject'))).toMatchObject({ status: 400 });
      const [ended] = await service.ingest(ann, open('strictest').documents);
      expect(ended?.status).toBe('DONE');
      const query = { collection: 'strictest', text: 'gate', mode: 'bm25' };
      expect((await service.call(ann, '/v1/query', query)).json).toMatchObject({ items: [{ doc_id: 'open' }] });
    },
  );

  verifies(
    ['retrieval:reindex:accepted', 'retrieval:version:reindex-present'],
    'a reindex is accepted with 202, searches are answered meanwhile, and it ends with another active version',
    async () => {
      const path = `/v1/collections/${collectionId}`;
      const accepted = await service.call(ann, `${path}:reindex`, {});
      expect(accepted).toMatchObject({ status: 202, json: { collection_id: collectionId, active_version: 1 } });
      const answers: unknown[] = [];
      await until('the new version is active', async () => {
        answers.push(await found('hotels').catch(String));
        return (await service.call(ann, path)).json['active_version'] === 2 || undefined;
      });
      answers.push(await found('hotels'));
      expect(answers).toEqual(answers.map(() => ['travel']));
      const statusOf = async (caller: object, at: string, body: object) =>
        (await service.call(caller, at, body)).status;
      expect(await statusOf(bob, `${path}:reindex`, {})).toBe(403);
      expect(await statusOf(ann, `/v1/collections/${randomUUID()}:reindex`, {})).toBe(404);
      expect(await statusOf(ann, `${path}:reindex`, { embedding_profile_id: 'never-approved' })).toBe(400);
      expect(await statusOf(ann, `${path}:reindex`, { profile: 'test-profile' })).toBe(400);
    },
  );

  test('a reindex needs no body, whatever media type is named; a body that is not JSON is refused', async () => {
    const collection = `/v1/collections/${collectionId}`;
    const send = async (init: RequestInit) => {
      const headers = { 'x-tenant-id': 'acme', 'x-user-id': 'ann', ...init.headers };
      const answer = await fetch(`${service.url}${collection}:reindex`, { method: 'POST', ...init, headers });
      return [answer.status, ((await answer.json()) as { code?: string }).code];
    };
    const json = { 'content-type': 'application/json' };
    expect(await send({})).toEqual([202, undefined]);
    expect(await send({ headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toEqual([202, undefined]);
    expect(await send({ headers: json })).toEqual([202, undefined]);
    expect(await send({ headers: json, body: new Blob([]).stream(), duplex: 'half' } as RequestInit)).toEqual([
      202,
      undefined,
    ]);
    expect(await send({ body: '{}' })).toEqual([415, 'unsupported_media_type']);
    expect(await send({ headers: json, body: ' ' })).toEqual([400, 'invalid_document']);
    expect(await send({ headers: json, body: 'null' })).toEqual([400, 'invalid_document']);
  });

  verifies(
    [
      'retrieval:health:no-auth',
      'retrieval:health:status-ok',
      'retrieval:health:status-degraded',
      'retrieval:health:components',
      'retrieval:health:details',
    ],
    'health requires no identity; it is ok while all components answer and degraded while one does not, with status 200',
    async () => {
      const health = async () => {
        const answer = await fetch(`${service.url}/health`);
        return [answer.status, await answer.json()];
      };
      const components = { postgres: 'ok', rabbitmq: 'ok', s3: 'ok', opensearch: 'ok' };
      expect(await health()).toEqual([200, { status: 'ok', components, details: expect.any(Object) }]);
      isStoreAway = true;
      const degraded = { status: 'degraded', components: { ...components, s3: 'degraded' } };
      expect(await health()).toMatchObject([200, degraded]);
      isStoreAway = false;
    },
  );

  verifies(
    [
      'retrieval:version:api-version',
      'retrieval:version:path-prefix',
      'retrieval:version:pack-present',
      'retrieval:paths:relative-to-base-url',
    ],
    'the API is version 1.0.0, every path but health begins with /v1, and a path without it is absent',
    async () => {
      const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
        readonly info: { readonly version: string };
        readonly paths: Readonly<Record<string, object>>;
      };
      expect(document.info.version).toBe('1.0.0');
      const paths = Object.keys(document.paths);
      expect(paths).toEqual(expect.arrayContaining(['/v1/query', '/v1/retrieve_and_pack', '/v1/documents:submit']));
      expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual(['/health']);
      for (const path of ['/query', '/retrieve_and_pack', '/documents:submit', '/collections']) {
        expect(await service.call(ann, path, {})).toMatchObject({ status: 404, json: { code: 'not_found' } });
      }
    },
  );

  test('the admin listener serves liveness, readiness and metrics, and the listener for clients serves none of them', async () => {
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const [admin, client] = await Promise.all([fetch(service.adminUrl + path), fetch(service.url + path)]);
      expect([path, admin.status, client.status]).toEqual([path, 200, 404]);
      if (path === '/metrics') expect(await admin.text()).toContain('portcullis_retrieval_requests_total{');
    }
  });
});
