import { type Definition, isEnforced, providerOf } from '#contracts/policy';
import { isContentProfile } from '#contracts/profiles';
import type { ServedLimits } from '#contracts/served-target';
import { rulesOfDefinition } from '#contracts/shared-rules';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { FailureReason } from '#resources/model-binding';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { type Application, pinnedApplication, sameContent } from '../applications/application.ts';
import { makeGuard } from './resources/guard.ts';
import type { AcceptanceStep, ApplicationRole, ProgressSnapshot } from './snapshot.ts';

/** The progress of one application before its route is written (docs/design/applications-and-routes.md). */
export type ApplicationProgress =
  | { readonly kind: 'step'; readonly step: AcceptanceStep }
  | { readonly kind: 'waiting'; readonly phase: 'references'; readonly reason: string; readonly message: string }
  | { readonly kind: 'waiting'; readonly phase: 'workload'; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly phase: 'references' | 'workload';
      readonly reason: FailureReason;
      readonly message: string;
    }
  | {
      readonly kind: 'ready';
      readonly guardrail: GatewayRouteSpec['guardrail'];
      readonly workload: string | undefined;
      /**
       * Whether the policy can judge long texts in pieces; undefined without a policy and until its bundle is
       * validated.
       */
      readonly division: ServedLimits['division'] | undefined;
    };

type PolicyContent = Extract<Application['content'], { mode: 'Policy' }>;
type Check = (s: ProgressSnapshot, target: ApplicationRole, content: PolicyContent) => ApplicationProgress | undefined;

/** The order of these checks matters: permanent failures come before missing dependencies. */
const checks: readonly Check[] = [
  policyIsKnown,
  policyIsOpen,
  profileIsKnown,
  upstreamIsApproved,
  policyIsThere,
  revisionIsRecorded,
  bundleIsBuilt,
  bundleIsAdmitted,
  providersAnswer,
  workloadIsReady,
  testsPass,
];

export function progressOf(
  s: ProgressSnapshot,
  target: ApplicationRole,
  application: Application,
): ApplicationProgress {
  const { content } = application;
  if (content.mode === 'None') {
    const refused = upstreamIsApproved(s, target);
    return refused ?? { kind: 'ready', guardrail: { mode: 'None' }, workload: undefined, division: undefined };
  }
  for (const check of checks) {
    const found = check(s, target, content);
    if (found !== undefined) return found;
  }
  return guarded(s, target, content);
}

/** Until the policy has an id, for example after a restore, desired and pinned content cannot be compared. */
function policyIsKnown(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  if (target === 'pinned' || s.policy.kind === 'absent' || s.policy.idConflict) return undefined;
  return s.policy.id === undefined ? unresolved('PolicyNotRecorded', 'the policy is not recorded yet') : undefined;
}

function policyIsOpen(
  s: ProgressSnapshot,
  target: ApplicationRole,
  content: PolicyContent,
): ApplicationProgress | undefined {
  if (target === 'pinned' || s.policy.kind === 'absent') return undefined;
  const { archived, deleting } = s.policy;
  if (!archived && !deleting) return undefined;
  const pinned = s.route === undefined ? undefined : pinnedApplication(s.route.spec).content;
  if (pinned !== undefined && sameContent(pinned, content)) return undefined;
  const state = archived ? 'archived' : 'being deleted';
  return failed('references', 'policy_archived', `the policy is ${state}: it cannot be newly applied`);
}

function profileIsKnown(
  _s: ProgressSnapshot,
  _target: ApplicationRole,
  content: PolicyContent,
): ApplicationProgress | undefined {
  if (isContentProfile(content.contentProfile)) return undefined;
  return failed(
    'references',
    'profile_unsupported',
    `the content profile ${content.contentProfile} is not supported; see spec.contentProfile`,
  );
}

function upstreamIsApproved(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  if (target === 'pinned' || s.upstream.kind === 'approved') return undefined;
  return failed(
    'references',
    'provider_unknown',
    `the provider ${s.upstream.provider} of spec.model.provider is not an approved provider of kind model`,
  );
}

function policyIsThere(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  if (target === 'pinned') return undefined;
  if (s.policy.kind === 'absent') return unresolved('PolicyNotFound', describeAbsence(s.policy));
  if (s.policy.idConflict) {
    return unresolved('PolicyIdConflict', 'another policy owns the id label of the policy of spec.guardrail');
  }
  return undefined;
}

export function describeAbsence({ name }: { readonly name: string }): string {
  return `the policy ${name} of spec.guardrail does not exist`;
}

function revisionIsRecorded(
  s: ProgressSnapshot,
  target: ApplicationRole,
  content: PolicyContent,
): ApplicationProgress | undefined {
  const { revision } = s.facts[target];
  if (revision === undefined) {
    const name = `${content.policyId}-${content.policyRevision}`;
    return { kind: 'step', step: { kind: 'read_revision', target, name } };
  }
  if (revision === 'purged') {
    const message = `the text of revision ${content.policyRevision} of the policy was removed: apply another revision`;
    return failed('references', 'policy_revision_unknown', message);
  }
  if (revision !== 'absent') return undefined;
  return unresolved('PolicyRevisionUnknown', `the policy has no revision ${content.policyRevision}`);
}

function bundleIsBuilt(
  s: ProgressSnapshot,
  target: ApplicationRole,
  content: PolicyContent,
): ApplicationProgress | undefined {
  const { bundle } = s.facts[target];
  if (bundle === undefined) {
    return { kind: 'step', step: { kind: 'build_bundle', target, contentProfile: content.contentProfile } };
  }
  if (bundle.kind === 'built') return undefined;
  const phase = bundle.reason === 'bundle_invalid' ? 'workload' : 'references';
  return failed(phase, bundle.reason, bundle.message);
}

function bundleIsAdmitted(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  const { revision, judgement } = s.facts[target];
  if (judgement === undefined) return { kind: 'step', step: { kind: 'judge', target } };
  if (judgement.kind === 'accepted') return undefined;
  const policy = isFound(revision) ? `policy ${revision.policy.name}: ` : '';
  return failed('workload', judgement.reason, `${policy}${judgement.message}`);
}

function workloadIsReady(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  const { workload } = s.facts[target];
  if (workload === undefined) return { kind: 'step', step: { kind: 'ensure_workload', target } };
  if (workload.ready && workload.addresses.length > 0) return undefined;
  const message = workload.problem ?? `the processes of the workload ${workload.name} are starting`;
  return { kind: 'waiting', phase: 'workload', message };
}

function testsPass(
  s: ProgressSnapshot,
  target: ApplicationRole,
  content: PolicyContent,
): ApplicationProgress | undefined {
  const { revision, tests } = s.facts[target];
  if (!isFound(revision) || revision.tests.length === 0) return undefined;
  if (tests === undefined) {
    return { kind: 'step', step: { kind: 'run_tests', target, contentProfile: content.contentProfile } };
  }
  return tests.kind === 'passed' ? undefined : failed('workload', 'policy_tests_failed', tests.message);
}

function providersAnswer(s: ProgressSnapshot, target: ApplicationRole): ApplicationProgress | undefined {
  const { bundle, providers } = s.facts[target];
  if (target === 'pinned' || bundle?.kind !== 'built' || !callsProviders(bundle.definition)) return undefined;
  if (providers === undefined) return { kind: 'step', step: { kind: 'ask_providers', target } };
  return providers.kind === 'passed' ? undefined : failed('workload', 'provider_unavailable', providers.message);
}

function callsProviders(definition: Definition): boolean {
  return rulesOfDefinition(definition).some((rule) => isEnforced(rule) && providerOf(rule) !== undefined);
}

function guarded(s: ProgressSnapshot, target: ApplicationRole, content: PolicyContent): ApplicationProgress {
  const { revision, bundle, judgement, workload } = s.facts[target];
  if (!isFound(revision) || bundle?.kind !== 'built' || judgement?.kind !== 'accepted' || workload === undefined) {
    throw new TypeError('an application was declared ready although its revision, bundle or workload is unknown');
  }
  const guardrail = makeGuard({
    revision,
    definition: bundle.definition,
    contentProfile: content.contentProfile,
    digest: bundle.digest,
    addresses: workload.addresses,
    limits: s.limits,
    streaming: judgement.streaming,
    division: judgement.division,
  });
  return { kind: 'ready', guardrail, workload: workload.name, division: judgement.division };
}

function isFound(revision: PolicyRevisionSpec | 'absent' | 'purged' | undefined): revision is PolicyRevisionSpec {
  return typeof revision === 'object';
}

function unresolved(reason: string, message: string): ApplicationProgress {
  return { kind: 'waiting', phase: 'references', reason, message };
}

function failed(phase: 'references' | 'workload', reason: FailureReason, message: string): ApplicationProgress {
  return { kind: 'failed', phase, reason, message };
}
