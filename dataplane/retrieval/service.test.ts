import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, openRetrieval } from './testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['sales'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the retrieval service'), () => {
  let service: OpenedRetrieval;
  beforeAll(async () => {
    service = await openRetrieval();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('a document that is submitted is found by a member of its group and by no other user', async () => {
    const created = await service.call(ann, '/v1/collections', {
      name: 'handbook',
      embedding_profile_id: 'test-profile',
    });
    expect([created.status, created.json]).toMatchObject([
      201,
      { name: 'handbook', status: 'created', tenant_id: 'acme' },
    ]);
    const jobs = await service.ingest(ann, [
      documentOf('handbook', 'travel', 'Hotels cost at most 180 euros a night.'),
      documentOf('handbook', 'pay', 'Salaries are paid on the last day.', { acl: { principals: ['ann'] } }),
    ]);
    expect(jobs.map(({ status, error }) => [status, error])).toEqual([
      ['DONE', null],
      ['DONE', null],
    ]);
    const query = { collection: 'handbook', text: 'hotel', mode: 'bm25' };
    const found = await service.call(ann, '/v1/query', query, { 'x-trace-id': 'trace-of-ann' });
    expect(found.json).toMatchObject({
      items: [{ doc_id: 'travel', title: 'Title of travel', heading: 'Part' }],
      meta: { mode: 'bm25', top_k: 8, rerank: false, trace_id: 'trace-of-ann' },
    });
    expect(await service.call(bob, '/v1/query', query)).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    const packed = await service.call(ann, '/v1/retrieve_and_pack', {
      ...query,
      mode: 'hybrid',
      text: 'hotel salaries',
      token_budget: 200,
    });
    expect(packed.json).toMatchObject({ mode: 'full_document', items: [{}, {}] });
  });
});
