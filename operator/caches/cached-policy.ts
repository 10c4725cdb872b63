import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';

/** A policy without its definition and tests, which may be large: code that needs them reads the policy live. */
export type CachedPolicy = Omit<GuardrailPolicy, 'spec'> & {
  readonly spec: Omit<GuardrailPolicySpec, 'definition' | 'tests'>;
};

/** The part of a policy that is cached. */
export function withoutDefinition(policy: Stored<CachedPolicy>): Stored<CachedPolicy> {
  const { definition: _large, tests: _many, ...spec } = policy.spec as GuardrailPolicySpec;
  return { ...policy, spec };
}

/** Whether a policy is the complete object, not only the cached part. */
export function isWhole(policy: Stored<CachedPolicy>): policy is Stored<GuardrailPolicy> {
  return 'definition' in policy.spec;
}
