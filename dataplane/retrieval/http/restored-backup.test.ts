import { describe, expect, test } from 'vitest';
import type { IngestJob } from '#contracts/retrieval';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval } from '../testing/open-retrieval.ts';
import { startRetrieval, type TestCaller } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['board'] };
const eve = { user: 'eve' };
const callers: readonly TestCaller[] = [ann, bob, eve];

async function answersOf(service: OpenedRetrieval): Promise<unknown> {
  const answers = [];
  for (const caller of callers) {
    for (const mode of ['bm25', 'vector', 'hybrid']) {
      const query = { collection: 'handbook', text: 'hotels of the board', mode };
      const { status, json } = await service.call(caller, '/v1/query', query);
      answers.push([status, json['items']]);
    }
    answers.push((await service.call(caller, '/v1/collections')).json);
  }
  return answers;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('a restored database'), () => {
  test('a service over a restored database gives every caller the same answers, and an open job without its original ends FAILED', async () => {
    await using parts = new AsyncDisposableStack();
    const original = parts.use(await openTestDatabase());
    let before: unknown;
    let jobId: unknown;
    const openDocument = documentOf('handbook', 'open', 'Submitted before the backup.');
    {
      await using service = await startRetrieval(original);
      const body = { name: 'handbook', visibility: 'public', embedding_profile_id: 'test-profile' };
      expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
      await service.call(ann, '/v1/collections', { ...body, name: 'private', visibility: 'private' });
      await service.ingest(ann, [
        documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.'),
        documentOf('handbook', 'plans', 'Hotels of the board.', { acl: { groups: ['board'] } }),
        documentOf('handbook', 'gone', 'Old hotels.'),
      ]);
      await service.ingest(ann, [documentOf('handbook', 'gone', '', { op: 'delete', content: undefined })]);
      before = await answersOf(service);
    }
    {
      await using service = await startRetrieval(original, { config: { role: 'api' } });
      const sent = { documents: [openDocument] };
      const { json } = await service.call(ann, '/v1/documents:submit', sent);
      [{ job_id: jobId }] = json['jobs'] as [{ job_id: unknown }];
    }
    const copy = parts.use(await original.copy());
    await using restored = await startRetrieval(copy);
    expect(await answersOf(restored)).toEqual(before);
    const failed = await until('the open job has ended', async () => {
      const job = (await restored.call(ann, `/v1/jobs/${jobId}`)).json as unknown as IngestJob;
      return job.status === 'FAILED' && job;
    });
    expect(failed.error).toContain('submit the document with another idempotency_key');
    const submit = async (document: object) =>
      (await restored.call(ann, '/v1/documents:submit', { documents: [document] })).json['jobs'];
    expect(await submit(openDocument)).toEqual([{ doc_id: 'open', job_id: jobId, status: 'DEDUPLICATED' }]);
    const again = { ...openDocument, idempotency_key: 'after the restore' };
    expect(await submit(again)).toMatchObject([{ doc_id: 'open', status: 'PENDING' }]);
  });
});
