import { describeProviderProblem, providerProblems } from '#contracts/provider-causes';
import type { BindingCondition } from '#resources/binding-state';
import type { Condition } from '#resources/metadata';
import { describeAbsence } from '../../../acceptance/decide-progress.ts';
import { pinnedApplication, sameApplication } from '../../../applications/application.ts';
import { isFinal } from '../../../applications/outcome-history.ts';
import { isReleased } from '../alias/released-alias.ts';
import { describeRejections } from '../application/decide-pinned.ts';
import { desiredOf, type Snapshot } from '../snapshot/snapshot.ts';
import type { PassResult, Settlement } from '../snapshot/steps.ts';

type Aspect = { readonly status: Condition['status']; readonly reason: string; readonly message: string };
export type Aspects = Readonly<Record<BindingCondition, Aspect>>;

/** The conditions of a binding at the end of a pass. */
export function aspectsOf(s: Snapshot, settlement: Settlement): Aspects {
  if (isRemembered(settlement.result)) return rememberedAspects(s, settlement);
  const aspects = {
    Accepted: accepted(settlement.result),
    ResolvedRefs: resolved(s, settlement.result),
    WorkloadReady: workloadReady(s, settlement),
    Applied: applied(s, settlement.result),
    RouteRejected: routeRejected(s),
    ProviderReachable: providerReachable(s),
  };
  return { Ready: ready(s, settlement.result, aspects), ...aspects };
}

const objections: readonly string[] = ['AliasConflict', 'IdConflict', 'InvalidId'] satisfies NotAccepted['reason'][];
type NotAccepted = Extract<PassResult, { kind: 'not_accepted' }>;

const unguardedMessage = 'UNGUARDED: no guardrail checks the requests and answers of this model.';
const nothingStarted = 'No workload has been started yet.';

/** Longest message that the API server accepts in a condition. */
const maxMessage = 32_768;

function aspect(status: Condition['status'], reason: string, message: string): Aspect {
  return { status, reason, message: message.slice(0, maxMessage) };
}

function accepted(result: PassResult): Aspect {
  if (result.kind === 'not_accepted') return aspect('False', result.reason, result.message);
  return aspect('True', 'Accepted', 'The binding is accepted.');
}

function resolved(s: Snapshot, result: PassResult): Aspect {
  switch (result.kind) {
    case 'not_accepted':
      return aspect('Unknown', 'NotAccepted', 'References are resolved after the binding is accepted.');
    case 'unresolved':
      return aspect('False', result.reason, result.message);
    case 'failed':
      if (result.phase === 'references') return aspect('False', camel(result.reason), result.message ?? '');
      break;
    case 'starting':
    case 'blocked':
    case 'confirming':
    case 'applied':
    case 'leaving':
      break;
  }
  if (s.upstream.kind === 'unknown') {
    return aspect('False', 'ProviderUnknown', `the provider ${s.upstream.provider} is not approved for models`);
  }
  if (s.binding.spec.guardrail.mode === 'Policy' && s.policy.kind === 'absent') {
    return aspect('False', 'PolicyNotFound', describeAbsence(s.policy));
  }
  if (s.policy.kind === 'found' && s.policy.deleting) return aspect('True', 'PolicyDeleting', deletingMessage(s));
  return aspect('True', 'Resolved', 'All references are resolved.');
}

/** The message names both possible remedies. */
function deletingMessage({ binding: { name, spec } }: Snapshot): string {
  const policy = spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef.name : '';
  return (
    `The policy ${policy} is being deleted. It stays in force here until the binding ${name} refers to another policy ` +
    'or is deleted; to keep the policy, apply it again.'
  );
}

function workloadReady(s: Snapshot, { result, degraded }: Settlement): Aspect {
  if (degraded !== undefined) return aspect('False', 'RunningAgain', degraded);
  switch (result.kind) {
    case 'not_accepted':
      if (isInForce(s)) break;
      return aspect('Unknown', 'Pending', nothingStarted);
    case 'unresolved':
    case 'leaving':
      return aspect('Unknown', 'Pending', nothingStarted);
    case 'starting':
      return aspect('Unknown', 'Starting', result.message);
    case 'blocked':
      return aspect('False', result.reason, result.message);
    case 'failed':
      if (result.phase === 'references') return aspect('Unknown', 'Pending', nothingStarted);
      if (result.phase === 'workload') {
        return aspect('False', camel(result.reason), result.message ?? '');
      }
      break;
    case 'confirming':
    case 'applied':
      break;
  }
  if (s.binding.spec.guardrail.mode === 'None') return aspect('True', 'Unguarded', 'The model needs no runtime.');
  const workload = s.route?.spec.workload ?? '';
  const message = `Workload ${workload} was ready and passed its tests when the route was written.`;
  return aspect('True', 'Ready', `${message}${streamingNote(s)}`);
}

function streamingNote(s: Snapshot): string {
  const guardrail = s.route?.spec.guardrail;
  if (s.route?.spec.streaming === 'Refused') return ' Streams are refused by the binding.';
  if (guardrail?.mode !== 'Policy' || guardrail.streaming.allowed) return '';
  if (s.route?.spec.streaming === 'Allowed') {
    return ` Streams are served although ${guardrail.streaming.rule} cannot be judged in windows and may miss a match.`;
  }
  return ` Streams are refused because of ${guardrail.streaming.rule}, which cannot be judged in windows.`;
}

function applied(s: Snapshot, result: PassResult): Aspect {
  switch (result.kind) {
    case 'applied':
      return aspect('True', 'Applied', appliedMessage(s));
    case 'confirming': {
      const reason = s.overdue ? 'ProgressDeadlineExceeded' : 'WaitingForReplicas';
      return aspect('Unknown', reason, result.message);
    }
    case 'failed':
      return aspect('False', camel(result.reason), `${ended(result.message ?? '')}${servingNote(s, result)}`);
    case 'not_accepted':
      return notAccepted(s, result);
    case 'unresolved':
    case 'blocked':
      return saidBefore(s) ?? aspect('Unknown', 'Pending', 'The application is in progress.');
    case 'starting':
    case 'leaving':
      return aspect('Unknown', 'Pending', `The application is in progress.${servingNote(s, result)}`);
  }
}

/** A message about an earlier generation, or about a resolved conflict, is outdated. */
function saidBefore(s: Snapshot): Aspect | undefined {
  const said = s.conditions.find((condition) => condition.type === 'Applied');
  const isTrue = said?.observedGeneration === s.binding.generation && !objections.includes(said.reason);
  return isTrue && !isOutdated(s, said) ? aspectOf(said) : undefined;
}

/**
 * Whether a failure message is outdated, because the missing dependency has appeared; otherwise the failure would be
 * reported again. While the pinned application is being started again, the desired application is not evaluated.
 */
function isOutdated({ history, route }: Snapshot, said: Condition): boolean {
  const newest = history[0];
  const isLookedAt = route?.workload?.runnable !== false;
  return isLookedAt && said.status === 'False' && newest !== undefined && !isFinal(newest);
}

/**
 * No application is in progress until a user resolves the conflict. A wrong label does not affect the current
 * application.
 */
function notAccepted(s: Snapshot, result: NotAccepted): Aspect {
  const said = result.reason === 'AliasConflict' || !isInForce(s) ? undefined : saidBefore(s);
  return said ?? aspect('False', result.reason, `${ended(result.message)} ${heldNote(s)}`);
}

function heldNote({ route }: Snapshot): string {
  if (route === undefined) return 'This binding serves no alias.';
  if (isReleased(route.spec.alias)) return 'It has released its alias for bindings that exchange theirs.';
  return `The current application keeps serving the alias ${route.spec.alias}.`;
}

/** The route pins the desired application. */
function isInForce(s: Snapshot): boolean {
  return s.route !== undefined && sameApplication(desiredOf(s), pinnedApplication(s.route.spec));
}

/** The text with a full stop, so that a sentence can follow. */
function ended(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

function appliedMessage(s: Snapshot): string {
  const guardrail = s.route?.spec.guardrail;
  if (guardrail?.mode !== 'Policy') return `Every ready gateway replica confirmed the route. ${unguardedMessage}`;
  const { guardrail: desired } = s.binding.spec;
  const name = desired.mode === 'Policy' ? ` ${desired.policyRef.name}` : '';
  return `Every ready gateway replica confirmed revision ${guardrail.policyRevision} of the policy${name}.`;
}

function servingNote(s: Snapshot, result: PassResult): string {
  if (s.route === undefined) return ' The alias has no route.';
  if (result.kind === 'failed' && result.phase === 'replicas' && s.route.spec.refused === undefined) {
    return ' There is no previous guarded application to roll back to.';
  }
  return ' The previous application keeps serving.';
}

function routeRejected(s: Snapshot): Aspect {
  const message = describeRejections(s);
  if (message === '') return aspect('False', 'NotRejected', 'No gateway replica rejects the route.');
  return aspect('True', 'RejectedByReplica', message);
}

/**
 * A replica that starts has not tried its providers yet, so the condition keeps its value until a replica has: a
 * restart of the gateway writes no status.
 */
function providerReachable(s: Snapshot): Aspect {
  const { route, provider: fact } = s;
  if (route === undefined) return aspect('Unknown', 'NotServed', 'The alias has no route, so no provider is called.');
  const { provider } = route.spec.upstream;
  switch (fact.kind) {
    case 'failing': {
      const message = describeProviderProblem(fact.provider, fact.cause, fact.rule);
      return aspect('False', providerProblems[fact.cause].reason, message);
    }
    case 'reachable':
      return aspect('True', 'Reachable', `The gateway reaches the provider ${provider}.`);
    case 'unknown': {
      const said = s.conditions.find(({ type }) => type === 'ProviderReachable');
      if (said !== undefined && said.observedGeneration === s.binding.generation && said.reason !== 'NotServed') {
        return aspectOf(said);
      }
      return aspect('Unknown', 'NotTried', `No gateway replica has connected to the provider ${provider} yet.`);
    }
  }
}

/** The guardrail is in force, so the binding is Ready; its reason names the cause that prevents answers to requests. */
function providerNote({ reason, message }: Aspect, { provider: fact }: Snapshot): Aspect {
  const isOfRule = fact.kind === 'failing' && fact.rule !== undefined;
  const effect = isOfRule ? 'texts that this rule judges are refused' : 'its model cannot answer';
  return aspect('True', reason, `The binding is applied, but ${effect}. ${message}`);
}

function ready(s: Snapshot, result: PassResult, aspects: Omit<Aspects, 'Ready'>): Aspect {
  if (result.kind === 'leaving') return aspect('False', 'Deleting', result.message);
  const open = firstOf(aspects, failures, 'False') ?? firstOf(aspects, stages, 'Unknown');
  if (open !== undefined) return open;
  if (aspects.RouteRejected.status === 'True') return { ...aspects.RouteRejected, status: 'False' };
  if (s.route?.spec.state === 'Disabled')
    return aspect('True', 'Disabled', 'The model or its provider is switched off.');
  if (s.route?.spec.guardrail.mode === 'None') return aspect('True', 'Unguarded', unguardedMessage);
  if (aspects.ProviderReachable.status === 'False') return providerNote(aspects.ProviderReachable, s);
  if (aspects.ResolvedRefs.reason === 'PolicyDeleting') return aspects.ResolvedRefs;
  return aspect('True', 'Ready', 'The binding is applied.');
}

type Stages = readonly Exclude<BindingCondition, 'Ready' | 'RouteRejected' | 'ProviderReachable'>[];
/** After a failure, the message of Applied; otherwise the message of the earliest stage that is in progress. */
const failures: Stages = ['Accepted', 'ResolvedRefs', 'Applied', 'WorkloadReady'];
const stages: Stages = ['Accepted', 'ResolvedRefs', 'WorkloadReady', 'Applied'];

function firstOf(aspects: Omit<Aspects, 'Ready'>, order: Stages, status: Aspect['status']): Aspect | undefined {
  return order.map((type) => aspects[type]).find((one) => one.status === status);
}

function isRemembered(result: PassResult): boolean {
  return result.kind === 'failed' && result.message === undefined;
}

/** Only the outcome of the application is known: the conditions keep their messages about it. */
function rememberedAspects(s: Snapshot, settlement: Settlement): Aspects {
  const { result } = settlement;
  const reason = result.kind === 'failed' ? result.reason : 'superseded';
  const message = `The application failed; a new value of spec.apply tries it again.${servingNote(s, result)}`;
  const failed = aspect('False', camel(reason), message);
  const keep = (type: BindingCondition, fallback: Aspect): Aspect => {
    const said = s.conditions.find((condition) => condition.type === type);
    return said?.status === 'False' && said.reason === fallback.reason ? aspectOf(said) : fallback;
  };
  const said = (type: BindingCondition, fallback: Aspect): Aspect => {
    const held = s.conditions.find((condition) => condition.type === type);
    // A binding that is not accepted is not evaluated, so its message does not mention the application.
    const isOfObjection = held?.reason === 'NotAccepted' || held?.message === nothingStarted;
    return held === undefined || isOfObjection ? fallback : aspectOf(held);
  };
  const unknown = aspect('Unknown', 'Pending', 'See the condition Applied.');
  return {
    Ready: keep('Ready', failed),
    Accepted: accepted(result),
    ResolvedRefs: said('ResolvedRefs', unknown),
    WorkloadReady: settlement.degraded === undefined ? said('WorkloadReady', unknown) : workloadReady(s, settlement),
    Applied: keep('Applied', failed),
    RouteRejected: routeRejected(s),
    ProviderReachable: providerReachable(s),
  };
}

function aspectOf({ status, reason, message }: Condition): Aspect {
  return { status, reason, message };
}

/** policy_tests_failed -> PolicyTestsFailed, as conditions write reasons. */
export function camel(reason: string): string {
  return reason.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
