import { expect, test } from 'vitest';
import { canonicalBytes } from '#contracts/canonical';
import { definitionOf } from '../../testing/objects.ts';
import type { KnownRevision } from '../caches/known-revision.ts';
import { changeToken } from './make-policy.ts';
import { createQuotas, isOnlyArchiving, type RecordedSave, savedBytes } from './quotas.ts';

const definition = definitionOf('portal');
const size = Buffer.byteLength(JSON.stringify(canonicalBytes(definition).toString('utf8')));
const seenOperation = '01900000-0000-7000-8000-000000000001';
const limits = { policies: 3, revisions: 5, bytes: 10_000 };

function quotas(policies: number, revisions: number, bytes: number) {
  const seen = { policyId: 'seen', number: 1, token: changeToken(seenOperation, 1) } as KnownRevision;
  return createQuotas(
    {
      order: { size: policies, has: (id) => id === 'seen' },
      stored: { revisions, bytes },
      revisions: (id) => (id === 'seen' ? [seen] : []),
      silenceMs: () => 5_000,
    },
    limits,
  );
}

test('each quota accepts the last command that fits and refuses the next one', () => {
  const create = (...stored: [number, number, number]) =>
    quotas(...stored).exceededBy({ isNewPolicy: true, bytes: size });
  const save = (...stored: [number, number, number]) =>
    quotas(...stored).exceededBy({ isNewPolicy: false, bytes: size });
  expect([create(2, 2, 0), create(3, 3, 0)]).toEqual([undefined, 'policy_quota_reached']);
  expect(save(3, 3, 0)).toBeUndefined();
  expect([save(3, 4, 0), save(3, 5, 0)]).toEqual([undefined, 'revision_quota_reached']);
  const left = limits.bytes - size;
  expect([save(1, 1, left), save(1, 1, left + 1)]).toEqual([undefined, 'storage_quota_reached']);
  expect([create(1, 1, left), create(1, 1, left + 1)]).toEqual([undefined, 'storage_quota_reached']);
});

test('the tests of a policy count as bytes, and the used parts are those of the limits', () => {
  const tests = [
    { name: 't', stage: 'request' as const, messages: [{ role: 'user', content: 'x' }], expect: 'Pass' as const },
  ];
  const left = limits.bytes - size;
  expect(quotas(1, 1, left).exceededBy({ isNewPolicy: false, bytes: savedBytes(definition, tests) })).toBe(
    'storage_quota_reached',
  );
  expect(quotas(3, 4, 2_500).used()).toEqual({ policies: 1, revisions: 0.8, bytes: 0.25 });
});

test('recorded saves count until the watch has seen them', () => {
  const save: RecordedSave = {
    operationId: '01900000-0000-7000-8000-000000000002',
    policyId: 'unseen',
    isNewPolicy: true,
    bytes: size,
    revision: undefined,
  };
  const exceeded = (stored: [number, number, number], recorded: readonly RecordedSave[], isNewPolicy = true) =>
    quotas(...stored).exceededBy({ isNewPolicy, bytes: size }, recorded);
  expect([exceeded([1, 1, 0], [save]), exceeded([2, 2, 0], [save])]).toEqual([undefined, 'policy_quota_reached']);
  const update = { ...save, isNewPolicy: false };
  expect([exceeded([1, 3, 0], [update], false), exceeded([1, 4, 0], [update], false)]).toEqual([
    undefined,
    'revision_quota_reached',
  ]);
  const left = limits.bytes - 2 * size;
  expect([exceeded([1, 1, left], [update]), exceeded([1, 1, left + 1], [update])]).toEqual([
    undefined,
    'storage_quota_reached',
  ]);
  const seen = { ...save, operationId: seenOperation, policyId: 'seen' };
  const ended = { ...save, policyId: 'seen', revision: 1 };
  expect(exceeded([2, 4, 0], [seen, ended])).toBeUndefined();
  expect(exceeded([2, 4, 0], [seen, { ...ended, revision: 2 }])).toBe('revision_quota_reached');
  expect(quotas(1, 1, 0).unseenMs()).toBe(65_000);
});

test('a save needs no quota only if it archives a draft and leaves its definition', () => {
  const same = definitionOf('same');
  const live = { lifecycle: 'Draft', definition: same } as const;
  expect(isOnlyArchiving(live, { status: 'archived', definition: structuredClone(same) })).toBe(true);
  expect(isOnlyArchiving(live, { status: 'draft', definition: same })).toBe(false);
  expect(isOnlyArchiving(live, { status: 'archived', definition: definitionOf('other') })).toBe(false);
  expect(isOnlyArchiving({ ...live, lifecycle: 'Archived' }, { status: 'archived', definition: same })).toBe(false);
});
