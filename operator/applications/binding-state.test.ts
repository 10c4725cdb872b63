import { describe, expect, test } from 'vitest';
import { type ConditionState, conditionState } from '#resources/binding-state';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import type { Snapshot } from '../controllers/model-binding/snapshot/snapshot.ts';
import type { PassResult, Settlement } from '../controllers/model-binding/snapshot/steps.ts';
import { aspectsOf } from '../controllers/model-binding/status/conditions.ts';
import { makeStatus } from '../controllers/model-binding/status/status.ts';
import { replicaOf, routeViewOf, snapshotOf } from '../controllers/model-binding/testing/snapshots.ts';
import { bindingObject } from '../testing/objects.ts';

const message = 'the reason';
const unguarded: Partial<ModelBindingSpec> = { guardrail: { mode: 'None' } };

type Case = {
  readonly result: PassResult;
  readonly snapshot?: Partial<Snapshot>;
  readonly spec?: Partial<ModelBindingSpec>;
  readonly rest?: Partial<Settlement>;
};

/** A binding with the conditions of a pass that ended in this way. */
function settled({ result, snapshot = {}, spec = {}, rest = {} }: Case): Stored<ModelBinding> {
  const object = bindingObject('chat', spec);
  const s = snapshotOf({ route: routeViewOf(), ...snapshot }, { spec: object.spec });
  const settlement = { result, ...rest };
  const server = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    ...object,
    metadata: { ...object.metadata, ...server },
    status: makeStatus(s, settlement, aspectsOf(s, settlement), new Date(0)),
  };
}

const failed: PassResult = { kind: 'failed', reason: 'policy_tests_failed', phase: 'workload', message };
const rows: readonly (readonly [string, Case, ConditionState])[] = [
  ['applied', { result: { kind: 'applied' } }, 'applied'],
  ['applied without a guardrail', { result: { kind: 'applied' }, spec: unguarded }, 'unbound'],
  [
    'applied, with a disabled provider',
    { result: { kind: 'applied' }, snapshot: { route: routeViewOf({}, { state: 'Disabled' }) } },
    'disabled',
  ],
  ['starting', { result: { kind: 'starting', message } }, 'pending'],
  ['waiting for replicas', { result: { kind: 'confirming', message } }, 'pending'],
  ['waiting for a policy', { result: { kind: 'unresolved', reason: 'PolicyNotFound', message } }, 'pending'],
  [
    'in progress because of a technical fault',
    { result: { kind: 'blocked', reason: 'StorageFull', message } },
    'pending',
  ],
  [
    'applied, but its workload cannot be started again',
    { result: { kind: 'applied' }, rest: { degraded: message } },
    'pending',
  ],
  ['being deleted', { result: { kind: 'leaving', message } }, 'pending'],
  ['failed', { result: failed }, 'failed'],
  ['recorded as failed in an earlier pass', { result: { ...failed, message: undefined } }, 'failed'],
  ['without its alias', { result: { kind: 'not_accepted', reason: 'AliasConflict', message } }, 'failed'],
  [
    'rejected by a replica after it was applied',
    { result: { kind: 'applied' }, snapshot: { replicas: [replicaOf('gateway-1', { rejected: 'no' })] } },
    'failed',
  ],
];

describe('the state of a binding, derived from its conditions', () => {
  test.each(rows)('the state of a binding that is %s', (_what, one, state) =>
    expect(conditionState(settled(one))).toBe(state),
  );

  test.each(rows)('the state of a binding that was %s is pending after an edit, until the next pass', (_what, one) => {
    const binding = settled(one);
    const edited = { ...binding, metadata: { ...binding.metadata, generation: 2 } };
    expect(conditionState(edited)).toBe('pending');
  });

  test('the state of a binding with a disabled model is disabled, whatever the outcome of its application', () => {
    for (const [, one] of rows) {
      const binding = settled(one);
      const model = { ...binding.spec.model, state: 'Disabled' as const };
      expect(conditionState({ ...binding, spec: { ...binding.spec, model } })).toBe('disabled');
    }
  });

  test('the state of a binding that is being deleted or was not reconciled yet is pending', () => {
    const binding = settled({ result: { kind: 'applied' } });
    const { status: _status, ...fresh } = binding;
    expect(conditionState(fresh)).toBe('pending');
    const deletionTimestamp = '2026-01-01T00:00:01Z';
    expect(conditionState({ ...binding, metadata: { ...binding.metadata, deletionTimestamp } })).toBe('pending');
  });
});
