import type { CheckClient, CheckOutcome, CheckTarget } from '#checks/client';
import type { Bundle, BundlePolicy } from '#contracts/bundle';
import { isEnforced, providerOf, rulesInOrder, type Stage } from '#contracts/policy';
import type { PolicyTest } from '#resources/guardrail-policy';
import type { BundleCheckResult, Judge } from '../bundles/ports.ts';
import { isProviderFailure, judgeTest } from './judge-test.ts';

type TestRun =
  | { readonly kind: 'passed'; readonly differences: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }
  /** A technical fault of the workload or its connection: the tests have no result. */
  | { readonly kind: 'broken'; readonly message: string };

type TestRunInput = {
  readonly tests: readonly PolicyTest[];
  readonly bundle: Bundle;
  readonly targetOf: (stage: Stage) => CheckTarget;
  readonly signal: AbortSignal;
};

/** Failures that do not depend on the policy: the tests are run again. */
const transient: ReadonlySet<string> = new Set([
  'network',
  'no_address',
  'no_token',
  'overloaded',
  'aborted',
  'timeout',
  'unauthenticated',
  'policy_unavailable',
]);
/** Failures after which a test is repeated, because a process that has just started may be slow. */
const slow: ReadonlySet<string> = new Set(['stage_timeout', 'rule_timeout']);
const slowAttempts = 3;

/**
 * Runs the tests of a policy against a workload, one after another, before the workload gets any traffic
 * (docs/design/applications-and-routes.md).
 */
export async function runPolicyTests(
  ports: { readonly checks: Pick<CheckClient, 'check'>; readonly judge: Pick<Judge, 'check'> },
  input: TestRunInput,
): Promise<TestRun> {
  const locals = await runLocally(ports.judge, input);
  const differences: string[] = [];
  const failures: string[] = [];
  for (const test of input.tests) {
    const outcome = await checkOnce(ports.checks, input, test);
    if (outcome.kind === 'failed' && transient.has(outcome.code)) {
      return { kind: 'broken', message: `the policy test ${test.name} could not be run: ${outcome.code}` };
    }
    const local = locals.get(test.name);
    // Providers are checked separately; in this check a failure of a provider would hide the decision of the local
    // rules.
    const judged = isProviderFailure(outcome) && local !== undefined ? outcomeOfLocal(local) : outcome;
    const verdict = judgeTest(test, judged, local);
    if (verdict.kind === 'differs') differences.push(verdict.message);
    if (verdict.kind === 'failed') failures.push(verdict.message);
  }
  return failures.length === 0 ? { kind: 'passed', differences } : { kind: 'failed', message: failures.join('; ') };
}

async function checkOnce(
  checks: Pick<CheckClient, 'check'>,
  { targetOf, signal }: TestRunInput,
  { stage, messages }: PolicyTest,
): Promise<CheckOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await checks.check(targetOf(stage), stage, messages, { signal });
    if (outcome.kind !== 'failed' || !slow.has(outcome.code) || attempt === slowAttempts) return outcome;
  }
}

/** The decisions of the local rules, by test, for the stages that call providers. */
async function runLocally(
  judge: Pick<Judge, 'check'>,
  { tests, bundle, signal }: TestRunInput,
): Promise<ReadonlyMap<string, BundleCheckResult>> {
  const [policy] = bundle.policies;
  if (policy === undefined) return new Map();
  const remote = tests.filter((test) => callsProvider(policy, test.stage));
  if (remote.length === 0) return new Map();
  const checks = remote.map(({ name, stage, messages }) => ({ name, stage, messages, policyId: policy.id }));
  const results = await judge.check(bundle, checks, { providers: 'skipped', signal });
  return new Map(results.map((result) => [result.name, result]));
}

/** Whether an enforced rule of the stage calls a provider. */
export function callsProvider(policy: BundlePolicy, stage: Stage): boolean {
  return rulesInOrder(policy[stage]).some((rule) => isEnforced(rule) && providerOf(rule) !== undefined);
}

/** The decision of the local rules in the form of a check. */
export function outcomeOfLocal(local: BundleCheckResult) {
  switch (local.decision) {
    case 'Pass':
      return { kind: 'pass' } as const;
    case 'Reject':
      return { kind: 'deny' } as const;
    case 'Mask':
      return { kind: 'mask', contents: [] } as const;
    case 'Failed':
      return { kind: 'failed', code: 'internal', message: 'the local rules could not check the text' } as const;
  }
}
