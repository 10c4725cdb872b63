import { describe, expect, test } from 'vitest';
import { managedConflicts } from '#contracts/managed-collections';
import type { Collection } from '#contracts/retrieval';
import { decideCollection } from './decide.ts';
import type { CollectionSnapshot } from './snapshot.ts';

const collection = { collection_id: 'an-id' } as Collection;
const ensured = { kind: 'ensured', collection, failingProviders: [] } as const;
const away = { kind: 'away', why: 'no_answer' } as const;

function snapshot(change: Partial<CollectionSnapshot> = {}): CollectionSnapshot {
  return {
    deleting: false,
    hasFinalizer: true,
    deletionPolicy: 'Retain',
    isConfigured: true,
    isTenantApproved: true,
    ensured: undefined,
    ended: undefined,
    ...change,
  };
}

const step = (change: Partial<CollectionSnapshot>) => decideCollection(snapshot(change));
const leaving = (change: Partial<CollectionSnapshot> = {}) => step({ deleting: true, ...change });

describe('a resource that declares a collection', () => {
  test('a new Collection gets its finalizer before the service is called, so that every created collection can be deleted or released', () => {
    expect(step({ hasFinalizer: false })).toEqual({ kind: 'adopt' });
    expect(step({})).toEqual({ kind: 'ensure' });
  });

  test('a reconcile of a Collection ends after one answer of the retrieval service', () => {
    expect(step({ ensured })).toEqual({ kind: 'settle', result: ensured });
    expect(step({ ensured: away })).toEqual({ kind: 'settle', result: { ...away, deleting: false } });
    const conflict = { kind: 'conflict', over: 'name' } as const;
    expect(step({ ensured: conflict })).toEqual({ kind: 'settle', result: conflict });
  });

  test('without a retrieval service, or for a tenant that is not approved, a Collection causes no request and gets no finalizer', () => {
    for (const hasFinalizer of [true, false]) {
      const none = { kind: 'settle', result: { kind: 'not_configured', deleting: false } };
      expect(step({ hasFinalizer, isConfigured: false, isTenantApproved: false })).toEqual(none);
      const refused = { kind: 'settle', result: { kind: 'tenant_not_approved' } };
      expect(step({ hasFinalizer, isTenantApproved: false })).toEqual(refused);
    }
  });
});

describe('a collection that is deleted', () => {
  test('the deletion policy decides whether the collection is deleted or released', () => {
    expect(leaving({ deletionPolicy: 'Retain' })).toEqual({ kind: 'release' });
    expect(leaving({ deletionPolicy: 'Delete' })).toEqual({ kind: 'delete' });
  });

  test('a collection is deleted although its tenant is no longer approved', () => {
    expect(leaving({ isTenantApproved: false, deletionPolicy: 'Delete' })).toEqual({ kind: 'delete' });
  });

  test('the finalizer of a Collection is removed when the collection is deleted or has another manager', () => {
    expect(leaving({ ended: { kind: 'ended' } })).toEqual({ kind: 'let_go' });
    expect(leaving({ ended: { kind: 'conflict', over: 'manager' } })).toEqual({ kind: 'let_go' });
    expect(leaving({ hasFinalizer: false })).toEqual({ kind: 'nothing' });
  });

  test('the finalizer of a Collection stays while the retrieval service does not answer or is not configured, and while it has children', () => {
    expect(leaving({ ended: away })).toEqual({ kind: 'settle', result: { ...away, deleting: true } });
    const none = { kind: 'not_configured', deleting: true };
    expect(leaving({ isConfigured: false })).toEqual({ kind: 'settle', result: none });
    const children = { kind: 'settle', result: { kind: 'has_children' } };
    expect(leaving({ ended: { kind: 'conflict', over: 'children' } })).toEqual(children);
  });
});

test('a collection is never deleted while its resource has the policy Retain or is not being deleted', () => {
  const outcomes = [undefined, away, { kind: 'ended' } as const];
  const conflicts = (Object.keys(managedConflicts) as (keyof typeof managedConflicts)[]).map(
    (over) => ({ kind: 'conflict', over }) as const,
  );
  const flags = [true, false];
  let seen = 0;
  for (const deleting of flags)
    for (const hasFinalizer of flags)
      for (const isConfigured of flags)
        for (const isTenantApproved of flags)
          for (const deletionPolicy of ['Retain', 'Delete'] as const)
            for (const ended of [...outcomes, ...conflicts]) {
              const { kind } = step({ deleting, hasFinalizer, isConfigured, isTenantApproved, deletionPolicy, ended });
              seen += 1;
              if (kind === 'delete') expect([deleting, deletionPolicy]).toEqual([true, 'Delete']);
              if (kind === 'release') expect([deleting, deletionPolicy]).toEqual([true, 'Retain']);
            }
  expect(seen).toBe(480);
});
