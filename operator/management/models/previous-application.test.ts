import { expect, test } from 'vitest';
import type { ModelBinding } from '#resources/model-binding';
import { bindingObject, guardedBy, policyObject } from '../../testing/objects.ts';
import { previousApplication } from './previous-application.ts';

type Applied = NonNullable<NonNullable<ModelBinding['status']>['applications']>[number];

const applied = (policyId: string, policyRevision: number): Applied =>
  ({ outcome: 'Applied', policyId, policyRevision }) as Applied;

/** The revision before of a model that has revision 3 of `guard`, after these applications, the newest first. */
function previousOf(
  applications: readonly Applied[],
  { archived, deleting, purged = [] }: { archived?: string; deleting?: string; purged?: readonly number[] } = {},
) {
  const binding = bindingObject('chat', { guardrail: guardedBy(3) });
  const policy = (name: string) => {
    const object = policyObject(name, name === archived ? { lifecycle: 'Archived' } : {});
    const deletion = name === deleting ? { deletionTimestamp: '2026-01-31T09:00:00Z' } : {};
    return { ...object, metadata: { ...object.metadata, ...deletion } };
  };
  const caches = {
    policies: { by: (_index: string, id: string) => (id === 'gone' ? [] : [policy(id)]) },
    revisions: () => [1, 2, 3].map((number) => ({ number, ...(purged.includes(number) ? { purgeTime: 'then' } : {}) })),
  };
  return previousApplication(
    { spec: binding.spec, status: { applications } } as unknown as Parameters<typeof previousApplication>[0],
    caches as unknown as Parameters<typeof previousApplication>[1],
  );
}

test('the previous revision of a model is the newest applied one that differs from the desired one', () => {
  const all = [applied('guard', 3), applied('guard', 2), applied('guard', 1)];
  expect(previousOf(all)).toEqual({ policyId: 'guard', policy: 'guard', revision: 2 });
  expect(previousOf(all, { purged: [2] })).toEqual({ policyId: 'guard', policy: 'guard', revision: 1 });
  expect(previousOf([applied('gone', 1), applied('other', 2)])?.policy).toBe('other');
  expect(previousOf([applied('guard', 3)])).toBeNull();
});

test('a revision whose policy is archived or under deletion is not the previous revision of a model, because the API refuses it', () => {
  const all = [applied('guard', 3), applied('other', 2), applied('guard', 1)];
  expect(previousOf(all)?.policy).toBe('other');
  expect(previousOf(all, { archived: 'other' })).toBeNull();
  expect(previousOf(all, { deleting: 'other' })).toBeNull();
});
