import { sameJson } from '#kube/apply/same-json';
import { idPattern } from '#resources/admission-rules';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { idLabel } from '#resources/kinds';
import {
  type Application,
  contentDigest,
  isOutcomeOf,
  type OutcomeRecord,
  outcomeOf,
  pinnedApplication,
  sameApplication,
} from '../../applications/application.ts';
import { hasOutcome, isApplied, isFinal } from '../../applications/outcome-history.ts';
import { type ApplicationProgress, progressOf } from './decide-progress.ts';
import {
  canRestore,
  isConfirmed,
  keptDraft,
  newDraft,
  previousOf,
  restorableDraft,
  rolledBackDraft,
} from './decide-route.ts';
import { guardedPin, isAccountedFor } from './pinned-route.ts';
import { desiredOf, type RouteView, type Snapshot } from './snapshot.ts';
import type { PassResult, ReconcileStep, Settlement } from './steps.ts';

type Phase = (s: Snapshot) => ReconcileStep | undefined;
type Failure = Extract<PassResult, { readonly kind: 'failed' }>;

/** The steps are tried in this order; the first that returns a result decides. */
const phases: readonly Phase[] = [
  leave,
  refuseId,
  adopt,
  dropForeignRoute,
  restoreRoute,
  runPinnedAgain,
  keepRoute,
  refuseConflict,
  followPinned,
  rememberFailure,
];

/** The next step of a binding (docs/design/applications-and-routes.md). Pure: the same snapshot gives the same step. */
export function decide(s: Snapshot): ReconcileStep {
  for (const phase of phases) {
    const step = phase(s);
    if (step !== undefined) return step;
  }
  return apply(s);
}

/** Deletion: delete the route, wait for replicas that still use it, then remove the finalizer. */
function leave(s: Snapshot): ReconcileStep | undefined {
  if (!s.binding.deleting) return undefined;
  if (!s.binding.hasFinalizer) return { kind: 'nothing' };
  if (s.route !== undefined && s.route.spec.binding.id === s.binding.id)
    return { kind: 'delete_route', why: 'leaving' };
  if (s.leftBehind.length === 0 || s.departureOverdue) return { kind: 'release' };
  const message = `waiting for these gateway replicas to finish requests in flight: ${s.leftBehind.join(', ')}`;
  return settle({ kind: 'leaving', message }, { deadline: true });
}

/** Keeps the current route; the user can still correct the label. */
function refuseId(s: Snapshot): ReconcileStep | undefined {
  if (s.binding.id === undefined || idPattern.test(s.binding.id)) return undefined;
  const message = `the label ${idLabel} is not a UUID of version 7 in lower case`;
  return settle({ kind: 'not_accepted', reason: 'InvalidId', message });
}

function adopt(s: Snapshot): ReconcileStep | undefined {
  return s.binding.id === undefined || !s.binding.hasFinalizer ? { kind: 'adopt' } : undefined;
}

/** A route of this name that belongs to another binding, which was deleted, because a name has one object. */
function dropForeignRoute(s: Snapshot): ReconcileStep | undefined {
  if (s.route === undefined || s.route.spec.binding.id === s.binding.id) return undefined;
  return { kind: 'delete_route', why: 'foreign' };
}

/**
 * A route that does not match the records of the binding, or is missing, is restored from the status, under the same
 * generation and whatever the state of the policy. Where the workload cannot serve yet, a changed route is deleted
 * first: its alias answers 404 until the pinned application runs again.
 */
function restoreRoute(s: Snapshot): ReconcileStep | undefined {
  const { route, pinned } = s;
  if (route !== undefined && isAccountedFor(s, route)) return undefined;
  const draft = restorableDraft(s);
  if (draft !== undefined) {
    return { kind: 'write_route', why: 'restore', draft, generation: 'pinned', previous: route?.previous };
  }
  if (route !== undefined && (pinned !== undefined || route.spec.guardrail.mode === 'None')) {
    return { kind: 'delete_route', why: 'tampered' };
  }
  return undefined;
}

/** The pinned workload is missing or of another build: its application is started again. */
function runPinnedAgain(s: Snapshot): ReconcileStep | undefined {
  const pinned = applicationToRerun(s);
  if (pinned === undefined) return undefined;
  const progress = progressOf(s, 'pinned', pinned);
  if (progress.kind === 'step') return progress.step;
  if (progress.kind !== 'ready') return undefined;
  const draft = { ...newDraft(s, pinned, progress), ...(s.route === undefined ? {} : refusalOf(s.route)) };
  return { kind: 'write_route', why: 'run_again', draft, generation: 'new', previous: undefined };
}

function applicationToRerun(s: Snapshot): Application | undefined {
  const { route } = s;
  if (route === undefined) return canRestore(s) ? guardedPin(s.pinned?.record) : undefined;
  if (route.spec.guardrail.mode === 'None' || route.workload?.runnable !== false) return undefined;
  return pinnedApplication(route.spec);
}

function rerunOf(s: Snapshot): ApplicationProgress | undefined {
  const pinned = applicationToRerun(s);
  return pinned === undefined ? undefined : progressOf(s, 'pinned', pinned);
}

function refusalOf(route: RouteView) {
  return route.spec.refused === undefined ? {} : { refused: route.spec.refused };
}

/** Edits that need no application, changed addresses and disabled providers. */
function keepRoute(s: Snapshot): ReconcileStep | undefined {
  if (s.route === undefined) return undefined;
  const draft = keptDraft(s, s.route);
  const { generationId, ...current } = s.route.spec;
  if (sameJson(draft, current)) return undefined;
  return { kind: 'write_route', why: 'keep', draft, generation: 'kept', previous: s.route.previous };
}

function refuseConflict(s: Snapshot): ReconcileStep | undefined {
  const { owner } = s;
  const { alias } = s.binding.spec.model;
  const { gateway } = s.binding.spec;
  switch (owner.kind) {
    case 'owner':
      return undefined;
    case 'alias_conflict':
      return settle({
        kind: 'not_accepted',
        reason: 'AliasConflict',
        message: `the alias ${alias} of gateway ${gateway} belongs to the binding ${owner.owner}`,
      });
    case 'id_conflict':
      return settle({
        kind: 'not_accepted',
        reason: 'IdConflict',
        message: `the id label of this binding belongs to the binding ${owner.owner}`,
      });
  }
}

/** The route pins the desired application: the outcome depends on the replicas (docs/design/applications-and-routes.md). */
function followPinned(s: Snapshot): ReconcileStep | undefined {
  const { route } = s;
  if (route === undefined) return undefined;
  const pinned = pinnedApplication(route.spec);
  if (!sameApplication(desiredOf(s), pinned)) return undefined;
  const degraded = degradedBy(s);
  const { generationId } = route.spec;
  const applied = outcomeOf(pinned, generationId, { outcome: 'Applied' });
  if (isApplied(s.history, generationId)) {
    // Going back to the pinned content is a new application that is already complete.
    const back = s.history[0]?.generationId === generationId ? {} : { outcome: applied };
    const doubt = doubtOf(s);
    const result: PassResult = doubt === undefined ? { kind: 'applied' } : { kind: 'confirming', message: doubt };
    return settle(result, { ...back, degraded });
  }
  if (degraded !== undefined) return settle({ kind: 'starting', message: degraded }, { degraded });
  const rejected = s.replicas.filter((replica) => replica.rejected !== undefined);
  if (rejected.length > 0) return afterRejection(s, route, pinned, describeRejections(s));
  if (isConfirmed(s)) return settle({ kind: 'applied' }, { outcome: applied });
  const late = s.overdue && !hasOutcome(s.history, generationId);
  const outcome = late ? { outcome: failedOutcome(pinned, generationId, 'progress_deadline_exceeded') } : {};
  return settle({ kind: 'confirming', message: describeSilence(s) }, { ...outcome, deadline: !s.overdue });
}

/**
 * Why an application that was confirmed once is not served everywhere now: no replica serves it, or a ready replica
 * cannot reach its workload (docs/design/applications-and-routes.md). A replica that rejects it answers 503 and is
 * reported by a separate condition; a replica that is only behind is awaited after an edit, because the edit may have
 * changed the gateway.
 */
function doubtOf(s: Snapshot): string | undefined {
  const said = s.conditions.find((condition) => condition.type === 'Applied');
  const isSaid = said?.status === 'True' && said.observedGeneration === s.binding.generation;
  if (s.replicas.length === 0) return describeSilence(s);
  const ready = s.replicas.filter((replica) => replica.ready && replica.rejected === undefined);
  const isOpen = isSaid
    ? ready.some((replica) => replica.pending)
    : ready.some((replica) => replica.pending || !replica.reached) || !s.replicas.some((replica) => replica.ready);
  return isOpen ? describeSilence(s) : undefined;
}

function afterRejection(s: Snapshot, route: RouteView, pinned: Application, message: string): ReconcileStep {
  const draft = rolledBackDraft(s, route, message);
  if (draft !== undefined) {
    return { kind: 'write_route', why: 'roll_back', draft, generation: 'new', previous: route.previous };
  }
  const { generationId } = route.spec;
  const outcome = hasOutcome(s.history, generationId)
    ? {}
    : { outcome: failedOutcome(pinned, generationId, 'replica_rejected') };
  return settle({ kind: 'failed', phase: 'replicas', reason: 'replica_rejected', message }, outcome);
}

/** A failed application is not retried, except when it failed because a dependency was missing. */
function rememberFailure(s: Snapshot): ReconcileStep | undefined {
  const desired = desiredOf(s);
  const degraded = degradedBy(s);
  const refused = refusalOfDesired(s, desired);
  const newest = s.history[0];
  if (refused !== undefined) {
    const known = newest !== undefined && isFinal(newest) && isOutcomeOf(newest, desired);
    const outcome = known ? {} : { outcome: failedOutcome(desired, refused.generationId, refused.reason) };
    const { reason, message } = refused;
    return settle({ kind: 'failed', phase: 'replicas', reason, message }, { ...outcome, degraded });
  }
  if (newest === undefined || !isOutcomeOf(newest, desired)) return undefined;
  const { reason } = newest;
  if (newest.outcome !== 'Failed' || reason === undefined) return undefined;
  if (!isFinal(newest)) return stillWanting(s, desired, reason);
  return settle({ kind: 'failed', phase: 'generation', reason, message: undefined }, { degraded });
}

/** The recorded rejection of the desired application, unless a later outcome was recorded. */
function refusalOfDesired(s: Snapshot, desired: Application): GatewayRouteSpec['refused'] {
  const refused = s.route?.spec.refused;
  if (refused?.token !== desired.token || refused.contentDigest !== contentDigest(desired.content)) return undefined;
  const newest = s.history[0];
  if (newest?.outcome === 'Applied' && newest.generationId === s.route?.spec.generationId) return undefined;
  const isPast = newest?.generationId !== refused.generationId && hasOutcome(s.history, refused.generationId);
  return isPast && newest !== undefined && isOutcomeOf(newest, desired) ? undefined : refused;
}

/** @returns undefined while the application is in progress */
function stillWanting(s: Snapshot, desired: Application, reason: OutcomeRecord['reason']): ReconcileStep | undefined {
  const result = wantOf(progressOfDesired(s, desired));
  if (result === undefined || result.reason !== reason) return undefined;
  return settle(result, { degraded: degradedBy(s) });
}

function wantOf(progress: ApplicationProgress): Failure | undefined {
  switch (progress.kind) {
    case 'failed':
      return progress;
    case 'waiting':
      return gaveUpOn(progress);
    case 'step':
    case 'ready':
      return undefined;
  }
}

/** A new application; a failure before its route is written leaves the pinned one serving. */
function apply(s: Snapshot): ReconcileStep {
  const desired = desiredOf(s);
  const progress = progressOfDesired(s, desired);
  switch (progress.kind) {
    case 'step':
      return progress.step;
    case 'ready':
      return {
        kind: 'write_route',
        why: 'apply',
        draft: newDraft(s, desired, progress),
        generation: 'new',
        previous: previousOf(s),
      };
    case 'waiting':
      return s.overdue ? giveUp(s, desired, progress) : keepWaiting(s, progress);
    case 'failed': {
      const { phase, reason, message } = progress;
      const outcome = failedOutcome(desired, undefined, reason);
      return settle({ kind: 'failed', phase, reason, message }, { outcome, degraded: degradedBy(s) });
    }
  }
}

type Waiting = Extract<ApplicationProgress, { kind: 'waiting' }>;

/** A route is written in a format only if every reporting replica supports it (docs/design/applications-and-routes.md). */
function progressOfDesired(s: Snapshot, desired: Application): ApplicationProgress {
  const progress = progressOf(s, 'desired', desired);
  const unread = s.replicas.filter((replica) => !replica.readsFormat).map((replica) => replica.name);
  if (progress.kind !== 'ready' || unread.length === 0) return progress;
  const message = `these gateway replicas do not read the format of the route: ${unread.join(', ')}`;
  return { kind: 'waiting', phase: 'generation', message };
}

function keepWaiting(s: Snapshot, progress: Waiting): ReconcileStep {
  const { message } = progress;
  const result: PassResult =
    progress.phase === 'references'
      ? { kind: 'unresolved', reason: progress.reason, message }
      : { kind: 'starting', message };
  return settle(result, { deadline: true, degraded: degradedBy(s) });
}

function giveUp(s: Snapshot, desired: Application, progress: Waiting): ReconcileStep {
  const result = gaveUpOn(progress);
  return settle(result, { outcome: failedOutcome(desired, undefined, result.reason), degraded: degradedBy(s) });
}

/** The outcome of an application whose route was not written before the deadline; recorded once. */
export function gaveUp(s: Snapshot, message: string): Settlement {
  const result = gaveUpOn({ kind: 'waiting', phase: 'generation', message });
  const outcome = wasGivenUp(s) ? {} : { outcome: failedOutcome(desiredOf(s), undefined, result.reason) };
  return { result, ...outcome, degraded: degradedBy(s) };
}

/** Whether the newest outcome of the desired application is the progress deadline. */
export function wasGivenUp(s: Snapshot): boolean {
  const newest = s.history[0];
  return newest?.reason === 'progress_deadline_exceeded' && isOutcomeOf(newest, desiredOf(s));
}

function gaveUpOn({ phase, message }: Waiting): Failure {
  const reason = phase === 'references' ? 'policy_revision_unknown' : 'progress_deadline_exceeded';
  return { kind: 'failed', phase, reason, message: gaveUpMessage(message) };
}

function gaveUpMessage(message: string): string {
  return `timed out: ${message}`;
}

/** Why the pinned application cannot be started again; absent if it can. */
function degradedBy(s: Snapshot): string | undefined {
  const progress = rerunOf(s);
  switch (progress?.kind) {
    case undefined:
    case 'step':
    case 'ready':
      return undefined;
    case 'waiting':
    case 'failed':
      return `the applied revision is being started on build ${s.build}: ${progress.message}`;
  }
}

export function describeRejections(s: Snapshot): string {
  return s.replicas
    .filter((replica) => replica.rejected !== undefined)
    .map((replica) => `the gateway replica ${replica.name} rejects the route: ${replica.rejected}`)
    .join('; ');
}

function describeSilence(s: Snapshot): string {
  const ready = s.replicas.filter((replica) => replica.ready);
  if (ready.length === 0) return `no replica of gateway ${s.binding.spec.gateway} is ready`;
  const names = ready
    .filter((replica) => replica.rejected === undefined && (!replica.reached || replica.pending))
    .map((replica) => replica.name);
  return `waiting for these gateway replicas to confirm the route: ${names.join(', ')}`;
}

function failedOutcome(
  application: Application,
  generationId: string | undefined,
  reason: OutcomeRecord['reason'] & string,
): OutcomeRecord {
  return outcomeOf(application, generationId, { outcome: 'Failed', reason });
}

function settle(result: PassResult, rest: Omit<Settlement, 'result'> = {}): ReconcileStep {
  return { kind: 'settle', settlement: { result, ...rest } };
}
