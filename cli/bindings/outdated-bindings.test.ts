import { describe, expect, test } from 'vitest';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { outdatedBindings } from './outdated-bindings.ts';

const guardrail = { mode: 'Policy', policyRef: { name: 'guard', revision: 2 } } as const;

function binding(name: string, spec: object = {}, metadata: object = {}): Stored<ModelBinding> {
  const whole = { apply: 't', contentProfile: 'p', guardrail, ...spec };
  return { metadata: { name, ...metadata }, spec: whole } as unknown as Stored<ModelBinding>;
}

function route(name: string, workload: string | undefined, spec: object = {}): Stored<GatewayRoute> {
  const pinned = { token: 't', contentProfile: 'p', guardrail: { mode: 'Policy', policyRevision: '2' }, workload };
  return { metadata: { name }, spec: { ...pinned, ...spec } } as unknown as Stored<GatewayRoute>;
}

const workloadOf = (name: string, build: string) =>
  ({ metadata: { name }, spec: { build } }) as unknown as Stored<RuntimeWorkload>;
const workloads = [workloadOf('g-new', 'new'), workloadOf('g-old', 'old')];

const namesOf = (bindings: readonly Stored<ModelBinding>[], routes: readonly Stored<GatewayRoute>[]) => {
  const found = outdatedBindings('new', { bindings, routes, workloads });
  return { again: found.bindings.map(({ metadata }) => metadata.name), skipped: found.skipped };
};

describe('outdated bindings', () => {
  test('reapply --older-than applies the bindings on another build again, in order, and no binding on this build', () => {
    const bindings = ['c', 'b', 'a'].map((name) => binding(name));
    const routes = [route('c', 'g-old'), route('b', 'g-new'), route('a', 'g-old')];
    expect(namesOf(bindings, routes)).toEqual({ again: ['a', 'c'], skipped: [] });
  });

  test('reapply applies a binding whose workload does not exist', () => {
    expect(namesOf([binding('a')], [route('a', 'g-gone')]).again).toEqual(['a']);
  });

  test.each<readonly [string, Stored<ModelBinding>, Stored<GatewayRoute> | undefined]>([
    ['has no route', binding('a'), undefined],
    [
      'is unguarded',
      binding('a', { guardrail: { mode: 'None' } }),
      route('a', undefined, { guardrail: { mode: 'None' } }),
    ],
    ['is being deleted', binding('a', {}, { deletionTimestamp: 'now' }), route('a', 'g-old')],
  ])('reapply does not select a binding that %s', (_what, one, its) => {
    expect(namesOf([one], its === undefined ? [] : [its])).toEqual({ again: [], skipped: [] });
  });

  test.each<readonly [string, object]>([
    ['another revision', { guardrail: { ...guardrail, policyRef: { name: 'guard', revision: 3 } } }],
    ['another profile', { contentProfile: 'q' }],
    ['another application', { apply: 'u' }],
    ['no guardrail', { guardrail: { mode: 'None' } }],
  ])('reapply skips a binding that desires %s than is applied', (_what, spec) => {
    expect(namesOf([binding('a', spec)], [route('a', 'g-old')])).toEqual({ again: [], skipped: ['a'] });
  });
});
