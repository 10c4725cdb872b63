import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { RouteWrite } from '../snapshot/steps.ts';
import { applied, asksForTwo, previous, refToTwo, refusedSecond, writeOf } from '../testing/decisions.ts';
import { factsOf, guardOf, replicaOf, routeViewOf, snapshotOf, specOf } from '../testing/snapshots.ts';

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

  test('the previous application is unguarded if the pinned one was, and absent before the first application', () => {
    const { workload: _none, ...open } = routeViewOf({ workload: undefined }).spec;
    const route = { ...routeViewOf({ workload: undefined }), spec: { ...open, guardrail: { mode: 'None' as const } } };
    const pinned = { record: { generationId: open.generationId }, workload: undefined };
    expect(write({ route, history: applied, pinned }).previous).toEqual({ mode: 'None' });
    expect(write({}).previous).toBeUndefined();
  });

  test('the route of a new application drops the record of the rejected one', () => {
    const route = routeViewOf({}, { refused: refusedSecond });
    const spec = specOf({ ...refToTwo, apply: 'third' });
    expect(writeOf(snapshotOf({ ...ready, route, history: applied }, { spec })).draft.refused).toBeUndefined();
  });
});
