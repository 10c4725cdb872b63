import { describe, expect, test } from 'vitest';
import { decide } from '../decide.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { applied, asksForTwo, kindOf, settlementOf, writeOf } from '../testing/decisions.ts';
import { factsOf, policyId, replicaOf, routeViewOf, snapshotOf, workloadOf } from '../testing/snapshots.ts';

describe('a pinned workload that no longer runs', () => {
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

  test('a pinned workload that cannot start reports the reason and does not block a new application', () => {
    const refusal = { judgement: { kind: 'refused', reason: 'bundle_invalid', message: 'm' } } as const;
    expect(settlementOf(at(factsOf(1, refusal), { replicas: [replicaOf('a')] }))).toMatchObject({
      result: { kind: 'applied' },
      degraded: 'the applied revision is being started on build b1: policy guard: m',
    });
    const s = { ...at(factsOf(1, refusal)), binding: snapshotOf({}, asksForTwo).binding };
    expect(decide(s)).toMatchObject({ kind: 'read_revision', target: 'desired' });
  });
});
