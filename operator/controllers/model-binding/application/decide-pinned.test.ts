import { describe, expect, test } from 'vitest';
import { decide } from '../decide.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  applied,
  asksForTwo,
  failedSecond,
  kindOf,
  onTrial,
  outcomeRecordOf,
  previous,
  refusedSecond,
  settlementOf,
  trialId,
  writeOf,
} from '../testing/decisions.ts';
import { generationId, replicaOf, routeViewOf, snapshotOf, specOf, workloadOf } from '../testing/snapshots.ts';

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
    const told = { ...silent, history: [outcomeRecordOf({ outcome: 'Failed', reason: 'progress_deadline_exceeded' })] };
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
    expect(settlementOf(fresh({ history: [outcomeRecordOf(), failedSecond] })).outcome).toBeUndefined();
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
        contentDigest: refusedSecond.contentDigest,
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
      'the workload of the previous application can no longer run',
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
      history: [outcomeRecordOf({ generationId: trialId, outcome: 'Failed', reason: 'replica_rejected' as const })],
    };
    expect(settlementOf(told).outcome).toBeUndefined();
  });

  test('a rejection of a restored application is not followed by another rollback, even when the application is desired', () => {
    const route = routeViewOf({ previous, previousWorkload: workloadOf('g-1') }, { refused: refusedSecond });
    const again = snapshotOf({ route, replicas: [replicaOf('b', { rejected: 'x' })] });
    expect(settlementOf(again).result).toMatchObject({ kind: 'failed', reason: 'replica_rejected' });
  });
});
