import { describe, expect, test } from 'vitest';
import type { FailureReason, ModelBindingSpec } from '#resources/model-binding';
import { decide } from '../decide.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  applied,
  asksForNone,
  asksForTwo,
  failedSecond,
  kindOf,
  outcomeRecordOf,
  previous,
  refToTwo,
  refusedSecond,
  settlementOf,
} from '../testing/decisions.ts';
import {
  factsOf,
  policyId,
  replicaOf,
  revisionOf,
  routeViewOf,
  snapshotOf,
  specOf,
  workloadOf,
} from '../testing/snapshots.ts';

type Row = { readonly when: string; readonly s: Snapshot; readonly does: string };

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

describe('a failure', () => {
  const backId = '01990000-0000-7000-8000-00000000000c';
  const rolledBack = routeViewOf({ previous }, { refused: refusedSecond, generationId: backId });

  test('a failure that the route records is not retried', () => {
    const s = snapshotOf({ route: rolledBack, history: applied, replicas: [replicaOf('a')] }, asksForTwo);
    expect(settlementOf(s)).toMatchObject({
      result: { kind: 'failed', reason: 'replica_rejected', message: refusedSecond.message },
      outcome: { operationId: 'second', generationId: refusedSecond.generationId },
    });
    const told = {
      ...s,
      history: [
        outcomeRecordOf({
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

  test('an application that failed because its bundle is invalid is not retried while its outcome is the newest', () => {
    const s = snapshotOf({ route: routeViewOf(), history: [failedSecond, ...applied] }, asksForTwo);
    expect(settlementOf(s).result).toMatchObject({ kind: 'failed', reason: 'bundle_invalid', message: undefined });
  });

  test('an application that failed because a dependency was missing is retried when the dependency exists', () => {
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
    const told = outcomeRecordOf({
      ...failedSecond,
      generationId: refusedSecond.generationId,
      reason: 'replica_rejected',
    });
    const back = outcomeRecordOf({ generationId: backId });
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

  test('a failure because of another missing dependency is recorded as another outcome', () => {
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
    expect(fresh(specOf(refToTwo), [outcomeRecordOf({ generationId: backId }), failedSecond])).toBe('read_revision');
  });
});
