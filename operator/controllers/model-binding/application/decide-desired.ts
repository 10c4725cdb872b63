import type { GatewayRouteSpec } from '#resources/gateway-route';
import { type ApplicationProgress, progressOf } from '../../../acceptance/decide-progress.ts';
import {
  type Application,
  contentDigest,
  failedOutcome,
  isOutcomeOf,
  type OutcomeRecord,
} from '../../../applications/application.ts';
import { hasOutcome, isFinal } from '../../../applications/outcome-history.ts';
import { newDraft, previousOf } from '../route/decide-route.ts';
import { desiredOf, type Snapshot } from '../snapshot/snapshot.ts';
import { type PassResult, type ReconcileStep, type Settlement, settleAs } from '../snapshot/steps.ts';
import { degradedBy } from './decide-rerun.ts';

type Failure = Extract<PassResult, { readonly kind: 'failed' }>;

/** A failed application is not retried, except when it failed because a dependency was missing. */
export function rememberFailure(s: Snapshot): ReconcileStep | undefined {
  const desired = desiredOf(s);
  const degraded = degradedBy(s);
  const refused = refusalOfDesired(s, desired);
  const newest = s.history[0];
  if (refused !== undefined) {
    const known = newest !== undefined && isFinal(newest) && isOutcomeOf(newest, desired);
    const outcome = known ? {} : { outcome: failedOutcome(desired, refused.generationId, refused.reason) };
    const { reason, message } = refused;
    return settleAs({ kind: 'failed', phase: 'replicas', reason, message }, { ...outcome, degraded });
  }
  if (newest === undefined || !isOutcomeOf(newest, desired)) return undefined;
  const { reason } = newest;
  if (newest.outcome !== 'Failed' || reason === undefined) return undefined;
  if (!isFinal(newest)) return stillWanting(s, desired, reason);
  return settleAs({ kind: 'failed', phase: 'workload', reason, message: undefined }, { degraded });
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
  return settleAs(result, { degraded: degradedBy(s) });
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

/** Starts a new application; if it fails before its route is written, the pinned application keeps serving. */
export function applyDesiredApplication(s: Snapshot): ReconcileStep {
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
      return settleAs({ kind: 'failed', phase, reason, message }, { outcome, degraded: degradedBy(s) });
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
  return { kind: 'waiting', phase: 'workload', message };
}

function keepWaiting(s: Snapshot, progress: Waiting): ReconcileStep {
  const { message } = progress;
  const result: PassResult =
    progress.phase === 'references'
      ? { kind: 'unresolved', reason: progress.reason, message }
      : { kind: 'starting', message };
  return settleAs(result, { deadline: true, degraded: degradedBy(s) });
}

function giveUp(s: Snapshot, desired: Application, progress: Waiting): ReconcileStep {
  const result = gaveUpOn(progress);
  return settleAs(result, { outcome: failedOutcome(desired, undefined, result.reason), degraded: degradedBy(s) });
}

/** The outcome of an application whose route was not written before the deadline; recorded once. */
export function gaveUp(s: Snapshot, message: string): Settlement {
  const result = gaveUpOn({ kind: 'waiting', phase: 'workload', message });
  const outcome = wasGivenUp(s) ? {} : { outcome: failedOutcome(desiredOf(s), undefined, result.reason) };
  return { result, ...outcome, degraded: degradedBy(s) };
}

/** Whether the newest outcome of the desired application is the end of its progress deadline. */
export function wasGivenUp(s: Snapshot): boolean {
  const newest = s.history[0];
  return newest?.reason === 'progress_deadline_exceeded' && isOutcomeOf(newest, desiredOf(s));
}

function gaveUpOn({ phase, message }: Waiting): Failure {
  const reason = phase === 'references' ? 'policy_revision_unknown' : 'progress_deadline_exceeded';
  return { kind: 'failed', phase, reason, message: `timed out: ${message}` };
}
