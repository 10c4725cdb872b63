import { expect, test } from 'vitest';
import type { FailingProvider } from '#contracts/failing-provider';
import type { Collection } from '#contracts/retrieval';
import { collectionConditions } from './conditions.ts';

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
