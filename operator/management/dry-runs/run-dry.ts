import type { BundleLimits } from '#contracts/bundle';
import { type DryRunRefusal, type DryRunResult, dryRunChecks } from '#contracts/dry-run';
import { operationFailures } from '#contracts/management-errors';
import type { ApprovedProvider } from '#contracts/providers';
import { sentence } from '#diagnosis/sentence';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { askProviders, providerQuestions } from '../../acceptance/ask-providers.ts';
import { type ApplicationProgress, progressOf } from '../../acceptance/decide-progress.ts';
import { runTestsLocally } from '../../acceptance/run-tests-locally.ts';
import type { PolicyView, ProgressSnapshot, TargetFacts, UpstreamView } from '../../acceptance/snapshot.ts';
import type { Application } from '../../applications/application.ts';
import { type BuiltBundle, buildBundle } from '../../bundles/build-bundle.ts';
import type { Judge } from '../../bundles/ports.ts';
import { BrokenError } from '../../reconcile/outcome.ts';
import { CheckUnavailableError } from '../policies/check-definition.ts';
import { checkOf } from './check-of.ts';

/** An application that is checked and not made. */
type DryApplication = {
  /** The revision, with the policy id and number that the application would have. */
  readonly revision: PolicyRevisionSpec;
  readonly contentProfile: string;
  readonly policy: PolicyView;
  readonly upstream: UpstreamView;
  /** Why the command that requests it would be refused now. */
  readonly refusals: readonly DryRunRefusal[];
};

/** Checks an application as the operator would, up to the start of its workload. It writes nothing. */
export type DryRunner = (application: DryApplication) => Promise<DryRunResult>;

/** Timeout of all checks of one dry run together, milliseconds. */
const timeoutMs = 25_000;

/** The workload that an application would start after these checks; a dry run starts no workload. */
const assumedWorkload = {
  name: 'none',
  runnable: true,
  ready: true,
  addresses: ['none'],
  problem: undefined,
} as const;

/** @param options.asksProviders whether the judge has the credentials of providers */
export function createDryRunner(options: {
  readonly judge: Judge;
  readonly asksProviders: boolean;
  readonly environment: () => { readonly approved: readonly ApprovedProvider[]; readonly limits: BundleLimits };
}): DryRunner {
  const { judge, asksProviders, environment } = options;

  async function silences({ bundle }: BuiltBundle, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const found = await askProviders(judge, bundle, providerQuestions(bundle), signal);
      return found.flatMap((silence) => silence?.message ?? []);
    } catch (error) {
      if (error instanceof BrokenError && error.code === 'CredentialMissing') return [error.message];
      throw error;
    }
  }

  async function gather(application: DryApplication, signal: AbortSignal): Promise<Gathered> {
    const { revision, contentProfile } = application;
    const { approved, limits } = environment();
    const bundle = buildBundle({ revision, contentProfile, limits, approved });
    if (bundle.kind === 'refused') return { limits, facts: { revision, bundle } };
    const judgement = await judge.judge(bundle, signal);
    if (judgement.kind === 'refused') return { limits, facts: { revision, bundle, judgement } };
    const silent = asksProviders ? await silences(bundle, signal) : [];
    const failed = await runTestsLocally(judge, { tests: revision.tests, bundle: bundle.bundle, signal });
    const facts = { revision, bundle, judgement, providers: factOf(silent), tests: factOf(failed) };
    return { limits, facts: { ...facts, workload: assumedWorkload } };
  }

  return async (application) => {
    const gathered = await gather(application, AbortSignal.timeout(timeoutMs)).catch((error: unknown) => {
      if (!(error instanceof BrokenError) && !(error instanceof DOMException)) throw error;
      throw new CheckUnavailableError('the application was not checked in time', { cause: error });
    });
    const { policy, upstream } = application;
    const snapshot = { policy, upstream, route: undefined, limits: gathered.limits };
    const facts = { desired: gathered.facts, pinned: {} };
    const progress = progressOf({ ...snapshot, facts }, 'desired', applicationOf(application));
    const checked = resultOf(progress, gathered, asksProviders);
    const refusals = [...application.refusals];
    return { ...checked, wouldApply: refusals.length > 0 ? false : checked.wouldApply, refusals };
  };
}

type Gathered = Pick<ProgressSnapshot, 'limits'> & { readonly facts: TargetFacts };

function factOf(messages: readonly string[]): NonNullable<TargetFacts['tests']> {
  return messages.length === 0 ? { kind: 'passed' } : { kind: 'failed', message: messages.join('; ') };
}

function applicationOf({ revision, contentProfile }: DryApplication): Application {
  const { policyId, number } = revision;
  return { token: '', content: { mode: 'Policy', policyId, policyRevision: String(number), contentProfile } };
}

function resultOf(
  progress: ApplicationProgress,
  { facts }: Gathered,
  asksProviders: boolean,
): Omit<DryRunResult, 'refusals'> {
  const { judgement } = facts;
  const failure = failureOf(progress);
  const checks = dryRunChecks.map((check) => checkOf(check, { progress, facts, asksProviders }));
  return {
    wouldApply: failure === null ? isDecided(checks) || null : false,
    error: failure,
    checks,
    warnings: judgement?.kind === 'accepted' ? judgement.warnings.map(sentence) : [],
  };
}

/** Whether all necessary checks were made. */
function isDecided(checks: DryRunResult['checks']): boolean {
  return checks.every(({ state }) => state !== 'not_run');
}

function failureOf(progress: ApplicationProgress): DryRunResult['error'] {
  switch (progress.kind) {
    case 'ready':
      return null;
    case 'failed': {
      const { reason: code, message } = progress;
      return { code, message: operationFailures[code], cause: sentence(message) };
    }
    case 'waiting': {
      const code = 'policy_revision_unknown';
      return { code, message: operationFailures[code], cause: sentence(progress.message) };
    }
    case 'step':
      throw new TypeError('a dry run gathers every fact before it decides');
  }
}
