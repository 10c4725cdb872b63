import type { Bundle } from '#contracts/bundle';
import type { PolicyTest } from '#resources/guardrail-policy';
import type { Judge } from '../bundles/ports.ts';
import { judgeTest } from './judge-test.ts';
import { callsProvider, outcomeOfLocal } from './run-policy-tests.ts';

/**
 * Runs the tests of a policy with its local rules only, without a workload, and judges the results like those of an
 * application: a decision that a provider could still change does not fail. @returns one message for each failed test
 */
export async function runTestsLocally(
  judge: Pick<Judge, 'check'>,
  {
    tests,
    bundle,
    signal,
  }: { readonly tests: readonly PolicyTest[]; readonly bundle: Bundle; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const [policy] = bundle.policies;
  if (policy === undefined || tests.length === 0) return [];
  const checks = tests.map(({ name, stage, messages }) => ({ name, stage, messages, policyId: policy.id }));
  const results = await judge.check(bundle, checks, { providers: 'skipped', signal });
  return tests.flatMap((test, at) => {
    const local = results[at];
    if (local === undefined) return [`the policy test ${test.name} has no result`];
    const verdict = judgeTest(test, outcomeOfLocal(local), callsProvider(policy, test.stage) ? local : undefined);
    return verdict.kind === 'failed' ? [verdict.message] : [];
  });
}
