import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval, type TestCaller } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['board'] };
const path = '/v1/evaluations';

describe.skipIf(missingPostgres !== undefined)(onPostgres('evaluations'), () => {
  let service: OpenedRetrieval;
  const evaluate = (caller: TestCaller, more: object) =>
    service.call(caller, path, { collection: 'handbook', modes: ['bm25'], ...more });
  const judged = (text: string, ...ids: readonly string[]) => ({ text, relevant: ids.map((doc_id) => ({ doc_id })) });

  beforeAll(async () => {
    service = await openRetrieval();
    const body = { name: 'handbook', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
    await service.ingest(ann, [
      documentOf('handbook', 'hotels', `Hotels in Bern. ${'A hotel has rooms. '.repeat(80)}`),
      documentOf('handbook', 'trains', 'Trains to Bern.'),
      documentOf('handbook', 'plans', 'Secret hotels of the board.', { acl: { groups: ['board'] } }),
    ]);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  verifies(
    ['retrieval:surface:eval'],
    'an evaluation measures each mode over documents, and several chunks of one document count once',
    async () => {
      const judgements = [judged('hotel rooms', 'hotels'), judged('train', 'trains')];
      const { status, json } = await evaluate(ann, { judgements, modes: ['bm25', 'vector', 'hybrid'] });
      expect(status).toBe(200);
      expect(json).toMatchObject({ top_k: 10, queries: 2 });
      const results = json['results'] as readonly Record<string, unknown>[];
      expect(results.map(({ mode }) => mode)).toEqual(['bm25', 'vector', 'hybrid']);
      expect(results[0]).toMatchObject({ ndcg: 1, recall: 1, mrr: 1 });
      for (const { p50_ms, p95_ms } of results) expect(Number(p50_ms)).toBeLessThanOrEqual(Number(p95_ms));
      const missed = await evaluate(ann, { judgements: [judged('train', 'hotels')] });
      expect(missed.json['results']).toMatchObject([{ ndcg: 0, recall: 0, mrr: 0 }]);
    },
  );

  test('an evaluation whose time has passed ends with an error that names the queries, and has no results', async () => {
    await using short = await openRetrieval({ overrides: { evaluationMs: -1 } });
    const body = { name: 'handbook', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect((await short.call(ann, '/v1/collections', body)).status).toBe(201);
    const judgements = [judged('train', 'trains')];
    const { status, json } = await short.call(ann, path, { collection: 'handbook', modes: ['bm25'], judgements });
    expect([status, json['results']]).toEqual([503, undefined]);
    expect(JSON.stringify(json)).toContain('send fewer queries or modes');
  });

  test('a document that the caller may not read is treated as a document that does not exist', async () => {
    const numbers = async (caller: TestCaller, id: string) => {
      const { json } = await evaluate(caller, { judgements: [judged('secret hotels', id, 'hotels')] });
      const [{ ndcg, recall, mrr } = {}] = json['results'] as readonly Record<string, unknown>[];
      return { ndcg, recall, mrr };
    };
    expect(await numbers(ann, 'plans')).toEqual(await numbers(ann, 'never'));
    expect(await numbers(bob, 'plans')).toMatchObject({ recall: 1 / 2, mrr: 1 });
    const denied = await service.call({ ...ann, tenant: 'other' }, path, {
      collection: 'handbook',
      judgements: [judged('a', 'b')],
    });
    expect(denied.status).toBe(404);
  });

  test('limits of an evaluation are enforced on both sides, and the error names the path', async () => {
    const many = (count: number) => Array.from({ length: count }, () => judged('train', 'trains'));
    const relevant = (count: number) => [judged('train', ...Array.from({ length: count }, (_, at) => `d${at}`))];
    const graded = (grade: unknown) => [{ text: 'train', relevant: [{ doc_id: 'trains', grade }] }];
    const answers: readonly (readonly [object, number, string?])[] = [
      [{ judgements: many(100) }, 200],
      [{ judgements: many(101) }, 400, 'judgements'],
      [{ judgements: [] }, 400, 'judgements'],
      [{ judgements: relevant(100) }, 200],
      [{ judgements: relevant(101) }, 400, 'judgements[0].relevant'],
      [{ judgements: [{ text: 'train', relevant: [] }] }, 400, 'judgements[0].relevant'],
      [{ judgements: [judged('train', 'a', 'a')] }, 400, 'judgements[0].relevant'],
      [{ judgements: graded(1) }, 200],
      [{ judgements: graded(4) }, 200],
      [{ judgements: graded(0) }, 400, 'judgements[0].relevant[0].grade'],
      [{ judgements: graded(5) }, 400, 'judgements[0].relevant[0].grade'],
      [{ judgements: many(1), top_k: 20 }, 200],
      [{ judgements: many(1), top_k: 21 }, 400, 'top_k'],
      [{ judgements: many(1), top_k: 0 }, 400, 'top_k'],
      [{ judgements: many(1), modes: ['bm25', 'bm25'] }, 400, 'modes'],
      [{ judgements: many(1), modes: [] }, 400, 'modes'],
      [{ judgements: [judged('t'.repeat(8_192), 'trains')] }, 200],
      [{ judgements: [judged('t'.repeat(8_193), 'trains')] }, 400, 'judgements[0].text'],
      [{ judgements: [judged('', 'trains')] }, 400, 'judgements[0].text'],
      [{ judgements: [judged('train', 'd'.repeat(1_024))] }, 200],
      [{ judgements: [judged('train', 'd'.repeat(1_025))] }, 400, 'judgements[0].relevant[0].doc_id'],
      [{ judgements: [judged('train', '')] }, 400, 'judgements[0].relevant[0].doc_id'],
      [{ judgements: many(1), modes: ['bm25', 'vector', 'hybrid'] }, 200],
      [{ judgements: many(1), modes: ['bm25', 'vector', 'hybrid', 'bm25'] }, 400, 'modes'],
      [{ judgements: many(1), top_k: 1 }, 200],
      [{ judgements: many(1), other: 1 }, 400, 'unknown field'],
    ];
    for (const [body, status, place = ''] of answers) {
      const { status: answered, json } = await evaluate(ann, body);
      expect([answered, String(json['message'] ?? '')]).toEqual([status, expect.stringContaining(place)]);
    }
  });
});
