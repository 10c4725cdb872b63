import { describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import type { ApplicationRecord, FailureReason, ModelBindingSpec } from '#resources/model-binding';
import { contentDigest, desiredApplication } from '../../applications/application.ts';
import type { PreviousApplication } from '../../applications/previous-application.ts';
import { decide } from './decide.ts';
import type { Snapshot } from './snapshot.ts';
import type { ReconcileStep, RouteWrite, Settlement } from './steps.ts';
import {
  bindingId,
  factsOf,
  generationId,
  guardOf,
  policyId,
  replicaOf,
  revisionOf,
  routeViewOf,
  snapshotOf,
  specOf,
  workloadOf,
} from './testing/snapshots.ts';

const refToTwo: Partial<ModelBindingSpec> = {
  guardrail: { mode: 'Policy', policyRef: { name: 'guard', revision: 2 } },
  apply: 'second',
};
const asksForTwo = { spec: specOf(refToTwo) };
const asksForNone = { spec: specOf({ guardrail: { mode: 'None' }, apply: 'open' }) };

function recordOf(change: Partial<ApplicationRecord> = {}): ApplicationRecord {
  return {
    operationId: '',
    policyId,
    policyRevision: 1,
    contentProfile: currentProfile,
    generationId,
    outcome: 'Applied',
    time: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}

const trialId = '01990000-0000-7000-8000-00000000000b';
const applied = [recordOf()];
const { generationId: _none, ...failedSecond } = recordOf({
  operationId: 'second',
  policyRevision: 2,
  outcome: 'Failed',
  reason: 'bundle_invalid',
});
const previous: PreviousApplication = {
  mode: 'Policy',
  token: '',
  contentProfile: currentProfile,
  workload: 'g-1',
  guardrail: guardOf(1),
};
/** Revision 2 is pinned and not confirmed yet; revision 1 is the previous application. */
const onTrial = routeViewOf(
  { previous, previousWorkload: workloadOf('g-1'), workload: workloadOf('g-2') },
  { token: 'second', guardrail: guardOf(2), workload: 'g-2', generationId: trialId },
);
const refused = {
  token: 'second',
  contentDigest: contentDigest(desiredApplication(specOf(refToTwo), policyId).content),
  generationId: trialId,
  reason: 'replica_rejected' as const,
  message: 'the gateway replica b rejects the route: x',
};

function kindOf(step: ReconcileStep): string {
  return step.kind === 'settle' ? step.settlement.result.kind : step.kind;
}

function settlementOf(s: Snapshot): Settlement {
  const step = decide(s);
  if (step.kind !== 'settle') throw new TypeError(`expected a settlement, got ${step.kind}`);
  return step.settlement;
}

function writeOf(s: Snapshot): RouteWrite {
  const step = decide(s);
  if (step.kind !== 'write_route') throw new TypeError(`expected a route, got ${kindOf(step)}`);
  return step;
}

type Row = { readonly when: string; readonly s: Snapshot; readonly does: string };

describe('states that are handled before an application', () => {
  const leaving = { deleting: true };
  const rows: readonly Row[] = [
    {
      when: 'the binding is being deleted and was released',
      s: snapshotOf({}, { ...leaving, hasFinalizer: false }),
      does: 'nothing',
    },
    {
      when: 'the binding is being deleted and has a route',
      s: snapshotOf({ route: routeViewOf() }, leaving),
      does: 'delete_route',
    },
    {
      when: 'the binding is being deleted, its route is deleted and a replica uses it',
      s: snapshotOf({ leftBehind: ['a'] }, leaving),
      does: 'leaving',
    },
    {
      when: 'the binding is being deleted and a replica uses its route for longer than a stream may last',
      s: snapshotOf({ leftBehind: ['a'], departureOverdue: true }, leaving),
      does: 'release',
    },
    { when: 'the binding is being deleted and no replica uses its route', s: snapshotOf({}, leaving), does: 'release' },
    { when: 'the id of the binding is invalid', s: snapshotOf({}, { id: 'mine' }), does: 'not_accepted' },
    {
      when: 'the id of the binding is invalid and it has a route',
      s: snapshotOf({ route: routeViewOf() }, { id: bindingId.toUpperCase().replace('01990000', '0199000A') }),
      does: 'not_accepted',
    },
    {
      when: 'the id of the binding is invalid and it is being deleted',
      s: snapshotOf({}, { id: 'mine', deleting: true }),
      does: 'release',
    },
    { when: 'the binding has no id', s: snapshotOf({}, { id: undefined }), does: 'adopt' },
    { when: 'the binding has no finalizer', s: snapshotOf({}, { hasFinalizer: false }), does: 'adopt' },
    {
      when: 'a route of its name belongs to a deleted binding',
      s: snapshotOf({ route: routeViewOf({}, { binding: { name: 'chat', uid: 'other', id: 'other' } }) }),
      does: 'delete_route',
    },
    {
      when: 'another binding owns the alias',
      s: snapshotOf({ owner: { kind: 'alias_conflict', owner: 'first' } }),
      does: 'not_accepted',
    },
    {
      when: 'another binding owns the id',
      s: snapshotOf({ owner: { kind: 'id_conflict', owner: 'first' } }),
      does: 'not_accepted',
    },
  ];
  test.each(rows)('when $when, the next step of a binding is $does', ({ s, does }) =>
    expect(kindOf(decide(s))).toBe(does),
  );
});

describe('the steps of a new application', () => {
  const full = factsOf(1);
  const withTests = {
    ...full,
    revision: revisionOf(1, {
      tests: [{ name: 't', stage: 'request', messages: [{ role: 'user', content: 'x' }], expect: 'Pass' }],
    }),
  };
  const at = (desired: Snapshot['facts']['desired'], change: Partial<Snapshot> = {}): Snapshot =>
    snapshotOf({ facts: { desired, pinned: {} }, ...change });
  const { revision, bundle, judgement } = full;
  const rows: readonly Row[] = [
    { when: 'the revision was not read yet', s: at({}), does: 'read_revision' },
    { when: 'the revision is read', s: at({ revision: revisionOf(1) }), does: 'build_bundle' },
    { when: 'the bundle is built', s: at({ revision: revisionOf(1), bundle: full.bundle! }), does: 'judge' },
    {
      when: 'the bundle is admitted',
      s: at({ revision: revision!, bundle: bundle!, judgement: judgement! }),
      does: 'ensure_workload',
    },
    {
      when: 'the workload starts',
      s: at({ ...full, workload: workloadOf('g-1', { ready: false }) }),
      does: 'starting',
    },
    {
      when: 'the workload has no address',
      s: at({ ...full, workload: workloadOf('g-1', { addresses: [] }) }),
      does: 'starting',
    },
    { when: 'the workload is ready and the policy has tests', s: at(withTests), does: 'run_tests' },
    { when: 'the tests fail', s: at({ ...withTests, tests: { kind: 'failed', message: 'm' } }), does: 'failed' },
    { when: 'the tests pass', s: at({ ...withTests, tests: { kind: 'passed' } }), does: 'write_route' },
    { when: 'the workload is ready', s: at(full), does: 'write_route' },
    {
      when: 'a replica does not read the format',
      s: at(full, { replicas: [replicaOf('old', { readsFormat: false })] }),
      does: 'starting',
    },
    { when: 'the revision does not exist', s: at({ revision: 'absent' }), does: 'unresolved' },
    { when: 'the policy does not exist', s: at({}, { policy: { kind: 'absent', name: 'guard' } }), does: 'unresolved' },
    {
      when: 'the bundle is refused',
      s: at({ revision: revisionOf(1), bundle: { kind: 'refused', reason: 'bundle_invalid', message: 'm' } }),
      does: 'failed',
    },
    { when: 'the upstream is unknown', s: at({}, { upstream: { kind: 'unknown', provider: 'x' } }), does: 'failed' },
    { when: 'the model is declared unguarded', s: snapshotOf({}, asksForNone), does: 'write_route' },
  ];
  test.each(rows)('when $when, the next step of a binding is $does', ({ s, does }) =>
    expect(kindOf(decide(s))).toBe(does),
  );

  test('a permanent failure is reported before a missing dependency', () => {
    const archived = { kind: 'found', id: policyId, archived: true, deleting: false, idConflict: false } as const;
    expect(settlementOf(at({ revision: 'absent' }, { policy: archived })).result).toMatchObject({
      reason: 'policy_archived',
    });
    const both = snapshotOf({ policy: { kind: 'absent', name: 'guard' } }, { spec: specOf({ contentProfile: 'x' }) });
    expect(settlementOf(both).result).toMatchObject({ reason: 'profile_unsupported' });
  });

  test('no application fails permanently before its policy was read, because it may equal the pinned one', () => {
    const unseen = { kind: 'found', id: undefined, archived: true, deleting: true, idConflict: false } as const;
    const spec = specOf({ contentProfile: 'x' });
    const settlement = settlementOf(
      snapshotOf({ policy: unseen, upstream: { kind: 'unknown', provider: 'x' } }, { spec }),
    );
    expect(settlement.result).toMatchObject({ kind: 'unresolved', reason: 'PolicyNotRecorded' });
    expect(settlement.outcome).toBeUndefined();
  });

  test('an application in progress fails at the progress deadline', () => {
    const missing = at({ revision: 'absent' });
    expect(settlementOf(missing)).toMatchObject({ deadline: true });
    expect(settlementOf(missing).outcome).toBeUndefined();
    expect(settlementOf({ ...missing, overdue: true })).toMatchObject({
      result: { kind: 'failed', reason: 'policy_revision_unknown' },
      outcome: { outcome: 'Failed', reason: 'policy_revision_unknown' },
    });
    const starting = at(
      { ...full, workload: workloadOf('g-1', { ready: false, problem: 'it died' }) },
      { overdue: true },
    );
    expect(settlementOf(starting)).toMatchObject({
      result: { reason: 'progress_deadline_exceeded', message: 'timed out: it died' },
    });
    const unread = at(full, { replicas: [replicaOf('old', { readsFormat: false })] });
    expect(settlementOf(unread)).toMatchObject({ result: { kind: 'starting' }, deadline: true });
    const { result, outcome, deadline } = settlementOf({ ...unread, overdue: true });
    expect(result).toMatchObject({ kind: 'failed', reason: 'progress_deadline_exceeded' });
    expect([outcome?.reason, deadline]).toEqual(['progress_deadline_exceeded', undefined]);
  });
});

describe('a route that pins the desired application', () => {
  const fresh = (change: Partial<Snapshot>): Snapshot => snapshotOf({ route: routeViewOf(), ...change });

  test('an application is applied when every ready replica has loaded its route without a rejection', () => {
    const late = replicaOf('b', { reached: false });
    const rows: readonly (readonly [string, Snapshot['replicas'], string])[] = [
      ['no replica', [], 'confirming'],
      ['a replica that is not ready', [replicaOf('a', { ready: false })], 'confirming'],
      ['all of them', [replicaOf('a'), replicaOf('b')], 'applied'],
      ['all ready ones', [replicaOf('a'), { ...late, ready: false }], 'applied'],
      ['a replica that is late', [replicaOf('a'), late], 'confirming'],
      ['one that waits', [replicaOf('a'), replicaOf('b', { pending: true })], 'confirming'],
      ['one that rejects', [replicaOf('a'), replicaOf('b', { rejected: 'x' })], 'failed'],
      [
        'a replica that is not ready and rejects the route',
        [replicaOf('a'), replicaOf('b', { ready: false, rejected: 'x' })],
        'failed',
      ],
    ];
    for (const [who, replicas, does] of rows) expect([who, kindOf(decide(fresh({ replicas })))]).toEqual([who, does]);
  });

  test('the outcome of an application is recorded once', () => {
    const confirmed = fresh({ replicas: [replicaOf('a')] });
    expect(settlementOf(confirmed).outcome).toMatchObject({ outcome: 'Applied', generationId });
    expect(settlementOf({ ...confirmed, history: applied }).outcome).toBeUndefined();
    const silent = fresh({ overdue: true });
    expect(settlementOf(silent).outcome).toMatchObject({ outcome: 'Failed', reason: 'progress_deadline_exceeded' });
    const told = { ...silent, history: [recordOf({ outcome: 'Failed', reason: 'progress_deadline_exceeded' })] };
    expect(settlementOf(told).outcome).toBeUndefined();
    expect(settlementOf({ ...told, replicas: [replicaOf('a')] }).outcome).toMatchObject({ outcome: 'Applied' });
  });

  const saidAt = (observedGeneration: number): Partial<Snapshot> => ({
    history: applied,
    conditions: [
      { type: 'Applied', status: 'True', reason: 'Applied', message: '', lastTransitionTime: '', observedGeneration },
    ],
  });

  test.each<readonly [string, Snapshot['replicas'], string]>([
    ['a replica that rejects the route', [replicaOf('a', { rejected: 'x' })], 'applied'],
    ['a replica that is behind', [replicaOf('a', { reached: false })], 'applied'],
    ['a replica that is starting', [replicaOf('a', { ready: false, pending: true })], 'applied'],
    [
      'a ready replica that cannot reach the workload',
      [replicaOf('a'), replicaOf('b', { pending: true })],
      'confirming',
    ],
    ['no replica', [], 'confirming'],
  ])('an applied application with %s is %s', (_who, replicas, kind) => {
    const later = fresh({ ...saidAt(1), replicas });
    expect(settlementOf(later)).toMatchObject({ result: { kind } });
    expect(settlementOf(later).outcome).toBeUndefined();
  });

  test.each<readonly [string, Snapshot['replicas'], string]>([
    ['all of whose replicas are past the route', [replicaOf('a')], 'applied'],
    ['with a replica that rejects the route', [replicaOf('a'), replicaOf('b', { rejected: 'x' })], 'applied'],
    ['with a replica that is behind', [replicaOf('a'), replicaOf('b', { reached: false })], 'confirming'],
    ['without a ready replica', [replicaOf('a', { ready: false })], 'confirming'],
    ['without a replica', [], 'confirming'],
  ])('an applied application that moves to a gateway %3$s is %s', (_where, replicas, kind) => {
    const spec = specOf({ gateway: 'other' });
    const route = routeViewOf({}, { gateway: 'other' });
    const moved = snapshotOf({ ...saidAt(1), route, replicas }, { spec, generation: 2 });
    expect(settlementOf(moved).result.kind).toBe(kind);
  });

  test('the message of a binding lists the replicas that have not confirmed its route', () => {
    const pending = fresh({ ...saidAt(1), replicas: [replicaOf('a'), replicaOf('b', { pending: true })] });
    expect(settlementOf(pending).result).toMatchObject({
      message: 'waiting for these gateway replicas to confirm the route: b',
    });
    expect(settlementOf(fresh(saidAt(1))).result).toMatchObject({
      message: 'no replica of gateway default is ready',
    });
  });

  test('a return to the pinned application is recorded', () => {
    const back = fresh({ history: [failedSecond, ...applied] });
    expect(settlementOf(back).outcome).toMatchObject({ outcome: 'Applied', generationId, operationId: '' });
    expect(settlementOf(fresh({ history: [recordOf(), failedSecond] })).outcome).toBeUndefined();
  });

  test('while the policy cannot be found, the pinned application is neither reported as desired nor replaced', () => {
    expect(kindOf(decide(fresh({ history: applied, policy: { kind: 'absent', name: 'guard' } })))).toBe('unresolved');
  });
});

describe('a rejection before Applied', () => {
  const rejecting = (change: Partial<Snapshot> = {}): Snapshot =>
    snapshotOf(
      { route: onTrial, history: applied, replicas: [replicaOf('b', { rejected: 'x' })], ...change },
      asksForTwo,
    );

  test('a rejection before Applied restores the previous guarded application and records the rejected one, in one write', () => {
    const write = writeOf(rejecting());
    expect(write).toMatchObject({ why: 'roll_back', generation: 'new', previous });
    expect(write.draft).toMatchObject({
      token: '',
      workload: 'g-1',
      guardrail: previous.mode === 'Policy' ? previous.guardrail : {},
      refused: {
        token: 'second',
        generationId: trialId,
        reason: 'replica_rejected',
        contentDigest: refused.contentDigest,
      },
    });
    expect(write.draft.refused?.message).toBe('the gateway replica b rejects the route: x');
  });

  test('an automatic rollback uses the current address of the previous workload', () => {
    const route = { ...onTrial, previousWorkload: workloadOf('g-1', { addresses: ['http://127.0.0.1:9999'] }) };
    expect(writeOf(rejecting({ route })).draft.guardrail).toMatchObject({ addresses: ['http://127.0.0.1:9999'] });
  });

  test.each<readonly [string, Partial<typeof onTrial>]>([
    ['the previous application does not exist', { previous: undefined }],
    ['the previous application was unguarded', { previous: { mode: 'None' } }],
    [
      'the workload of the previous application cannot run any more',
      { previousWorkload: workloadOf('g-1', { runnable: false }) },
    ],
  ])('a rejection does not restore the previous application when %s', (_why, change) => {
    const s = rejecting({ route: { ...onTrial, ...change } });
    expect(settlementOf(s)).toMatchObject({
      result: { kind: 'failed', reason: 'replica_rejected', message: 'the gateway replica b rejects the route: x' },
      outcome: { outcome: 'Failed', reason: 'replica_rejected', generationId: trialId },
    });
    const told = {
      ...s,
      history: [recordOf({ generationId: trialId, outcome: 'Failed', reason: 'replica_rejected' as const })],
    };
    expect(settlementOf(told).outcome).toBeUndefined();
  });

  test('a rejection of a restored application is not followed by another rollback, also when the application is desired', () => {
    const route = routeViewOf({ previous, previousWorkload: workloadOf('g-1') }, { refused });
    const again = snapshotOf({ route, replicas: [replicaOf('b', { rejected: 'x' })] });
    expect(settlementOf(again).result).toMatchObject({ kind: 'failed', reason: 'replica_rejected' });
  });
});

describe('a failure', () => {
  const backId = '01990000-0000-7000-8000-00000000000c';
  const rolledBack = routeViewOf({ previous }, { refused, generationId: backId });

  test('a failure that the route records is not retried', () => {
    const s = snapshotOf({ route: rolledBack, history: applied, replicas: [replicaOf('a')] }, asksForTwo);
    expect(settlementOf(s)).toMatchObject({
      result: { kind: 'failed', reason: 'replica_rejected', message: refused.message },
      outcome: { operationId: 'second', generationId: refused.generationId },
    });
    const told = {
      ...s,
      history: [
        recordOf({
          operationId: 'second',
          policyRevision: 2,
          outcome: 'Failed',
          reason: 'replica_rejected' as const,
        }),
        ...applied,
      ],
    };
    expect(settlementOf(told).outcome).toBeUndefined();
  });

  test('a failure that the newest outcome records is not retried', () => {
    const s = snapshotOf({ route: routeViewOf(), history: [failedSecond, ...applied] }, asksForTwo);
    expect(settlementOf(s).result).toMatchObject({ kind: 'failed', reason: 'bundle_invalid', message: undefined });
  });

  test('a failure because of a missing dependency is evaluated again and retried when the dependency exists', () => {
    const model = { ...specOf().model, provider: 'later' };
    const waits = (reason: FailureReason, change: Partial<Snapshot>) =>
      snapshotOf({ history: [{ ...failedSecond, reason }], ...change }, { spec: specOf({ ...refToTwo, model }) });
    const { workload: _workload, ...unready } = factsOf(2);
    const rows: readonly (readonly [FailureReason, Partial<Snapshot>, Partial<Snapshot>, string])[] = [
      ['provider_unknown', { upstream: { kind: 'unknown', provider: 'later' } }, {}, 'the provider later'],
      [
        'policy_revision_unknown',
        { facts: { desired: { revision: 'absent' }, pinned: {} } },
        {},
        'timed out: the policy has no revision 2',
      ],
      [
        'progress_deadline_exceeded',
        {
          facts: {
            desired: { ...unready, workload: workloadOf('g-2', { ready: false, problem: 'no Secret' }) },
            pinned: {},
          },
        },
        { facts: { desired: factsOf(2), pinned: {} }, replicas: [replicaOf('a')] },
        'timed out: no Secret',
      ],
    ];
    for (const [reason, missing, there, says] of rows) {
      const { result, outcome } = settlementOf(waits(reason, missing));
      expect([result.kind, outcome]).toEqual(['failed', undefined]);
      expect(result).toMatchObject({ reason, message: expect.stringContaining(says) });
      expect(['read_revision', 'write_route']).toContain(kindOf(decide(waits(reason, there))));
    }
  });

  test('a failure after a recorded rejection and another applied application is the current outcome', () => {
    const told = recordOf({ ...failedSecond, generationId: refused.generationId, reason: 'replica_rejected' });
    const back = recordOf({ generationId: backId });
    const upstream = { kind: 'unknown', provider: 'later' } as const;
    const since = (history: Snapshot['history'], change: Partial<Snapshot> = {}) =>
      snapshotOf({ route: rolledBack, history, replicas: [replicaOf('a')], ...change }, asksForTwo);
    const wanting = [{ ...failedSecond, reason: 'provider_unknown' as const }, back, told];
    const { result, outcome } = settlementOf(since(wanting, { upstream }));
    expect([result, outcome]).toMatchObject([{ kind: 'failed', reason: 'provider_unknown' }, undefined]);
    expect(kindOf(decide(since(wanting)))).toBe('read_revision');
    const final = settlementOf(since([failedSecond, back, told]));
    expect([final.result, final.outcome]).toMatchObject([{ reason: failedSecond.reason }, undefined]);
  });

  test('a failure because of another missing dependency is another outcome', () => {
    const s = snapshotOf(
      {
        history: [{ ...failedSecond, reason: 'provider_unknown' }],
        facts: {
          desired: { revision: revisionOf(2), bundle: { kind: 'refused', reason: 'bundle_invalid', message: 'm' } },
          pinned: {},
        },
      },
      asksForTwo,
    );
    expect(settlementOf(s).outcome).toMatchObject({ operationId: 'second', reason: 'bundle_invalid' });
  });

  test('a rejection by a replica after a failure because of a missing dependency is recorded', () => {
    const s = snapshotOf(
      { route: rolledBack, history: [{ ...failedSecond, reason: 'provider_unknown' }], replicas: [replicaOf('a')] },
      asksForTwo,
    );
    expect(settlementOf(s).outcome).toMatchObject({ operationId: 'second', reason: 'replica_rejected' });
  });

  test('a failed application is retried with another token, another content, or after another one was applied', () => {
    const fresh = (spec: ModelBindingSpec, history: Snapshot['history']) =>
      kindOf(decide(snapshotOf({ route: rolledBack, history }, { spec })));
    const history = [failedSecond, ...applied];
    expect(fresh(specOf({ ...refToTwo, apply: 'third' }), history)).toBe('read_revision');
    expect(
      fresh(specOf({ ...refToTwo, guardrail: { mode: 'Policy', policyRef: { name: 'guard', revision: 3 } } }), history),
    ).toBe('read_revision');
    expect(fresh(specOf(refToTwo), [recordOf({ generationId: backId }), failedSecond])).toBe('read_revision');
  });
});

describe('the previous application of a new one', () => {
  const ready = { facts: { desired: factsOf(2), pinned: {} } };
  const write = (change: Partial<Snapshot>): RouteWrite => writeOf(snapshotOf({ ...ready, ...change }, asksForTwo));

  test('the previous application is the pinned one if that was applied', () => {
    expect(write({ route: routeViewOf(), history: applied }).previous).toEqual(previous);
    expect(write({ route: routeViewOf(), replicas: [replicaOf('a')] }).previous).toEqual(previous);
  });

  test('the previous application is kept if the pinned one was not confirmed', () => {
    const trial = routeViewOf({ previous }, { token: 'other', guardrail: guardOf(3), workload: 'g-3' });
    expect(write({ route: trial, history: applied.map((one) => ({ ...one, generationId: 'x' })) }).previous).toEqual(
      previous,
    );
  });

  test('the previous application is unguarded if the pinned one was, and absent before the first one', () => {
    const { workload: _none, ...open } = routeViewOf({ workload: undefined }).spec;
    const route = { ...routeViewOf({ workload: undefined }), spec: { ...open, guardrail: { mode: 'None' as const } } };
    const pinned = { record: { generationId: open.generationId }, workload: undefined };
    expect(write({ route, history: applied, pinned }).previous).toEqual({ mode: 'None' });
    expect(write({}).previous).toBeUndefined();
  });

  test('a new application forgets the rejected one', () => {
    const route = routeViewOf({}, { refused });
    const spec = specOf({ ...refToTwo, apply: 'third' });
    expect(writeOf(snapshotOf({ ...ready, route, history: applied }, { spec })).draft.refused).toBeUndefined();
  });
});

describe('an edit that needs no application', () => {
  const kept = (change: Partial<Snapshot>, spec: Partial<ModelBindingSpec>): RouteWrite =>
    writeOf(snapshotOf({ route: routeViewOf(), history: applied, ...change }, { spec: specOf(spec) }));
  const model = specOf().model;

  test('an edit that needs no application keeps the generation and the workload', () => {
    const write = kept({}, { model: { ...model, upstreamModel: 'other' }, extraRequestKeys: ['seed'] });
    expect(write).toMatchObject({ why: 'keep', generation: 'kept' });
    expect(write.draft).toMatchObject({ workload: 'g-1', upstream: { model: 'other' }, extraRequestKeys: ['seed'] });
  });

  test('an edit that needs no application is written although the application fails', () => {
    const spec = { ...refToTwo, contentProfile: 'unheard-of', model: { ...model, state: 'Disabled' as const } };
    expect(kept({}, spec).draft).toMatchObject({ state: 'Disabled', contentProfile: currentProfile });
  });

  test('new addresses of the workload are written to the route', () => {
    const route = routeViewOf({ workload: workloadOf('g-1', { addresses: ['http://127.0.0.1:9002'] }) });
    expect(kept({ route }, {}).draft.guardrail).toMatchObject({ addresses: ['http://127.0.0.1:9002'] });
    const unknown = routeViewOf({ workload: workloadOf('g-1', { addresses: [] }) });
    const replicas = [replicaOf('a')];
    expect(kindOf(decide(snapshotOf({ route: unknown, history: applied, replicas })))).toBe('applied');
  });

  test('an edit to an alias of another binding keeps the alias and writes the other fields', () => {
    const owner = { kind: 'alias_conflict', owner: 'first' } as const;
    const write = kept({ owner }, { model: { ...model, alias: 'taken', upstreamModel: 'other' } });
    expect(write.draft).toMatchObject({ alias: 'chat', upstream: { model: 'other' } });
  });

  test('an edit that exchanges aliases moves the route to a reserved alias first', () => {
    const owner = { kind: 'alias_conflict', owner: 'first' } as const;
    const aside = kept({ owner, move: { kind: 'step_aside', circle: [] } }, { model: { ...model, alias: 'taken' } });
    expect(aside.draft).toMatchObject({ alias: `~${bindingId}`, gateway: 'default' });
    const route = routeViewOf({}, { alias: `~${bindingId}` });
    const asked = { model: { ...model, alias: 'taken' } };
    const held = decide(snapshotOf({ owner, route, history: applied }, { spec: specOf(asked) }));
    expect(kindOf(held)).toBe('not_accepted');
    const back = kept({ owner, route, move: { kind: 'return', gateway: 'default', alias: 'chat' } }, asked);
    expect(back.draft.alias).toBe('chat');
    expect(kept({ route }, asked).draft.alias).toBe('taken');
  });

  test('an edit to an alias of another binding does not prevent a restart of the pinned application', () => {
    const gone = { workload: workloadOf('g-0', { runnable: false }) };
    const s = snapshotOf(
      {
        owner: { kind: 'alias_conflict', owner: 'first' },
        route: routeViewOf(gone, { workload: 'g-0' }),
        history: applied,
        facts: { desired: {}, pinned: factsOf(1) },
      },
      { spec: specOf({ model: { ...model, alias: 'taken' } }) },
    );
    expect(writeOf(s)).toMatchObject({ why: 'run_again', draft: { alias: 'chat' } });
  });

  test('an edit to a disabled provider disables the route', () => {
    const off = { ...snapshotOf().upstream, enabled: false } as Snapshot['upstream'];
    expect(kept({ upstream: off }, {}).draft.state).toBe('Disabled');
  });

  test('an edit to a provider that is not approved changes nothing while the current one is approved', () => {
    const upstream = { kind: 'unknown', provider: 'x' } as const;
    const replicas = [replicaOf('a')];
    expect(kindOf(decide(snapshotOf({ route: routeViewOf(), history: applied, upstream, replicas })))).toBe('applied');
    const gone = kept({ upstream, routeUpstream: { kind: 'unknown', provider: 'echo' } }, {});
    expect(gone.draft).toMatchObject({ state: 'Disabled', upstream: { provider: 'echo' } });
  });
});

describe('a pinned workload that does not run any more', () => {
  const lost = routeViewOf({ workload: workloadOf('g-1', { runnable: false }) });
  const at = (pinned: Snapshot['facts']['pinned'], change: Partial<Snapshot> = {}): Snapshot =>
    snapshotOf({ route: lost, history: applied, facts: { desired: {}, pinned }, ...change });

  test('a pinned workload is started again from its revision, whatever application is desired', () => {
    expect(decide(at({}))).toMatchObject({ kind: 'read_revision', target: 'pinned', name: `${policyId}-1` });
    const write = writeOf({
      ...at(factsOf(1, { workload: workloadOf('g-9') })),
      binding: snapshotOf({}, asksForTwo).binding,
    });
    expect(write).toMatchObject({ why: 'run_again', generation: 'new', previous: undefined });
    expect(write.draft).toMatchObject({ token: '', workload: 'g-9' });
  });

  test('a pinned workload is started again although its policy is archived', () => {
    const policy = { kind: 'found', id: policyId, archived: true, deleting: false, idConflict: false } as const;
    expect(kindOf(decide(at(factsOf(1), { policy })))).toBe('write_route');
  });

  test('a pinned workload that cannot start reports why and does not block a new application', () => {
    const refusal = { judgement: { kind: 'refused', reason: 'bundle_invalid', message: 'm' } } as const;
    expect(settlementOf(at(factsOf(1, refusal), { replicas: [replicaOf('a')] }))).toMatchObject({
      result: { kind: 'applied' },
      degraded: 'the applied revision is being started on build b1: policy guard: m',
    });
    const s = { ...at(factsOf(1, refusal)), binding: snapshotOf({}, asksForTwo).binding };
    expect(decide(s)).toMatchObject({ kind: 'read_revision', target: 'desired' });
  });
});
