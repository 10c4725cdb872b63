import { expect, test } from 'vitest';
import { type ApplicationRecord, failureReasons } from '#resources/model-binding';
import { addOutcome, hasOutcome, historySize, isApplied, isFinal } from './outcome-history.ts';

function record(generationId: string, outcome: ApplicationRecord['outcome'] = 'Failed'): ApplicationRecord {
  return { operationId: '', contentProfile: 'p', generationId, outcome, time: '' };
}

function names(history: readonly ApplicationRecord[]): readonly (string | undefined)[] {
  return history.map(({ generationId }) => generationId);
}

test('the outcome history keeps the newest five outcomes, newest first', () => {
  const history = ['1', '2', '3', '4', '5'].reduce<readonly ApplicationRecord[]>(
    (all, id) => addOutcome(all, record(id), undefined),
    [],
  );
  expect(names(history)).toEqual(['5', '4', '3', '2', '1']);
  expect(names(addOutcome(history, record('6'), undefined))).toEqual(['6', '5', '4', '3', '2']);
});

test('the outcome history keeps the record that the pinned generation was applied', () => {
  let history = addOutcome([], record('pinned', 'Applied'), 'pinned');
  for (let count = 1; count <= 7; count++) history = addOutcome(history, record(String(count)), 'pinned');
  expect(history).toHaveLength(historySize);
  expect(names(history)).toEqual(['7', '6', '5', '4', 'pinned']);
  expect(isApplied(history, 'pinned')).toBe(true);
});

test('the outcome history keeps the previously applied revision, however often the current one is applied again', () => {
  const applied = (generationId: string, content: Partial<ApplicationRecord>): ApplicationRecord => ({
    ...record(generationId, 'Applied'),
    ...content,
  });
  const first = { policyId: 'a', policyRevision: 1 };
  const second = { policyId: 'a', policyRevision: 2 };
  const otherPolicy = { policyId: 'b', policyRevision: 2 };
  const after = (...contents: readonly Partial<ApplicationRecord>[]) =>
    names(
      contents.reduce<readonly ApplicationRecord[]>(
        (all, content, at) => addOutcome(all, applied(String(at + 1), content), String(at + 1)),
        [],
      ),
    );
  expect(after(first, second, second, second, second, second)).toEqual(['6', '5', '4', '3', '1']);
  expect(after(first, second, second, second, second, second, second)).toEqual(['7', '6', '5', '4', '1']);
  expect(after(first, otherPolicy, second, second, second, second, second)).toEqual(['7', '6', '5', '4', '2']);
  expect(after(first, {}, second, second, second, second, second)).toEqual(['7', '6', '5', '4', '1']);
  expect(after(first, {}, {}, {}, {}, {})).toEqual(['6', '5', '4', '3', '1']);
  expect(after(second, second, second, second, second, second)).toEqual(['6', '5', '4', '3', '2']);
});

test('failures remove neither the served application nor the previous one from the outcome history', () => {
  const first = { ...record('first', 'Applied'), policyId: 'a', policyRevision: 1 };
  const second = { ...record('second', 'Applied'), policyId: 'a', policyRevision: 2 };
  let history = addOutcome(addOutcome([], first, 'first'), second, 'second');
  for (let count = 1; count <= 7; count++) history = addOutcome(history, record(String(count)), 'second');
  expect(names(history)).toEqual(['7', '6', '5', 'second', 'first']);
});

test('an outcome matches an application by token and content', () => {
  const history = [record('a'), record('b', 'Applied')];
  expect([isApplied(history, 'a'), isApplied(history, 'b'), isApplied(history, 'c')]).toEqual([false, true, false]);
  expect([hasOutcome(history, 'a'), hasOutcome(history, 'c')]).toEqual([true, false]);
});

test('only a failure because of a missing dependency is retried', () => {
  const { generationId: _none, ...early } = record('');
  const open = failureReasons.filter((reason) => !isFinal({ ...early, reason }));
  expect(open.toSorted()).toEqual([
    'policy_revision_unknown',
    'progress_deadline_exceeded',
    'provider_unavailable',
    'provider_unknown',
  ]);
  expect(isFinal({ ...record('a'), reason: 'progress_deadline_exceeded' })).toBe(true);
  expect(isFinal(record('a', 'Applied'))).toBe(true);
});
