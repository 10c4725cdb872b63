import { expect, test } from 'vitest';
import type { OverviewModel } from '#contracts/overview';
import { adviceFor, isProgress } from '#diagnosis/advice';
import { problemsOfOverview } from './overview-problems.ts';

const names = { program: 'portcullis', binding: 'echo', policy: 'chat' };

function model(state: OverviewModel['state'], reason: string): OverviewModel {
  return {
    name: 'echo',
    modelId: null,
    alias: 'echo',
    gateway: 'default',
    state,
    wanted: { policy: 'chat', revision: 2 },
    policyId: null,
    serves: 'revision 1 of chat',
    servesRevision: '1',
    previous: null,
    replicas: [],
    summary: 'ModelBinding echo is not applied.',
    isWell: false,
    whatToDo: adviceFor(reason, names),
    runbook: null,
    appliedBy: null,
  };
}

const found = (...models: OverviewModel[]) => problemsOfOverview({ models }).map(({ whatToDo }) => whatToDo);

test.each([['Pending'], ['NotLookedAt'], ['Starting'], ['WorkloadMissing'], ['NoRoute']])(
  'a model whose first cause is %s, a step of a rollout, is no problem over the management API',
  (reason) => {
    expect(isProgress(reason)).toBe(true);
    expect(found(model('pending', reason))).toEqual([]);
  },
);

test.each([
  ['pending', 'WaitingForReplicas'],
  ['pending', 'NoReplica'],
  ['failed', 'PolicyNotFound'],
  ['applied', 'PodNotAnswering'],
] as const)('a model in the state %s because of %s is a problem', (state, reason) => {
  expect(isProgress(reason)).toBe(false);
  expect(found(model(state, reason))).toEqual([adviceFor(reason, names)]);
});

test('a model that is being deleted and a healthy model are no problem', () => {
  expect(found(model('deleting', 'Deleting'))).toEqual([]);
  expect(found({ ...model('applied', 'Applied'), isWell: true, whatToDo: null })).toEqual([]);
});
