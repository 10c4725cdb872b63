import { describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { currentProfile } from '#contracts/profiles';
import type { ServedPin } from '../../served/ports.ts';
import { factsOf, policyId, revisionOf, workloadOf } from '../model-binding/testing/snapshots.ts';
import { decideServed, type ServedSnapshot } from './decide.ts';

const entry = { name: 'text', policyRef: { name: 'guard', revision: 2 }, contentProfile: currentProfile, replicas: 1 };
const pin: ServedPin = {
  workload: 'g-2',
  previous: [],
  policyId,
  policyRevision: '2',
  contentProfile: currentProfile,
  digest: 'd',
  token: '',
  limits: {
    maxBodyBytes: 32_768,
    maxMessages: 32,
    deadlineMs: { request: 250, response: 250 },
    division: { allowed: true },
  },
};
const old: ServedPin = { ...pin, workload: 'g-1', policyRevision: '1' };
const policy = { kind: 'found', id: policyId, archived: false, deleting: false, idConflict: false } as const;

function snapshot(change: Partial<ServedSnapshot> = {}): ServedSnapshot {
  return {
    entry,
    versions: [],
    pin: undefined,
    pinned: undefined,
    drained: [],
    failure: undefined,
    policy,
    upstream: { kind: 'approved', provider: '', endpoint: '', credential: undefined, enabled: true },
    route: undefined,
    limits: defaultBundleLimits,
    facts: { desired: {}, pinned: {} },
    ...change,
  };
}

const known = { desired: factsOf(2), pinned: {} };
const waiting = { desired: factsOf(2, { workload: workloadOf('g-2', { ready: false }) }), pinned: {} };
const served = { kind: 'settle', result: { kind: 'served' } };

describe('the next step of a policy that is served directly', () => {
  test.each<readonly [string, Partial<ServedSnapshot>, object]>([
    ['has its revision read first', {}, { kind: 'try', step: { kind: 'read_revision', target: 'desired' } }],
    [
      'gets its address when its processes are ready',
      { facts: known },
      { kind: 'move', pin: { workload: 'g-2', previous: [] } },
    ],
    [
      'has no address before its processes are ready',
      { facts: waiting },
      {
        kind: 'settle',
        pin: undefined,
        result: { kind: 'waiting', message: 'the processes of the workload g-2 are starting' },
      },
    ],
    [
      'keeps its previous address while a new workload starts',
      { pin: old, facts: waiting },
      { kind: 'settle', pin: old, result: { kind: 'waiting' } },
    ],
    [
      'moves its address and remembers the previous workload',
      { pin: old, facts: known },
      { kind: 'move', pin: { workload: 'g-2', previous: ['g-1'] } },
    ],
    [
      'remembers every previous workload that has not drained',
      { pin: { ...old, previous: ['g-0', 'g-x'] }, drained: ['g-x'], facts: known },
      { kind: 'move', pin: { previous: ['g-1', 'g-0'] } },
    ],
    ['is served', { pin, pinned: workloadOf('g-2') }, { ...served, pin }],
    [
      'stays served while its policy cannot be found',
      { pin, pinned: workloadOf('g-2'), policy: { kind: 'absent', name: 'guard' } },
      served,
    ],
    [
      'forgets a workload that has drained',
      { pin: { ...pin, previous: ['g-1', 'g-0'] }, pinned: workloadOf('g-2'), drained: ['g-0'] },
      { ...served, pin: { previous: ['g-1'] } },
    ],
    [
      'is started again when its workload no longer exists',
      { pin, pinned: workloadOf('g-2', { runnable: false }) },
      { kind: 'try', step: { kind: 'read_revision', target: 'pinned' } },
    ],
    [
      'is applied again for a new token',
      { entry: { ...entry, apply: 'x' }, pin, facts: known },
      { kind: 'move', pin: { token: 'x' } },
    ],
    [
      'is applied again when another policy has taken its name',
      { pin: { ...pin, policyId: 'other' }, facts: known },
      { kind: 'move' },
    ],
    [
      'is applied again when an earlier version wrote its target without limits',
      { pin: { ...pin, limits: undefined }, facts: known },
      { kind: 'move', pin: { limits: { division: { allowed: true } } } },
    ],
    ['that is no longer listed loses its address', { entry: undefined, pin }, { kind: 'withdraw' }],
    [
      'whose policy is archived is not applied',
      { policy: { ...policy, archived: true } },
      { result: { kind: 'failed' } },
    ],
    [
      'stays served when its policy is archived',
      { pin, pinned: workloadOf('g-2'), policy: { ...policy, archived: true } },
      served,
    ],
    [
      'that failed is not retried',
      { failure: 'the test failed', pin: old },
      { kind: 'settle', pin: old, result: { kind: 'failed', message: 'the test failed' } },
    ],
  ])('a served policy %s', (_what, change, step) => expect(decideServed(snapshot(change))).toMatchObject(step));

  test('the address of a served policy does not resolve to a workload that failed its tests', () => {
    const tests = { kind: 'failed', message: 'the test greets failed' } as const;
    const failing = { name: 'greets', stage: 'request' as const, messages: [], expect: 'Pass' as const };
    const revision = revisionOf(2, { tests: [failing] });
    const facts = { desired: factsOf(2, { revision, tests }), pinned: {} };
    expect(decideServed(snapshot({ pin: old, facts }))).toMatchObject({
      kind: 'settle',
      pin: old,
      result: { kind: 'failed', message: expect.stringContaining('the test greets failed') },
    });
  });

  test('a served policy remembers at most eight previous workloads', () => {
    const previous = Array.from({ length: 8 }, (_one, index) => `g-p${index}`);
    const step = decideServed(snapshot({ pin: { ...old, previous }, facts: known }));
    expect(step.kind === 'move' ? step.pin.previous : []).toEqual(['g-1', ...previous.slice(0, 7)]);
  });
});

test('a served policy that is no longer listed keeps its address while an agent version names it, and loses it afterwards', () => {
  const unlisted = { entry: undefined, pin: { ...pin, previous: ['g-1'] }, drained: ['g-1'] };
  expect(decideServed(snapshot({ ...unlisted, versions: ['desk-1'] }))).toEqual({
    kind: 'settle',
    pin,
    result: { kind: 'unlisted', versions: ['desk-1'] },
  });
  expect(decideServed(snapshot({ ...unlisted, versions: [] }))).toEqual({ kind: 'withdraw' });
  expect(decideServed(snapshot({ entry: undefined, versions: ['desk-1'] }))).toEqual({ kind: 'withdraw' });
});
