import { expect, test } from 'vitest';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import { changesOfBinding } from './observed-changes.ts';

const operation = '01900000-0000-7000-8000-000000000001';
const record = (generationId: string, change: Partial<ApplicationRecord> = {}): ApplicationRecord => ({
  operationId: operation,
  contentProfile: 'text.v1',
  outcome: 'Applied',
  generationId,
  time: `2026-01-01T00:00:0${generationId.slice(1)}.000Z`,
  ...change,
});
const bound = { policyId: '01900000-0000-7000-8000-0000000000aa', policyRevision: 1 };

/** Which applications the token of a command claims, the oldest first. */
function claimedOf(...applications: readonly ApplicationRecord[]): readonly boolean[] {
  const metadata = { name: 'm', uid: 'uid-1', labels: { [idLabel]: '01900000-0000-7000-8000-0000000000bb' } };
  const binding = { metadata, status: { applications: applications.toReversed() } };
  const changes = changesOfBinding(binding as unknown as Stored<ModelBinding>);
  return changes.map(({ claims }) => claims !== undefined).toReversed();
}

test('a confirmed application is not made again by its command when a client repeats it with the token', () => {
  expect(claimedOf(record('g1'), record('g2', bound), record('g3'))).toEqual([true, false, false]);
  expect(claimedOf(record('g1', bound), record('g2', { ...bound, policyRevision: 2 }), record('g3', bound))).toEqual([
    true,
    false,
    false,
  ]);
});

test('an application that failed because a dependency was missing is still that of its command when it is confirmed later', () => {
  expect(claimedOf(record('g1', { outcome: 'Failed', reason: 'provider_unavailable' }), record('g1'))).toEqual([
    true,
    true,
  ]);
});

test('a generation that the operator goes back to is still that of its command', () => {
  const other = { operationId: '01900000-0000-7000-8000-000000000002', ...bound };
  const failed = { ...other, outcome: 'Failed', reason: 'replica_rejected' } as const;
  expect(
    claimedOf(record('g1', bound), record('g2', failed), record('g1', { ...bound, time: '2026-01-01T00:00:09.000Z' })),
  ).toEqual([true, true, true]);
});
