import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestJob } from '#contracts/retrieval';
import type { StoredDocument } from '#contracts/retrieval-documents';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, startRetrieval, type TestCaller } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };
const eve = { user: 'eve', groups: ['board'] };
const stranger = { user: 'ann', tenant: 'other', groups: ['staff', 'board'] };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

describe.skipIf(missingPostgres !== undefined)(onPostgres('stored documents and jobs over HTTP'), () => {
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  let path: string;
  let fault: 'refused' | 'denied' | undefined;

  const create = async (body: object) => {
    const profile = { embedding_profile_id: 'test-profile', ...body };
    const { status, json } = await service.call(ann, '/v1/collections', profile);
    expect(status).toBe(201);
    return `/v1/collections/${json['collection_id']}/documents`;
  };
  const listed = async (caller: TestCaller, from = path) => {
    const { status, json } = await service.call(caller, from);
    expect([status, json['next_page_token']]).toEqual([200, null]);
    return json['items'] as readonly StoredDocument[];
  };
  const idsOf = async (caller: TestCaller) => (await listed(caller)).map(({ doc_id }) => doc_id);
  const jobOf = async (id: unknown) => (await service.call(ann, `/v1/jobs/${id}`)).json as unknown as IngestJob;
  const ended = (id: unknown) =>
    until('the job has ended', async () => {
      const job = await jobOf(id);
      return job.status === 'DONE' || job.status === 'FAILED' ? job : undefined;
    });

  beforeAll(async () => {
    const models = scriptedModels(() => {
      if (fault !== undefined) throw new ModelsError(fault);
    });
    opened = await openTestDatabase();
    service = await startRetrieval(opened, { overrides: { models } });
    path = await create({ name: 'handbook', visibility: 'public' });
    await service.ingest(ann, [
      documentOf('handbook', 'travel', 'Hotels.', { content_hash: 'v1', metadata: { url: 'https://w.example/t' } }),
      documentOf('handbook', 'board/plans', 'Closures.', { acl: { groups: ['board'] } }),
      documentOf('handbook', 'later', 'Next year.', { metadata: { valid_from: '2999-01-01T00:00:00Z' } }),
      documentOf('handbook', 'gone', 'Old.'),
    ]);
    await service.ingest(ann, [documentOf('handbook', 'gone', '', { op: 'delete', content: undefined })]);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  });

  test('a list shows a reader the documents that the current rights allow, and a writer every live one', async () => {
    expect(await idsOf(bob)).toEqual(['travel']);
    expect(await idsOf(eve)).toEqual(['board/plans']);
    expect(await idsOf({ user: 'mallory' })).toEqual([]);
    expect(await idsOf(ann)).toEqual(['board/plans', 'later', 'travel']);
    expect((await listed(bob))[0]).toEqual({
      doc_id: 'travel',
      title: 'Title of travel',
      source_url: 'https://w.example/t',
      metadata: { url: 'https://w.example/t' },
      content_hash: 'v1',
      chunk_count: 1,
      valid_from: null,
      valid_until: null,
      available_at: time,
    });
  });

  test('an agent with the right to write lists and reads the documents that its user may see; a user with that right reads every live document', async () => {
    const closed = await create({ name: 'closed' });
    await service.ingest(ann, [documentOf('closed', 'secret', 'Plans.', { acl: { groups: ['board'] } })]);
    const grants = `${closed.slice(0, -'/documents'.length)}/grants`;
    const granted = await service.call(ann, grants, { relation: 'writer', agent_id: 'importer' });
    expect(granted.status).toBeLessThan(300);
    const mallory = { user: 'mallory', agent: 'importer' };
    const submitted = { documents: [documentOf('closed', 'more', 'Text.', { acl: { groups: ['board'] } })] };
    expect((await service.call(mallory, '/v1/documents:submit', submitted)).status).toBe(202);
    expect(await listed(mallory, closed)).toEqual([]);
    expect((await service.call(mallory, `${closed}/secret`)).status).toBe(404);
    const seenBy = async (caller: TestCaller) => (await listed(caller, closed)).map(({ doc_id }) => doc_id);
    await until('the second document is indexed', async () => (await seenBy(ann)).length === 2);
    expect(await seenBy({ ...mallory, groups: ['board'] })).toEqual(['more', 'secret']);
    expect((await service.call(ann, `${closed}/secret`)).status).toBe(200);
  });

  test('instants with the largest offsets of RFC 3339 become live and are listed in UTC', async () => {
    const dated = await create({ name: 'dated', visibility: 'public' });
    const of = (docId: string, metadata: Record<string, string>) => documentOf('dated', docId, docId, { metadata });
    const jobs = await service.ingest(ann, [
      of('east', { valid_from: '2026-01-01T00:00:00+23:59', valid_until: '2999-01-01T00:00:00.25+16:00' }),
      of('first', { valid_from: '0001-01-01T00:00:00-00:01' }),
      of('last', { valid_until: '9999-12-31T23:59:59.9999999Z' }),
      of('west', { valid_from: '2999-01-01T00:00:00-23:59' }),
    ]);
    expect(jobs.map(({ status, error }) => [status, error])).toEqual(jobs.map(() => ['DONE', null]));
    expect((await listed(ann, dated)).map((one) => [one.doc_id, one.valid_from, one.valid_until])).toEqual([
      ['east', '2025-12-31T00:01:00.000Z', '2998-12-31T08:00:00.250Z'],
      ['first', '0001-01-01T00:01:00.000Z', null],
      ['last', null, '9999-12-31T23:59:59.999Z'],
      ['west', '2999-01-01T23:59:00.000Z', null],
    ]);
    expect((await listed(bob, dated)).map(({ doc_id }) => doc_id)).toEqual(['east', 'first', 'last']);
  });

  test('a document is read by its id with an encoded slash, and one that the caller may not see is answered as absent', async () => {
    const of = (docId: string) => `${path}/${encodeURIComponent(docId)}`;
    expect(await service.call(eve, of('board/plans'))).toMatchObject({ status: 200, json: { doc_id: 'board/plans' } });
    const hidden = await service.call(bob, of('board/plans'));
    const absent = await service.call(bob, of('never'));
    expect([hidden.status, hidden.json['message']]).toEqual([absent.status, absent.json['message']]);
    expect(hidden.status).toBe(404);
    expect((await service.call(bob, of('later'))).status).toBe(404);
    expect((await service.call(ann, of('gone'))).status).toBe(404);
    expect((await service.call(bob, of('x'.repeat(1_024)))).status).toBe(404);
    expect((await service.call(bob, of('x'.repeat(1_025)))).status).toBe(404);
  });

  test('documents of another tenant and of a private collection without rights are not listed', async () => {
    expect((await service.call(stranger, path)).status).toBe(404);
    const own = await create({ name: 'private' });
    expect((await service.call(bob, own)).status).toBe(403);
    expect((await service.call({}, own)).status).toBe(401);
  });

  test('pages of documents contain each one once, even when documents are added and removed between requests', async () => {
    const many = await create({ name: 'many', visibility: 'public' });
    const names = ['a', 'b', 'ö', 'c', 'B', 'd/e'];
    await service.ingest(
      ann,
      names.map((name) => documentOf('many', name, name)),
    );
    const seen: string[] = [];
    for (let next: unknown = '', pages = 0; next !== null; pages += 1) {
      const token = next === '' ? '' : `&page_token=${next}`;
      const { status, json } = await service.call(bob, `${many}?limit=2${token}`);
      expect(status).toBe(200);
      const items = json['items'] as readonly StoredDocument[];
      expect(items.length).toBeLessThanOrEqual(2);
      seen.push(...items.map(({ doc_id }) => doc_id));
      next = json['next_page_token'];
      if (pages === 0) await service.ingest(ann, [documentOf('many', 'A', 'before the page')]);
    }
    expect(seen).toEqual(['B', 'a', 'b', 'c', 'd/e', 'ö']);
  });

  test('page limits are enforced on both sides, and a page token of another list is refused', async () => {
    const statusOf = async (query: string) => (await service.call(ann, `${path}?${query}`)).status;
    expect([await statusOf('limit=1'), await statusOf('limit=200')]).toEqual([200, 200]);
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'limit=1&limit=1', 'page_token=x', 'other=1']) {
      expect([query, await statusOf(query)]).toEqual([query, 400]);
    }
    const jobs = await service.call(ann, '/v1/jobs?collection=handbook&limit=1');
    expect(await statusOf(`page_token=${jobs.json['next_page_token']}`)).toBe(400);
  });

  test('a deletion over HTTP requires the right to write and removes the document, which can be submitted again', async () => {
    const same = documentOf('handbook', 'short/lived', 'A vanishing sundial.');
    await service.ingest(ann, [same]);
    const one = `${path}/${encodeURIComponent('short/lived')}`;
    expect((await service.send(bob, 'DELETE', one)).status).toBe(403);
    expect((await service.send(stranger, 'DELETE', one)).status).toBe(404);
    expect((await service.send(ann, 'DELETE', `${path}/never`)).status).toBe(404);
    for (const _time of [1, 2]) {
      const { status, json } = await service.send(ann, 'DELETE', one);
      expect([status, json['doc_id'], json['status']]).toEqual([202, 'short/lived', 'PENDING']);
      expect(await ended(json['job_id'])).toMatchObject({ status: 'DONE', op: 'delete' });
    }
    expect((await service.call(bob, one)).status).toBe(404);
    await service.ingest(ann, [same]);
    expect((await service.call(bob, one)).status).toBe(200);
  });

  test('jobs are listed by state, newest first, for writers only', async () => {
    const jobs = async (query: string) => {
      const { status, json } = await service.call(ann, `/v1/jobs?collection=handbook${query}`);
      expect(status).toBe(200);
      return json['items'] as readonly IngestJob[];
    };
    const all = await jobs('');
    expect(all.map(({ job_id }) => job_id)).toEqual(
      all
        .map(({ job_id }) => job_id)
        .toSorted()
        .toReversed(),
    );
    expect((await jobs('&state=DONE')).length).toBe(all.length);
    expect(await jobs('&state=DEAD_LETTER')).toEqual([]);
    const first = await service.call(ann, '/v1/jobs?collection=handbook&limit=1');
    const rest = await jobs(`&page_token=${first.json['next_page_token']}`);
    expect(rest).toEqual(all.slice(1));
    expect((await service.call(bob, '/v1/jobs?collection=handbook')).status).toBe(403);
    expect((await service.call(stranger, '/v1/jobs?collection=handbook')).status).toBe(404);
    for (const query of ['', '?collection=handbook&state=LOST', '?collection=']) {
      expect([query, (await service.call(ann, `/v1/jobs${query}`)).status]).toEqual([query, 400]);
    }
  });

  test('a page of jobs that ends with a job of an earlier release, whose id is a UUID of version 4, has a next page', async () => {
    const jobs = async (query: string) => {
      const { status, json } = await service.call(ann, `/v1/jobs?collection=handbook${query}`);
      expect(status).toBe(200);
      return json['items'] as readonly IngestJob[];
    };
    const oldest = (await jobs('')).at(-1);
    const id = `${'f'.repeat(8)}-5a7e-4c21-9b0d-0c6a54f0aa01`;
    await opened.database.sql`update retrieval.jobs set job_id = ${id} where job_id = ${oldest?.job_id ?? ''}`;
    const first = await service.call(ann, '/v1/jobs?collection=handbook&limit=1');
    expect((first.json['items'] as readonly IngestJob[]).map(({ job_id }) => job_id)).toEqual([id]);
    expect(await jobs(`&page_token=${first.json['next_page_token']}`)).toEqual((await jobs('')).slice(1));
  });

  test('a FAILED job is replayed under its id once its cause is removed, and no other job is', async () => {
    fault = 'refused';
    const [failed] = await service.ingest(ann, [documentOf('handbook', 'replayed', 'A patient heron.')]);
    expect(failed?.status).toBe('FAILED');
    const replay = (id: unknown, caller: TestCaller = ann) => service.send(caller, 'POST', `/v1/jobs/${id}:replay`);
    expect((await replay(failed?.job_id, bob)).status).toBe(403);
    expect((await replay(failed?.job_id, stranger)).status).toBe(404);
    expect((await replay(randomUUID())).status).toBe(404);
    fault = undefined;
    const answer = await replay(failed?.job_id);
    expect(answer).toMatchObject({ status: 202, json: { job_id: failed?.job_id, error: null } });
    expect(await ended(failed?.job_id)).toMatchObject({ status: 'DONE' });
    expect(await idsOf(bob)).toContain('replayed');
    expect(await replay(failed?.job_id)).toMatchObject({ status: 409, json: { code: 'conflict' } });
    fault = 'denied';
    const [denied] = await service.ingest(ann, [documentOf('handbook', 'denied', 'A denied heron.')]);
    // Until the original is deleted, a replay runs the job again, which is denied again.
    const refused = await until('the original of a denied document is deleted', async () => {
      const one = await replay(denied?.job_id);
      return one.status === 409 && !String(one.json['message']).includes('is not FAILED') && one;
    });
    fault = undefined;
    expect(refused.json['message']).toContain('job_id names a job whose original was deleted');
  });
});
