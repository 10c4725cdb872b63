import { expect, test } from 'vitest';
import { type ApplicationRecord, failureReasons } from '#resources/model-binding';
import { addOutcome, hasOutcome, isApplied, isFinal, ringSize } from './ring.ts';

function record(generationId: string, outcome: ApplicationRecord['outcome'] = 'Failed'): ApplicationRecord {
  return { operationId: '', contentProfile: 'p', generationId, outcome, time: '' };
}

function names(ring: readonly ApplicationRecord[]): readonly (string | undefined)[] {
  return ring.map(({ generationId }) => generationId);
}

test('keeps the newest five, newest first', () => {
  const ring = ['1', '2', '3', '4', '5'].reduce<readonly ApplicationRecord[]>(
    (all, id) => addOutcome(all, record(id), undefined),
    [],
  );
  expect(names(ring)).toEqual(['5', '4', '3', '2', '1']);
  expect(names(addOutcome(ring, record('6'), undefined))).toEqual(['6', '5', '4', '3', '2']);
});

test('never loses what says that the pinned generation was applied', () => {
  let ring = addOutcome([], record('pinned', 'Applied'), 'pinned');
  for (let count = 1; count <= 7; count++) ring = addOutcome(ring, record(String(count)), 'pinned');
  expect(ring).toHaveLength(ringSize);
  expect(names(ring)).toEqual(['7', '6', '5', '4', 'pinned']);
  expect(isApplied(ring, 'pinned')).toBe(true);
});

test('tells an outcome from an application', () => {
  const ring = [record('a'), record('b', 'Applied')];
  expect([isApplied(ring, 'a'), isApplied(ring, 'b'), isApplied(ring, 'c')]).toEqual([false, true, false]);
  expect([hasOutcome(ring, 'a'), hasOutcome(ring, 'c')]).toEqual([true, false]);
});

test('tells what may still appear from what failed for good', () => {
  const { generationId: _none, ...early } = record('');
  const open = failureReasons.filter((reason) => !isFinal({ ...early, reason }));
  expect(open).toEqual(['policy_revision_unknown', 'provider_unknown', 'progress_deadline_exceeded']);
  expect(isFinal({ ...record('a'), reason: 'progress_deadline_exceeded' })).toBe(true);
  expect(isFinal(record('a', 'Applied'))).toBe(true);
});
