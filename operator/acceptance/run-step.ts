import type { CheckClient } from '#checks/client';
import { digestOf } from '#contracts/canonical';
import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type BuiltBundle, buildBundle } from '../bundles/build-bundle.ts';
import type { BundleStore, Judge, ValidationResult } from '../bundles/ports.ts';
import { BrokenError } from '../reconcile/outcome.ts';
import type { RecentRevisions } from '../revisions/recent-revisions.ts';
import type { Workloads } from '../workloads/ports.ts';
import { prepareWorkload } from '../workloads/prepare-workload.ts';
import { workloadName } from '../workloads/workload-name.ts';
import { askProviders, providerQuestions } from './ask-providers.ts';
import type { AwaitedWorkloads } from './awaited-workloads.ts';
import { type BindingWorld, workloadView } from './gather-views.ts';
import type { ProviderAnswers } from './provider-answers.ts';
import { deadlinesOf } from './resources/guard.ts';
import { runPolicyTests } from './run-policy-tests.ts';
import type { AcceptanceStep, ApplicationRole, TargetFacts } from './snapshot.ts';

/** Limit of the lists of passed tests that a workload records. */
const rememberedLists = 64;

export type AcceptancePorts = {
  readonly client: KubeClient;
  readonly bundles: BundleStore;
  readonly judge: Judge;
  readonly workloads: Pick<Workloads, 'render'>;
  readonly checks: Pick<CheckClient, 'check'>;
  readonly awaited: Pick<AwaitedWorkloads, 'expect'>;
  readonly answers: Pick<ProviderAnswers, 'gather'>;
  readonly revisions: RecentRevisions;
  readonly logger: Logger;
};

/** An application that is being evaluated. */
export type AcceptanceState = {
  /** The binding or served policy that requests it. */
  readonly subject: {
    readonly name: string;
    readonly uid: string;
    readonly token: string;
    readonly replicas: number;
    /** True for a served policy, which needs more of the validation result than a route records. */
    readonly isServed: boolean;
  };
  readonly facts: Readonly<Record<ApplicationRole, TargetFacts>>;
  /** The workload objects as they were read live. */
  readonly workloads: Readonly<Partial<Record<ApplicationRole, Stored<RuntimeWorkload>>>>;
};

/** Determines one fact about an application, or starts its workload; returns the application with that fact. */
export async function runStep(
  ports: AcceptancePorts,
  world: BindingWorld,
  acceptance: AcceptanceState,
  step: AcceptanceStep,
  signal: AbortSignal,
): Promise<AcceptanceState> {
  const { target } = step;
  switch (step.kind) {
    case 'read_revision': {
      const revision = await ports.revisions.read(step.name);
      return learn(acceptance, target, { revision: revision ?? 'absent' });
    }
    case 'build_bundle': {
      const { limits, approved } = world;
      const { contentProfile } = step;
      const bundle = buildBundle({ revision: revisionOf(acceptance, target), contentProfile, limits, approved });
      return learn(acceptance, target, { bundle });
    }
    case 'judge': {
      const built = builtOf(acceptance, target);
      const before = acceptance.subject.isServed ? undefined : judgedBefore(world, built);
      const judgement = before ?? (await ports.judge.judge(built, signal));
      const { name: binding } = acceptance.subject;
      const warnings = judgement.kind === 'accepted' ? judgement.warnings : [];
      for (const warning of warnings) ports.logger.warn('bundle_warning', { binding, warning });
      return learn(acceptance, target, { judgement });
    }
    case 'ensure_workload':
      return ensureWorkload(ports, world, acceptance, target);
    case 'run_tests':
      return runTests(ports, world, acceptance, step, signal);
    case 'ask_providers': {
      const { name, uid, token } = acceptance.subject;
      const { bundle, digest } = builtOf(acceptance, target);
      const silent = await ports.answers.gather({
        subject: name,
        application: JSON.stringify([uid, token, digest]),
        questions: providerQuestions(bundle),
        ask: (questions) => askProviders(ports.judge, bundle, questions, signal),
      });
      const providers =
        silent.length === 0 ? ({ kind: 'passed' } as const) : ({ kind: 'failed', message: silent.join('; ') } as const);
      return learn(acceptance, target, { providers });
    }
  }
}

/**
 * The validation result of a bundle that a route pins on this build: a starting operator validates no bundle again that
 * already serves.
 */
function judgedBefore({ stores, build, template }: BindingWorld, built: BuiltBundle): ValidationResult | undefined {
  const { bundle, digest } = built;
  const name = workloadName({ digest, build, template }, bundle.providers);
  if (stores.workloads.get(name)?.spec.digest !== digest) return undefined;
  for (const { spec } of stores.routes.by('workload', name)) {
    const { guardrail, workload } = spec;
    if (guardrail.mode !== 'Policy' || workload !== name || guardrail.digest !== digest) continue;
    const { streaming, division } = guardrail;
    return { kind: 'accepted', streaming, division, warnings: [] };
  }
  return undefined;
}

async function ensureWorkload(
  ports: AcceptancePorts,
  world: BindingWorld,
  acceptance: AcceptanceState,
  target: ApplicationRole,
): Promise<AcceptanceState> {
  const { bundle, bytes, digest } = builtOf(acceptance, target);
  const { replicas, name: subject } = acceptance.subject;
  const { build, template } = world;
  const name = workloadName({ digest, build, template }, bundle.providers);
  ports.awaited.expect(subject, name);
  const known = world.stores.workloads.get;
  const input = { bundle, bytes, digest, build, template, replicas };
  const prepared = await prepareWorkload({ ...ports, known }, input);
  const workload = workloadView(world.canRun, prepared.metadata.name, prepared);
  return {
    ...learn(acceptance, target, { workload }),
    workloads: { ...acceptance.workloads, [target]: prepared },
  };
}

async function runTests(
  ports: AcceptancePorts,
  world: BindingWorld,
  acceptance: AcceptanceState,
  step: Extract<AcceptanceStep, { kind: 'run_tests' }>,
  signal: AbortSignal,
): Promise<AcceptanceState> {
  const { target, contentProfile } = step;
  const revision = revisionOf(acceptance, target);
  const workload = preparedWorkload(acceptance, target);
  const digest = digestOf(revision.tests);
  if (workload.status?.testsPassed?.includes(digest)) return learn(acceptance, target, { tests: { kind: 'passed' } });
  const built = builtOf(acceptance, target);
  const deadlines = deadlinesOf(built.definition);
  const run = await runPolicyTests(ports, {
    tests: revision.tests,
    bundle: built.bundle,
    signal,
    targetOf: (stage) => ({
      addresses: workload.status?.addresses ?? [],
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
      return learn(acceptance, target, { tests: run });
    case 'passed': {
      const fields = { binding: acceptance.subject.name, workload: workload.metadata.name };
      ports.logger.info('policy_tests_passed', { ...fields, tests: revision.tests.length });
      for (const difference of run.differences)
        ports.logger.warn('provider_verdict_differs', { ...fields, difference });
      await recordPassedTests(ports.client, workload, digest);
      return learn(acceptance, target, { tests: { kind: 'passed' } });
    }
  }
}

/**
 * Records in the status of the workload that the workload passed a list of tests. The other fields have another writer
 * and are not changed; if two processes record concurrently, one of them gets a conflict and reads again.
 */
async function recordPassedTests(
  client: Pick<KubeClient, 'patchStatus'>,
  workload: Stored<RuntimeWorkload>,
  digest: string,
): Promise<void> {
  const passed = workload.status?.testsPassed;
  const path = '/status/testsPassed';
  await client.patchStatus(kinds.runtimeWorkload, workload.metadata.name, [
    { op: 'test', path: '/metadata/uid', value: workload.metadata.uid },
    ...(passed === undefined ? [] : [{ op: 'test', path, value: passed } as const]),
    { op: 'add', path, value: [digest, ...(passed ?? [])].slice(0, rememberedLists) },
  ]);
}

function learn(acceptance: AcceptanceState, target: ApplicationRole, facts: TargetFacts): AcceptanceState {
  return { ...acceptance, facts: { ...acceptance.facts, [target]: { ...acceptance.facts[target], ...facts } } };
}

function revisionOf(acceptance: AcceptanceState, target: ApplicationRole) {
  const { revision } = acceptance.facts[target];
  if (revision === undefined || revision === 'absent' || revision === 'purged')
    throw new TypeError('a step needs the revision of the binding, which was not read');
  return revision;
}

function builtOf(acceptance: AcceptanceState, target: ApplicationRole) {
  const { bundle } = acceptance.facts[target];
  if (bundle?.kind !== 'built') throw new TypeError('a step needs the bundle of the binding, which was not built');
  return bundle;
}

function preparedWorkload(acceptance: AcceptanceState, target: ApplicationRole): Stored<RuntimeWorkload> {
  const workload = acceptance.workloads[target];
  if (workload === undefined) throw new TypeError('a step needs the workload of the binding, which was not prepared');
  return workload;
}
