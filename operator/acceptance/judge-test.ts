import type { CheckOutcome } from '#checks/client';
import type { PolicyTest } from '#resources/guardrail-policy';
import type { BundleCheckResult } from '../bundles/ports.ts';

/** The result of a policy test. */
type TestVerdict =
  | { readonly kind: 'passed' }
  /**
   * Because of the verdict of a provider the decision differs from the expected one: this is reported and does not
   * block the application.
   */
  | { readonly kind: 'differs'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Evaluates one test. Local rules can block an application; the verdict of a provider is only reported
 * (docs/design/applications-and-routes.md). If the stage calls providers, the decision of the local rules alone shows
 * which verdict differs. @param local the decision of the local rules; absent if the stage calls no provider
 */
export function judgeTest(test: PolicyTest, outcome: CheckOutcome, local: BundleCheckResult | undefined): TestVerdict {
  const decision = decisionOf(outcome);
  if (decision === test.expect) return { kind: 'passed' };
  const message = `the policy test ${test.name} expects ${test.expect} at the ${test.stage} stage and got ${described(outcome)}`;
  if (local === undefined) return { kind: 'failed', message };
  const byProvider = local.decision === test.expect || (test.expect === 'Reject' && local.decision === 'Pass');
  return byProvider ? { kind: 'differs', message } : { kind: 'failed', message };
}

/** Whether the check failed because of a provider, not because of the policy or the platform. */
export function isProviderFailure(outcome: CheckOutcome): boolean {
  if (outcome.kind !== 'failed') return false;
  switch (outcome.code) {
    case 'provider_unavailable':
    case 'provider_invalid_answer':
    case 'verdict_undefined':
    case 'verdict_refused':
      return true;
    default:
      return false;
  }
}

function decisionOf(outcome: CheckOutcome): PolicyTest['expect'] | 'Failed' {
  switch (outcome.kind) {
    case 'pass':
      return 'Pass';
    case 'deny':
      return 'Reject';
    case 'mask':
      return 'Mask';
    case 'failed':
      return 'Failed';
  }
}

function described(outcome: CheckOutcome): string {
  return outcome.kind === 'failed' ? `the failure ${outcome.code}` : decisionOf(outcome);
}
