import type { DryRunCheck, DryRunResult } from '#contracts/dry-run';
import { sentence } from '#diagnosis/sentence';
import { providerQuestions } from '../../acceptance/ask-providers.ts';
import type { ApplicationProgress } from '../../acceptance/decide-progress.ts';
import { callsProvider } from '../../acceptance/run-policy-tests.ts';
import type { TargetFacts } from '../../acceptance/snapshot.ts';

type CheckedFacts = {
  readonly progress: ApplicationProgress;
  readonly facts: TargetFacts;
  readonly asksProviders: boolean;
};
type Checked = DryRunResult['checks'][number];
/** The state of a check: a string is why it failed. */
type Found = 'passed' | { readonly failed: string } | { readonly notRun: string } | { readonly notNeeded: string };

const later: Found = { notRun: 'an earlier check failed' };
const checks: Readonly<Record<DryRunCheck, (checked: CheckedFacts) => Found>> = {
  references,
  compile,
  cost,
  providers,
  tests,
};

/** One check of a dry run from the gathered facts. The function is pure. */
export function checkOf(check: DryRunCheck, checked: CheckedFacts): Checked {
  const found = checks[check](checked);
  if (found === 'passed') return { check, state: 'passed', message: null };
  if ('failed' in found) return { check, state: 'failed', message: sentence(found.failed) };
  if ('notRun' in found) return { check, state: 'not_run', message: sentence(found.notRun) };
  return { check, state: 'not_needed', message: sentence(found.notNeeded) };
}

function references({ progress }: CheckedFacts): Found {
  const isOpen = progress.kind === 'waiting' || progress.kind === 'failed';
  return isOpen && progress.phase === 'references' ? { failed: progress.message } : 'passed';
}

function compile({ facts: { bundle, judgement } }: CheckedFacts): Found {
  if (bundle?.kind === 'refused' && bundle.reason === 'bundle_invalid') return { failed: bundle.message };
  if (judgement === undefined) return later;
  const isInvalid = judgement.kind === 'refused' && judgement.reason === 'bundle_invalid';
  return isInvalid ? { failed: judgement.message } : 'passed';
}

function cost({ facts: { judgement } }: CheckedFacts): Found {
  if (judgement?.kind === 'accepted') return 'passed';
  return judgement?.reason === 'rule_too_costly' ? { failed: judgement.message } : later;
}

function providers({ facts: { bundle, providers: fact }, asksProviders }: CheckedFacts): Found {
  if (fact === undefined) return later;
  if (fact.kind === 'failed') return { failed: fact.message };
  const isUnasked = !asksProviders && bundle?.kind === 'built' && providerQuestions(bundle.bundle).length > 0;
  return isUnasked ? { notRun: 'this process has no credentials of providers: an application asks them' } : 'passed';
}

function tests({ facts: { revision, bundle, tests: fact } }: CheckedFacts): Found {
  if (typeof revision !== 'object' || revision.tests.length === 0) return { notNeeded: 'the policy has no tests' };
  if (fact === undefined) return later;
  if (fact.kind === 'failed') return { failed: fact.message };
  const [policy] = bundle?.kind === 'built' ? bundle.bundle.policies : [];
  const isDecided = policy === undefined || !revision.tests.some(({ stage }) => callsProvider(policy, stage));
  return isDecided
    ? 'passed'
    : { notRun: 'only local rules were run: an application also runs the rules with providers' };
}
