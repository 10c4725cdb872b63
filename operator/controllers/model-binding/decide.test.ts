import { describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import type { ModelBindingSpec } from '#resources/model-binding';
import { decide } from './decide.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { RouteWrite } from './snapshot/steps.ts';
import { applied, kindOf, refToTwo, writeOf } from './testing/decisions.ts';
import { bindingId, factsOf, replicaOf, routeViewOf, snapshotOf, specOf, workloadOf } from './testing/snapshots.ts';

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
