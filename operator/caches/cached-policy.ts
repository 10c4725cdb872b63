import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';

/** A policy without its definition and tests, which may be large: whoever needs them reads the policy live. */
export type CachedPolicy = Omit<GuardrailPolicy, 'spec'> & {
  readonly spec: Omit<GuardrailPolicySpec, 'definition' | 'tests'>;
};

/** What is kept of a policy that came from the server. */
export function withoutDefinition(policy: Stored<CachedPolicy>): Stored<CachedPolicy> {
  const { definition: _large, tests: _many, ...spec } = policy.spec as GuardrailPolicySpec;
  return { ...policy, spec };
}

/** Whether a policy is as the server holds it. */
export function isWhole(policy: Stored<CachedPolicy>): policy is Stored<GuardrailPolicy> {
  return 'definition' in policy.spec;
}
