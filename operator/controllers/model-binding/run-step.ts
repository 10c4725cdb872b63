import type { CheckClient } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type BuiltBundle, buildBundle } from '../../bundles/build-bundle.ts';
import type { BundleStore, Judge, Judgement } from '../../bundles/ports.ts';
import { BrokenError } from '../../reconcile/outcome.ts';
import type { RecentRevisions } from '../../revisions/recent-revisions.ts';
import { askProviders } from '../../trials/ask-providers.ts';
import { runPolicyTests } from '../../trials/run-policy-tests.ts';
import type { Workloads } from '../../workloads/ports.ts';
import { prepareWorkload } from '../../workloads/prepare-workload.ts';
import { workloadName } from '../../workloads/workload-name.ts';
import type { AnsweredProviders } from './answered-providers.ts';
import type { AwaitedWorkloads } from './awaited-workloads.ts';
import { type BindingWorld, workloadView } from './gather.ts';
import { recordPassedTests, testsDigest } from './passed-tests.ts';
import { deadlinesOf } from './resources/route.ts';
import type { Target, TargetFacts } from './snapshot.ts';
import type { Step } from './steps.ts';

export type TrialPorts = {
  readonly client: KubeClient;
  readonly bundles: BundleStore;
  readonly judge: Judge;
  readonly workloads: Pick<Workloads, 'render'>;
  readonly checks: Pick<CheckClient, 'check'>;
  readonly awaited: Pick<AwaitedWorkloads, 'expect'>;
  readonly answered: Pick<AnsweredProviders, 'note' | 'has'>;
  readonly revisions: RecentRevisions;
  readonly logger: Logger;
};

export type TrialStep = Extract<Step, { readonly target: Target }>;

/** An application that is being evaluated. */
export type Trial = {
  /** The binding or served policy that asks for it. */
  readonly subject: {
    readonly name: string;
    readonly uid: string;
    readonly token: string;
    readonly replicas: number;
  };
  readonly facts: Readonly<Record<Target, TargetFacts>>;
  /** The workload objects as they were read live. */
  readonly generations: Readonly<Partial<Record<Target, Stored<RuntimeWorkload>>>>;
};

/** Determines one fact about an application, or starts its workload; returns the application with that fact. */
export async function runStep(
  ports: TrialPorts,
  world: BindingWorld,
  trial: Trial,
  step: TrialStep,
  signal: AbortSignal,
): Promise<Trial> {
  const { target } = step;
  switch (step.kind) {
    case 'read_revision': {
      const revision = await ports.revisions.read(step.name);
      return learn(trial, target, { revision: revision ?? 'absent' });
    }
    case 'build_bundle': {
      const { limits, approved } = world;
      const { contentProfile } = step;
      const bundle = buildBundle({ revision: revisionOf(trial, target), contentProfile, limits, approved });
      return learn(trial, target, { bundle });
    }
    case 'judge': {
      const built = builtOf(trial, target);
      const judgement = judgedBefore(world, built) ?? (await ports.judge.judge(built, signal));
      const { name: binding } = trial.subject;
      const warnings = judgement.kind === 'accepted' ? judgement.warnings : [];
      for (const warning of warnings) ports.logger.warn('bundle_warning', { binding, warning });
      return learn(trial, target, { judgement });
    }
    case 'ensure_workload':
      return ensureWorkload(ports, world, trial, target);
    case 'run_tests':
      return runTests(ports, world, trial, step, signal);
    case 'ask_providers': {
      const { name, uid, token } = trial.subject;
      const { digest } = builtOf(trial, target);
      const application = JSON.stringify([uid, token, digest]);
      if (ports.answered.has(name, application)) return learn(trial, target, { providers: { kind: 'passed' } });
      const silent = await askProviders(ports.judge, builtOf(trial, target).bundle, signal);
      const providers =
        silent.length === 0 ? ({ kind: 'passed' } as const) : ({ kind: 'failed', message: silent.join('; ') } as const);
      if (silent.length === 0) ports.answered.note(name, application);
      return learn(trial, target, { providers });
    }
  }
}

/**
 * The validation result of a bundle that a route pins on this build: a starting operator validates no bundle again that
 * already serves.
 */
function judgedBefore({ stores, build, template }: BindingWorld, built: BuiltBundle): Judgement | undefined {
  const { bundle, digest } = built;
  const name = workloadName({ digest, build, template }, bundle.providers);
  if (stores.generations.get(name)?.spec.digest !== digest) return undefined;
  for (const { spec } of stores.routes.by('workload', name)) {
    const { guardrail, workload } = spec;
    if (guardrail.mode !== 'Policy' || workload !== name || guardrail.digest !== digest) continue;
    return { kind: 'accepted', streaming: guardrail.streaming, warnings: [] };
  }
  return undefined;
}

async function ensureWorkload(ports: TrialPorts, world: BindingWorld, trial: Trial, target: Target): Promise<Trial> {
  const { bundle, bytes, digest } = builtOf(trial, target);
  const { replicas, name: subject } = trial.subject;
  const { build, template } = world;
  const name = workloadName({ digest, build, template }, bundle.providers);
  ports.awaited.expect(subject, name);
  const known = world.stores.generations.get;
  const input = { bundle, bytes, digest, build, template, replicas };
  const generation = await prepareWorkload({ ...ports, known }, input);
  const workload = workloadView(world.canRun, generation.metadata.name, generation);
  return {
    ...learn(trial, target, { workload }),
    generations: { ...trial.generations, [target]: generation },
  };
}

async function runTests(
  ports: TrialPorts,
  world: BindingWorld,
  trial: Trial,
  step: Extract<TrialStep, { kind: 'run_tests' }>,
  signal: AbortSignal,
): Promise<Trial> {
  const { target, contentProfile } = step;
  const revision = revisionOf(trial, target);
  const generation = generationOf(trial, target);
  const digest = testsDigest(revision.tests);
  if (generation.status?.testsPassed?.includes(digest)) return learn(trial, target, { tests: { kind: 'passed' } });
  const built = builtOf(trial, target);
  const deadlines = deadlinesOf(built.definition);
  const run = await runPolicyTests(ports, {
    tests: revision.tests,
    bundle: built.bundle,
    signal,
    targetOf: (stage) => ({
      addresses: generation.status?.addresses ?? [],
      policyId: revision.policyId,
      policyRevision: String(revision.number),
      digest: built.digest,
      contentProfile,
      maxBodyBytes: world.limits.maxBodyBytes,
      maxMessages: world.limits.maxMessages,
      deadlineMs: deadlines[stage],
    }),
  });
  switch (run.kind) {
    case 'broken':
      throw new BrokenError('WorkloadUnavailable', run.message);
    case 'failed':
      return learn(trial, target, { tests: run });
    case 'passed': {
      const fields = { binding: trial.subject.name, workload: generation.metadata.name };
      ports.logger.info('policy_tests_passed', { ...fields, tests: revision.tests.length });
      for (const difference of run.differences)
        ports.logger.warn('provider_verdict_differs', { ...fields, difference });
      await recordPassedTests(ports.client, generation, digest);
      return learn(trial, target, { tests: { kind: 'passed' } });
    }
  }
}

function learn(trial: Trial, target: Target, facts: TargetFacts): Trial {
  return { ...trial, facts: { ...trial.facts, [target]: { ...trial.facts[target], ...facts } } };
}

function revisionOf(trial: Trial, target: Target) {
  const { revision } = trial.facts[target];
  if (revision === undefined || revision === 'absent') throw new TypeError('the revision was not read');
  return revision;
}

function builtOf(trial: Trial, target: Target) {
  const { bundle } = trial.facts[target];
  if (bundle?.kind !== 'built') throw new TypeError('the bundle was not built');
  return bundle;
}

function generationOf(trial: Trial, target: Target): Stored<RuntimeWorkload> {
  const generation = trial.generations[target];
  if (generation === undefined) throw new TypeError('the workload was not prepared');
  return generation;
}
