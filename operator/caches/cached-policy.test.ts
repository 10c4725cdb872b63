import { expect, test } from 'vitest';
import type { Stored } from '#resources/metadata';
import { policyObject } from '../testing/objects.ts';
import type { CachedPolicy } from './cached-policy.ts';
import { isWhole, withoutDefinition } from './cached-policy.ts';

test('a cached policy has no definition and no tests, and is marked as incomplete', () => {
  const metadata = { name: 'one', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 'now' };
  const whole: Stored<CachedPolicy> = { ...policyObject('one', { tests: [] }), metadata };
  const kept = withoutDefinition(whole);
  expect(kept).toEqual({ ...whole, spec: { displayName: 'one', description: '', lifecycle: 'Draft' } });
  expect([isWhole(whole), isWhole(kept)]).toEqual([true, false]);
});
