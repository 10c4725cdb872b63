import { describe, expect, test } from 'vitest';
import type { ApplicationRecord } from '#resources/model-binding';
import { originOfKey } from './command-origin.ts';
import type { CommandWrite, OpenCommandRecord } from './command-record.ts';
import { type BindingFacts, decideBindingEnd } from './decide-binding-end.ts';
import { decidePolicyEnd } from './decide-policy-end.ts';

const operationId = '01900000-0000-7000-8000-000000000001';
const policyId = '01900000-0000-7000-8000-000000000002';
const modelId = '01900000-0000-7000-8000-000000000003';

type BindingWrite = CommandWrite & { readonly type: 'write_binding' };

function operation(change: Partial<BindingWrite> = {}): OpenCommandRecord & { readonly write: BindingWrite } {
  return {
    operationId,
    kind: 'binding.apply',
    state: 'running',
    target: { type: 'model', id: modelId },
    traceId: '0'.repeat(32),
    origin: originOfKey(null),
    accepted: true,
    overridesFreeze: false,
    written: { uid: 'uid', generation: 5 },
    result: undefined,
    failure: undefined,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    write: {
      type: 'write_binding',
      objectName: 'chat',
      uid: 'uid',
      generation: 4,
      guardrail: { mode: 'Policy', policyRef: { name: 'p', revision: 2 } },
      contentProfile: 'profile',
      policyId,
      ...change,
    },
  };
}

function facts(change: Partial<BindingFacts> = {}): BindingFacts {
  return {
    uid: 'uid',
    generation: 5,
    token: operationId,
    desired: { policyId, policyRevision: 2 },
    contentProfile: 'profile',
    history: [],
    pinned: undefined,
    ...change,
  };
}

function record(change: Partial<ApplicationRecord> = {}): ApplicationRecord {
  return {
    operationId,
    policyId,
    policyRevision: 2,
    contentProfile: 'profile',
    generationId: 'generation',
    outcome: 'Applied',
    time: '2026-01-01T00:00:00Z',
    ...change,
  };
}

const end = (change: Partial<BindingFacts> | undefined, write: Partial<BindingWrite> = {}) =>
  decideBindingEnd(operation(write), { uid: 'uid', generation: 5 }, change === undefined ? undefined : facts(change));

describe('deciding the outcome of an operation on a binding', () => {
  test('an operation on a binding is in progress while the binding desires it and the history has no entry of it', () => {
    expect(end({})).toBeUndefined();
    expect(end({ generation: 9 })).toBeUndefined();
    expect(end({ history: [record({ operationId: 'another' })] })).toBeUndefined();
    expect(end({ desired: { policyId: undefined, policyRevision: 2 } })).toBeUndefined();
  });

  test('an operation on a binding succeeds by its entry in the history, with the digest of the pinned bundle', () => {
    const pinned = { generationId: 'generation', digest: 'd' };
    expect(end({ history: [record()], pinned })).toEqual({
      kind: 'succeeded',
      result: { modelId, policyId, policyRevision: 2, generationId: 'generation', bundleDigest: 'd' },
    });
    expect(end({ history: [record()], token: 'later', generation: 7 })).toMatchObject({ kind: 'succeeded' });
  });

  test('a history entry with other content does not end an operation on a binding', () => {
    for (const change of [{ policyRevision: 3 }, { policyId: 'other' }, { contentProfile: 'other' }]) {
      expect(end({ history: [record(change)] })).toBeUndefined();
    }
    const unbind = { guardrail: { mode: 'None' } as const, policyId: null };
    expect(end({ history: [record()], desired: { policyId: null, policyRevision: null } }, unbind)).toBeUndefined();
    const { policyId: _id, policyRevision: _revision, ...bare } = record();
    expect(end({ history: [bare], desired: { policyId: null, policyRevision: null } }, unbind)).toMatchObject({
      kind: 'succeeded',
      result: { policyId: null, policyRevision: null },
    });
  });

  test('an operation on a binding fails with the reason of its history entry', () => {
    const history = [record({ outcome: 'Failed', reason: 'provider_unavailable' })];
    expect(end({ history })).toMatchObject({ kind: 'failed', code: 'provider_unavailable' });
  });

  test('an operation on a binding is superseded when a later generation desires other content or the model is deleted', () => {
    expect(end({ token: 'later', generation: 6 })).toMatchObject({ kind: 'failed', code: 'superseded' });
    expect(end({ desired: { policyId, policyRevision: 3 }, generation: 6 })).toMatchObject({ code: 'superseded' });
    expect(end(undefined)).toMatchObject({ kind: 'failed', code: 'superseded' });
  });

  test('an operation stays in progress when its model was restored with the write of that operation', () => {
    expect(end({ uid: 'another', generation: 1 })).toBeUndefined();
    expect(end({ generation: 4 })).toBeUndefined();
  });

  test('an operation on a binding is lost_in_restore when the model is another object or older than its write', () => {
    expect(end({ uid: 'another', token: 'earlier' })).toMatchObject({ kind: 'failed', code: 'lost_in_restore' });
    expect(end({ uid: 'another', token: 'earlier', generation: 9 })).toMatchObject({ code: 'lost_in_restore' });
    expect(end({ token: 'earlier', generation: 4 })).toMatchObject({ kind: 'failed', code: 'lost_in_restore' });
  });
});

describe('deciding the outcome of an operation on a policy', () => {
  const token = `${operationId}/5`;
  const written = { uid: 'uid', generation: 5 };
  const decide = (
    revisions: Parameters<typeof decidePolicyEnd>[1],
    live: Parameters<typeof decidePolicyEnd>[2] = written,
  ) => decidePolicyEnd({ policyId, token, written }, revisions, live);
  const recorded = (number: number, generation: number, change: { token?: string; uid?: string } = {}) => ({
    number,
    token: change.token ?? token,
    policy: { name: 'p', uid: change.uid ?? 'uid', generation },
  });

  test('an operation on a policy succeeds only by the revision of its token, UID and generation', () => {
    expect(decide([recorded(7, 5)])).toEqual({ kind: 'succeeded', result: { policyId, revision: 7 } });
    expect(decide([recorded(7, 4)])).toBeUndefined();
    expect(decide([recorded(7, 5, { uid: 'another' })])).toBeUndefined();
    expect(decide([])).toBeUndefined();
  });

  test('an operation on a policy is revision_lost when a later generation was recorded first', () => {
    expect(decide([recorded(7, 6, { token: '' })])).toMatchObject({ kind: 'failed', code: 'revision_lost' });
    expect(decide([recorded(7, 5, { token: 'other' })])).toMatchObject({ code: 'revision_lost' });
  });

  test('an operation on a policy is lost_in_restore for another or older object, and open for a deleted one', () => {
    expect(decide([], { uid: 'another', generation: 9 })).toMatchObject({ code: 'lost_in_restore' });
    expect(decide([], { uid: 'uid', generation: 4 })).toMatchObject({ code: 'lost_in_restore' });
    expect(decidePolicyEnd({ policyId, token, written }, [], undefined)).toBeUndefined();
  });
});
