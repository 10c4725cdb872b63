import { describe, expect, test } from 'vitest';
import { bindingConditions } from '#resources/binding-state';
import type { Condition } from '#resources/metadata';
import type { FailureReason } from '#resources/model-binding';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { PassResult, Settlement } from '../snapshot/steps.ts';
import { policyId, replicaOf, routeViewOf, snapshotOf, specOf, workloadOf } from '../testing/snapshots.ts';
import { aspectsOf, camel } from './conditions.ts';
import { makeStatus } from './status.ts';

function said(result: PassResult, change: Partial<Snapshot> = {}, rest: Partial<Settlement> = {}) {
  const aspects = aspectsOf(snapshotOf({ route: routeViewOf(), ...change }), { result, ...rest });
  return Object.fromEntries(bindingConditions.map((type) => [type, `${aspects[type].status} ${aspects[type].reason}`]));
}

/** The conditions that a reconcile of this binding writes. */
function statusAt(s: Snapshot, result: PassResult): readonly Condition[] {
  const settlement = { result };
  return makeStatus(s, settlement, aspectsOf(s, settlement), new Date(0)).conditions ?? [];
}

const message = 'the reason';
const quiet = { RouteRejected: 'False NotRejected', ProviderReachable: 'Unknown NotTried' };

describe('conditions of a binding', () => {
  test('a binding whose provider cannot be used is Ready because its guardrail is in force, and names the cause', () => {
    const found = said(
      { kind: 'applied' },
      {
        provider: { kind: 'failing', provider: 'echo', cause: 'certificate_expired' },
      },
    );
    expect(found).toMatchObject({
      Ready: 'True CertificateExpired',
      Applied: 'True Applied',
      ProviderReachable: 'False CertificateExpired',
    });
    expect(said({ kind: 'applied' }, { provider: { kind: 'reachable' } })).toMatchObject({
      Ready: 'True Ready',
      ProviderReachable: 'True Reachable',
    });
  });

  test('a binding whose detector does not judge is Ready and names provider, rule, cause and remedy', () => {
    const fact = { kind: 'failing', provider: 'spam', rule: 'no-spam', cause: 'model_not_found' } as const;
    const conditions = statusAt(snapshotOf({ route: routeViewOf(), provider: fact }), { kind: 'applied' });
    const sentence =
      'The provider spam of the rule no-spam cannot be used: it does not know the model (status 404, model_not_found). ' +
      'To correct it, correct the model of the classifier in providers.yaml.';
    expect(conditions.find(({ type }) => type === 'ProviderReachable')).toMatchObject({
      status: 'False',
      reason: 'ModelNotFound',
      message: sentence,
    });
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      reason: 'ModelNotFound',
      message: `The binding is applied, but texts that this rule judges are refused. ${sentence}`,
    });
  });

  test('the condition of a provider keeps its value until a gateway replica has tried the provider again', () => {
    const applied = { kind: 'applied' } as const;
    const before = statusAt(snapshotOf({ route: routeViewOf(), provider: { kind: 'reachable' } }), applied);
    const after = statusAt(snapshotOf({ route: routeViewOf(), conditions: before }), applied);
    expect(after).toEqual(before);
  });

  test.each<readonly [string, PassResult, Record<string, string>]>([
    [
      'applied',
      { kind: 'applied' },
      {
        Ready: 'True Ready',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'True Ready',
        Applied: 'True Applied',
      },
    ],
    [
      'confirming',
      { kind: 'confirming', message },
      {
        Ready: 'Unknown WaitingForReplicas',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'True Ready',
        Applied: 'Unknown WaitingForReplicas',
      },
    ],
    [
      'starting',
      { kind: 'starting', message },
      {
        Ready: 'Unknown Starting',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'Unknown Starting',
        Applied: 'Unknown Pending',
      },
    ],
    [
      'unresolved',
      { kind: 'unresolved', reason: 'PolicyNotFound', message },
      {
        Ready: 'False PolicyNotFound',
        Accepted: 'True Accepted',
        ResolvedRefs: 'False PolicyNotFound',
        WorkloadReady: 'Unknown Pending',
        Applied: 'Unknown Pending',
      },
    ],
    [
      'not accepted',
      { kind: 'not_accepted', reason: 'AliasConflict', message },
      {
        Ready: 'False AliasConflict',
        Accepted: 'False AliasConflict',
        ResolvedRefs: 'Unknown NotAccepted',
        WorkloadReady: 'True Ready',
        Applied: 'False AliasConflict',
      },
    ],
    [
      'failed before the workload',
      { kind: 'failed', phase: 'references', reason: 'provider_unknown', message },
      {
        Ready: 'False ProviderUnknown',
        Accepted: 'True Accepted',
        ResolvedRefs: 'False ProviderUnknown',
        WorkloadReady: 'Unknown Pending',
        Applied: 'False ProviderUnknown',
      },
    ],
    [
      'failed at the workload',
      { kind: 'failed', phase: 'workload', reason: 'policy_tests_failed', message },
      {
        Ready: 'False PolicyTestsFailed',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'False PolicyTestsFailed',
        Applied: 'False PolicyTestsFailed',
      },
    ],
    [
      'failed at the replicas',
      { kind: 'failed', phase: 'replicas', reason: 'replica_rejected', message },
      {
        Ready: 'False ReplicaRejected',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'True Ready',
        Applied: 'False ReplicaRejected',
      },
    ],
    [
      'blocked',
      { kind: 'blocked', reason: 'StorageFull', message },
      {
        Ready: 'False StorageFull',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'False StorageFull',
        Applied: 'Unknown Pending',
      },
    ],
    [
      'leaving',
      { kind: 'leaving', message },
      {
        Ready: 'False Deleting',
        Accepted: 'True Accepted',
        ResolvedRefs: 'True Resolved',
        WorkloadReady: 'Unknown Pending',
        Applied: 'Unknown Pending',
      },
    ],
  ])('the conditions of a binding that is %s', (_name, result, expected) =>
    expect(said(result)).toEqual({ ...expected, ...quiet }),
  );

  test('a dependency that was missing is no longer reported when another one is missing', () => {
    const before = { type: 'Applied', status: 'False', reason: 'ProviderUnknown', message } as const;
    const conditions = [{ ...before, observedGeneration: 1, lastTransitionTime: '' }];
    const record = { operationId: '', contentProfile: '', outcome: 'Failed', time: '' } as const;
    const failed = (reason: FailureReason) => ({ history: [{ ...record, reason }], conditions });
    const unresolved = { kind: 'unresolved', reason: 'PolicyNotFound', message } as const;
    const saidOf = (change: Partial<Snapshot>) => said(unresolved, change).Applied;
    expect(saidOf(failed('provider_unknown'))).toBe('Unknown Pending');
    expect(saidOf(failed('bundle_invalid'))).toBe('False ProviderUnknown');
    const lost = { route: routeViewOf({ workload: workloadOf('g-1', { runnable: false }) }) };
    expect(saidOf({ ...failed('provider_unknown'), ...lost })).toBe('False ProviderUnknown');
  });

  test('a rejection after the application sets RouteRejected and leaves Applied unchanged', () => {
    const rejecting = { replicas: [replicaOf('b', { rejected: 'x' })] };
    expect(said({ kind: 'applied' }, rejecting)).toMatchObject({
      Ready: 'False RejectedByReplica',
      Applied: 'True Applied',
      RouteRejected: 'True RejectedByReplica',
    });
  });

  test('an applied binding with an unknown provider, a missing policy or a workload that cannot restart is not Ready', () => {
    const applied: PassResult = { kind: 'applied' };
    expect(said(applied, { upstream: { kind: 'unknown', provider: 'x' } }).Ready).toBe('False ProviderUnknown');
    expect(said(applied, { policy: { kind: 'absent', name: 'guard' } }).Ready).toBe('False PolicyNotFound');
    expect(said(applied, {}, { degraded: message })).toMatchObject({
      Ready: 'False RunningAgain',
      WorkloadReady: 'False RunningAgain',
    });
  });

  test('the message of a recorded failure is kept in later passes', () => {
    const failure: PassResult = { kind: 'failed', phase: 'workload', reason: 'bundle_invalid', message };
    const first = snapshotOf({ route: routeViewOf() });
    const told = makeStatus(first, { result: failure }, aspectsOf(first, { result: failure }), new Date(0));
    const later = snapshotOf(
      { route: routeViewOf(), conditions: told.conditions ?? [] },
      { generation: 2, spec: specOf() },
    );
    const settlement: Settlement = { result: { ...failure, message: undefined } };
    const kept = makeStatus(later, settlement, aspectsOf(later, settlement), new Date(9_000));
    const strip = (list: readonly Condition[] | undefined) => list?.map(({ observedGeneration: _n, ...rest }) => rest);
    expect(strip(kept.conditions)).toEqual(strip(told.conditions));
    expect(kept.conditions?.every((condition) => condition.observedGeneration === 2)).toBe(true);
    const lost = aspectsOf(snapshotOf({ route: routeViewOf() }), settlement);
    expect(lost.Applied).toMatchObject({ status: 'False', reason: 'BundleInvalid' });
  });

  test('a condition changes its transition time only with its status, and an unchanged state writes nothing', () => {
    const s = snapshotOf({ route: routeViewOf() });
    const settlement: Settlement = { result: { kind: 'confirming', message } };
    const first = makeStatus(s, settlement, aspectsOf(s, settlement), new Date(0));
    const again = snapshotOf({ route: routeViewOf(), conditions: first.conditions ?? [] });
    expect(makeStatus(again, settlement, aspectsOf(again, settlement), new Date(60_000))).toEqual(first);
    const other: Settlement = { result: { kind: 'confirming', message: 'another' } };
    const changed = makeStatus(again, other, aspectsOf(again, other), new Date(60_000));
    expect(changed.conditions?.find(({ type }) => type === 'Applied')).toMatchObject({
      message: 'another',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    });
  });

  describe('of a binding that is not accepted', () => {
    const conflict: PassResult = {
      kind: 'not_accepted',
      reason: 'AliasConflict',
      message: 'the alias taken of gateway default belongs to the binding first',
    };
    const elsewhere = { spec: specOf({ apply: 'second' }) };

    test('an alias conflict reports the owner of the alias and the alias that is served', () => {
      const told = (change: Partial<Snapshot>) => aspectsOf(snapshotOf(change), { result: conflict }).Applied;
      const first = 'the alias taken of gateway default belongs to the binding first.';
      expect(told({ route: routeViewOf() })).toEqual({
        status: 'False',
        reason: 'AliasConflict',
        message: `${first} The current application keeps serving the alias chat.`,
      });
      expect(told({}).message).toBe(`${first} This binding serves no alias.`);
      expect(told({ route: routeViewOf({}, { alias: '~id' }) }).message).toBe(
        `${first} It has released its alias for bindings that exchange theirs.`,
      );
    });

    test('WorkloadReady is Unknown for a binding in conflict whose desired workload is not running', () => {
      const s = snapshotOf({ route: routeViewOf() }, elsewhere);
      expect(aspectsOf(s, { result: conflict }).WorkloadReady).toMatchObject({ status: 'Unknown' });
    });

    test('Applied is False during an alias conflict and True again when the conflict is resolved', () => {
      const applied: PassResult = { kind: 'applied' };
      const was = statusAt(snapshotOf({ route: routeViewOf() }), applied);
      const inConflict = statusAt(snapshotOf({ route: routeViewOf(), conditions: was }), conflict);
      expect(inConflict.find(({ type }) => type === 'Applied')).toMatchObject({ status: 'False' });
      const healed = statusAt(snapshotOf({ route: routeViewOf(), conditions: inConflict }), applied);
      expect(healed.map(({ type, status, reason }) => [type, status, reason])).toEqual(
        was.map(({ type, status, reason }) => [type, status, reason]),
      );
    });

    test.each<readonly [string, PassResult, string]>([
      ['an open reference', { kind: 'unresolved', reason: 'PolicyNotFound', message }, 'Unknown Pending'],
      ['a technical fault', { kind: 'blocked', reason: 'StorageFull', message }, 'Unknown Pending'],
      [
        'a failure that is only remembered',
        { kind: 'failed', phase: 'workload', reason: 'bundle_invalid', message: undefined },
        'False BundleInvalid',
      ],
    ])('after a conflict the conditions do not repeat its reasons: %s', (_what, next, expected) => {
      const inConflict = statusAt(snapshotOf({}, elsewhere), conflict);
      const after = said(next, { conditions: inConflict, route: undefined });
      expect(after.Applied).toBe(expected);
      expect(Object.values(after).join()).not.toMatch(/AliasConflict|NotAccepted/);
    });

    test('an invalid id label does not change Applied while the route exists', () => {
      const was = statusAt(snapshotOf({ route: routeViewOf() }), { kind: 'applied' });
      const label: PassResult = { kind: 'not_accepted', reason: 'InvalidId', message };
      expect(said(label, { conditions: was })).toMatchObject({ Accepted: 'False InvalidId', Applied: 'True Applied' });
      expect(said(label, { conditions: was, route: undefined }).Applied).toBe('False InvalidId');
      expect(said(label).Applied).toBe('False InvalidId');
    });
  });

  test('a message is truncated to the longest that a condition may have', () => {
    const long = aspectsOf(snapshotOf(), { result: { kind: 'starting', message: 'x'.repeat(40_000) } });
    expect(long.WorkloadReady.message).toHaveLength(32_768);
  });
});

test('failure reasons are written in CamelCase', () => {
  expect(camel('policy_tests_failed')).toBe('PolicyTestsFailed');
  expect(camel('superseded')).toBe('Superseded');
});

test('the message of an unguarded binding contains UNGUARDED, and that of a binding whose policy is being deleted names the remedy', () => {
  const open = { ...routeViewOf({ workload: undefined }, { guardrail: { mode: 'None' } }) };
  const spec = specOf({ guardrail: { mode: 'None' } });
  const unguarded = aspectsOf(snapshotOf({ route: open }, { spec }), { result: { kind: 'applied' } });
  expect(unguarded.Ready).toMatchObject({ status: 'True', reason: 'Unguarded' });
  expect(unguarded.Ready.message).toContain('UNGUARDED');
  const policy = { kind: 'found', id: policyId, archived: false, deleting: true, idConflict: false } as const;
  const deleting = aspectsOf(snapshotOf({ route: routeViewOf(), policy }), { result: { kind: 'applied' } });
  expect(deleting.Ready).toMatchObject({ status: 'True', reason: 'PolicyDeleting' });
  expect(deleting.Ready.message).toContain('to keep the policy, apply it again');
  expect(deleting.Ready.message).toContain('until the binding chat refers to another policy or is deleted');
});
