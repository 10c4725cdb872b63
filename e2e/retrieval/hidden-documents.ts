import { expect } from 'vitest';
import { until } from '#kit/testing/until';
import {
  documentOf,
  type OpenedRetrieval,
  type TestCaller,
} from '../../dataplane/retrieval/testing/start-retrieval.ts';

const [ann, bob] = [{ user: 'ann' }, { user: 'bob' }];
const text = (repeats: number): string => `${'words '.repeat(repeats)}${'other text '.repeat(20)}`;
const questions = ['words', 'other words', 'nothing'].flatMap((asked) =>
  ['bm25', 'vector', 'hybrid'].flatMap((mode) => [1, 3, 100].map((top_k) => ({ text: asked, mode, top_k }))),
);

/** Members of documents that bob may not see: by their access list, not yet valid, and no longer valid. */
const hidings: readonly object[] = [
  { acl: { groups: ['board'] } },
  { acl: { principals: ['bob'] }, metadata: { valid_from: '2999-01-01T00:00:00Z' } },
  { acl: { principals: ['bob'] }, metadata: { valid_until: '2001-01-01T00:00:00+03:00' } },
];

/**
 * Compares every answer of a collection, with its scores, before and after documents were added that match better and
 * that the caller may not see.
 */
export async function expectNoTraceOfHidden(service: OpenedRetrieval, name: string): Promise<void> {
  const body = { name, embedding_profile_id: 'test-profile' };
  const { status, json } = await service.call(ann, '/v1/collections', body);
  expect(status).toBe(201);
  const collection = json['collection_id'] as string;
  await service.call(ann, `/v1/collections/${collection}/readers`, { user_id: 'bob' });
  const seen = [1, 2, 3, 4].map((repeats) =>
    documentOf(name, `seen-${repeats}`, text(repeats), { acl: { principals: ['bob'] } }),
  );
  await service.ingest(ann, seen);
  const before = await answersOf(service, bob, collection);
  expect(before[0]?.items[0]?.score).toBeCloseTo(1 / 61, 10);
  for (const [at, hiding] of hidings.entries()) {
    const hidden = Array.from({ length: 40 }, (_, place) =>
      documentOf(name, `hidden-${at}-${place}`, text(5 + place), hiding),
    );
    await service.ingest(ann, hidden);
    expect(await answersOf(service, bob, collection), JSON.stringify(hiding)).toEqual(before);
  }
}

type Answer = { readonly items: readonly { readonly score: number }[]; readonly whole: unknown };

/** The answers to every question; a search that first loads the partition may be repeated. */
async function answersOf(service: OpenedRetrieval, caller: TestCaller, collection: string): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const question of questions) {
    const whole = await until('the query is answered', async () => {
      const { status, json } = await service.call(
        caller,
        '/v1/query',
        { collection, ...question },
        { 'x-trace-id': 'same' },
      );
      if (status !== 503) expect(status, JSON.stringify(json)).toBe(200);
      return status === 200 && json;
    });
    answers.push({ items: whole['items'] as Answer['items'], whole });
  }
  return answers;
}
