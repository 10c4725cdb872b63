import { expect, test } from 'vitest';
import type { Stored } from '#resources/metadata';
import { policyObject } from '../testing/objects.ts';
import type { CachedPolicy } from './cached-policy.ts';
import { isWhole, withoutDefinition } from './cached-policy.ts';

test('a policy is kept without its definition and its tests, and says so', () => {
  const metadata = { name: 'one', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 'now' };
  const whole: Stored<CachedPolicy> = { ...policyObject('one', { tests: [] }), metadata };
  const kept = withoutDefinition(whole);
  expect(kept).toEqual({ ...whole, spec: { displayName: 'one', description: '', lifecycle: 'Draft' } });
  expect([isWhole(whole), isWhole(kept)]).toEqual([true, false]);
});
