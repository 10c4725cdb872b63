import { expect, test } from 'vitest';
import type { Settlement } from '../snapshot/steps.ts';
import { generationId, replicaOf, routeViewOf, snapshotOf } from '../testing/snapshots.ts';
import { bindingEvents } from './binding-events.ts';
import { aspectsOf } from './conditions.ts';
import { makeStatus } from './status.ts';

function statusOf(settlement: Settlement, change: Parameters<typeof snapshotOf>[0] = {}) {
  const s = snapshotOf({ route: routeViewOf(), ...change });
  return makeStatus(s, settlement, aspectsOf(s, settlement), new Date(0));
}

const record = { operationId: 't', policyRevision: 1, contentProfile: 'p', generationId } as const;
const told = (
  settlement: Settlement,
  change: Parameters<typeof snapshotOf>[0] = {},
  before = statusOf(settlement, change),
) => bindingEvents(before, statusOf(settlement, change), settlement).map(({ type, reason }) => `${type} ${reason}`);

test('the outcome of an application is an event with the message of its condition, and a removed guardrail warns', () => {
  const applied: Settlement = { result: { kind: 'applied' }, outcome: { ...record, outcome: 'Applied' } };
  expect(told(applied)).toEqual(['Normal Applied']);
  const { policyRevision: _none, ...open } = record;
  const unguarded: Settlement = { result: { kind: 'applied' }, outcome: { ...open, outcome: 'Applied' } };
  expect(told(unguarded)).toEqual(['Warning Unguarded']);
  const failed: Settlement = {
    result: { kind: 'failed', phase: 'workload', reason: 'policy_tests_failed', message: 'the test greets failed' },
    outcome: { ...record, outcome: 'Failed', reason: 'policy_tests_failed' },
  };
  expect(told(failed)).toEqual(['Warning ApplicationFailed']);
  const [event] = bindingEvents(undefined, statusOf(failed), failed);
  expect(event?.note).toContain('the test greets failed');
});

test('conflicts and rejections are events when they begin, once', () => {
  const conflict: Settlement = { result: { kind: 'not_accepted', reason: 'AliasConflict', message: 'm' } };
  expect(told(conflict, {}, statusOf({ result: { kind: 'applied' } }))).toEqual(['Warning AliasConflict']);
  expect(told(conflict)).toEqual([]);
  const rejecting = { replicas: [replicaOf('b', { rejected: 'x' })] };
  const applied: Settlement = { result: { kind: 'applied' } };
  expect(told(applied, rejecting, statusOf(applied))).toEqual(['Warning RouteRejected']);
  expect(told(applied, rejecting)).toEqual([]);
});

test('a pass without an outcome or a new problem emits no event', () => {
  expect(told({ result: { kind: 'starting', message: 'm' } })).toEqual([]);
  expect(bindingEvents(undefined, statusOf({ result: { kind: 'confirming', message: 'm' } }), {})).toEqual([]);
});
