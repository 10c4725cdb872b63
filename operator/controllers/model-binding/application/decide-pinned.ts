import {
  type Application,
  failedOutcome,
  outcomeOf,
  pinnedApplication,
  sameApplication,
} from '../../../applications/application.ts';
import { hasOutcome, isApplied } from '../../../applications/outcome-history.ts';
import { isConfirmed, rolledBackDraft } from '../route/decide-route.ts';
import { desiredOf, type RouteView, type Snapshot } from '../snapshot/snapshot.ts';
import { type PassResult, type ReconcileStep, settleAs } from '../snapshot/steps.ts';
import { degradedBy } from './decide-rerun.ts';

/** The route pins the desired application: the outcome depends on the replicas (docs/design/applications-and-routes.md). */
export function followPinned(s: Snapshot): ReconcileStep | undefined {
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
    return settleAs(result, { ...back, degraded });
  }
  if (degraded !== undefined) return settleAs({ kind: 'starting', message: degraded }, { degraded });
  const rejected = s.replicas.filter((replica) => replica.rejected !== undefined);
  if (rejected.length > 0) return afterRejection(s, route, pinned, describeRejections(s));
  if (isConfirmed(s)) return settleAs({ kind: 'applied' }, { outcome: applied });
  const late = s.overdue && !hasOutcome(s.history, generationId);
  const outcome = late ? { outcome: failedOutcome(pinned, generationId, 'progress_deadline_exceeded') } : {};
  return settleAs({ kind: 'confirming', message: describeSilence(s) }, { ...outcome, deadline: !s.overdue });
}

/**
 * The reason why a confirmed application is not served everywhere now: no replica serves it, or a ready replica cannot
 * reach its workload (docs/design/applications-and-routes.md). A replica that rejects the application answers 503 and
 * is reported by a separate condition; for a replica that only lags behind, the operator waits after an edit, because
 * the edit may have changed the gateway.
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
  return settleAs({ kind: 'failed', phase: 'replicas', reason: 'replica_rejected', message }, outcome);
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
