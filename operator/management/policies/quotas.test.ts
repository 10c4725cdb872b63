import { expect, test } from 'vitest';
import { canonicalBytes } from '#contracts/canonical';
import { definitionOf } from '../../testing/objects.ts';
import { createQuotas, isOnlyArchiving } from './quotas.ts';

const definition = definitionOf('portal');
const size = Buffer.byteLength(JSON.stringify(canonicalBytes(definition).toString('utf8')));
const limits = { policies: 3, revisions: 5, bytes: 10_000 };

function quotas(policies: number, revisions: number, bytes: number) {
  return createQuotas({ order: { size: policies }, stored: { revisions, bytes } }, limits);
}

test('each quota takes the last command that fits and refuses the next one', () => {
  const create = (...stored: [number, number, number]) =>
    quotas(...stored).exceededBy({ isNewPolicy: true, definition });
  const save = (...stored: [number, number, number]) =>
    quotas(...stored).exceededBy({ isNewPolicy: false, definition });
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
  expect(quotas(1, 1, left).exceededBy({ isNewPolicy: false, definition, tests })).toBe('storage_quota_reached');
  expect(quotas(3, 4, 2_500).used()).toEqual({ policies: 1, revisions: 0.8, bytes: 0.25 });
});

test('a save needs no quota only if it archives a draft and leaves its definition', () => {
  const same = definitionOf('same');
  const live = { lifecycle: 'Draft', definition: same } as const;
  expect(isOnlyArchiving(live, { status: 'archived', definition: structuredClone(same) })).toBe(true);
  expect(isOnlyArchiving(live, { status: 'draft', definition: same })).toBe(false);
  expect(isOnlyArchiving(live, { status: 'archived', definition: definitionOf('other') })).toBe(false);
  expect(isOnlyArchiving({ ...live, lifecycle: 'Archived' }, { status: 'archived', definition: same })).toBe(false);
});
