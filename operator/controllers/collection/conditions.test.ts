import { expect, test } from 'vitest';
import type { FailingProvider } from '#contracts/failing-provider';
import type { Collection } from '#contracts/retrieval';
import { collectionConditions } from './conditions.ts';
import { makeCollectionStatus } from './status.ts';

const collection = { embedding_profile_id: 'main', status: 'ready' } as Collection;
const names: FailingProvider = { rule: 'names', provider: 'presidio', cause: 'name_not_found' };

function conditionsOf(...failingProviders: readonly FailingProvider[]) {
  const all = collectionConditions({ kind: 'ensured', collection, failingProviders }, 'main', 3);
  return [all[0], all.find(({ type }) => type === 'ProviderReachable')];
}

test('a Collection whose documents wait for a detector stays Ready, and a condition names rule, provider and cause', () => {
  expect(conditionsOf()).toMatchObject([{ status: 'True' }, { status: 'True', reason: 'Reachable' }]);
  const [ready, providers] = conditionsOf(names);
  expect(ready).toMatchObject({ type: 'Ready', status: 'True' });
  expect(providers).toMatchObject({
    status: 'False',
    reason: 'HostNotFound',
    message: expect.stringContaining('The provider presidio of the rule names cannot be used'),
    observedGeneration: 3,
  });
  expect(conditionsOf(names, { ...names, rule: 'cards' })[1]?.message).toMatch(/ 1 more rules are not judged\.$/);
});

test('while the retrieval service does not answer, the condition of the detectors keeps its value', () => {
  const all = collectionConditions({ kind: 'away', why: 'no_answer', deleting: false }, 'main', 3);
  expect(all.map(({ type }) => type)).toEqual(['Ready', 'Accepted', 'Synced']);
});

test('a failed reindex names its cause in the condition of the profile, on one line and truncated to its limit', () => {
  const messageOf = (failure: string | null) => {
    const reindex = { version: 2, state: 'failed' as const, failure } as Collection['reindex'];
    const failed = { ...collection, reindex } as Collection;
    const all = collectionConditions({ kind: 'ensured', collection: failed, failingProviders: [] }, 'other', 3);
    const { status, reason, message = '' } = all.find(({ type }) => type === 'ProfileActive') ?? {};
    expect([status, reason]).toEqual(['False', 'ReindexFailed']);
    return message;
  };
  expect(messageOf(null)).toMatch(/reindex over HTTP\.$/);
  expect(messageOf('job 1 is\nFAILED: the policy denies it')).toContain(
    'The cause: job 1 is FAILED: the policy denies it.',
  );
  expect(messageOf('a'.repeat(500))).toContain(` ${'a'.repeat(500)}.`);
  expect(messageOf('a'.repeat(501))).toContain(` ${'a'.repeat(499)}….`);
});

test('the condition of a refused profile or member says whether the other values of the spec were applied', () => {
  const syncedOf = (result: Parameters<typeof collectionConditions>[0]) =>
    collectionConditions(result, 'main', 3).find(({ type }) => type === 'Synced')?.message;
  const other = 'has the other values';
  expect(syncedOf({ kind: 'refused', member: 'embedding_profile_id' })).toContain(other);
  expect(syncedOf({ kind: 'refused', member: 'chunking' })).toBe('The collection is not changed.');
  expect(syncedOf({ kind: 'conflict', over: 'embedding_profile_id' })).toContain(other);
  expect(syncedOf({ kind: 'conflict', over: 'name' })).toContain('The collection is not changed because of its name');
});

test('the status contains the failure of a failed reindex, and none while a reindex is in progress', () => {
  const reindex = { version: 2, embedding_profile_id: 'other', documents_total: 2, documents_done: 1 };
  const statusOf = (state: 'failed' | 'building') => {
    const observed = { ...collection, parent_id: null, reindex: { ...reindex, state, failure: 'the worker stopped' } };
    const stored = { metadata: { generation: 1 }, spec: { embeddingProfile: 'other' } };
    const result = { kind: 'ensured', collection: observed as Collection, failingProviders: [] } as const;
    return makeCollectionStatus(stored as never, result, new Date(0)).reindex;
  };
  expect(statusOf('failed')).toMatchObject({ state: 'Failed', failure: 'the worker stopped' });
  expect(statusOf('building')).not.toHaveProperty('failure');
});
